package mosaic

import (
	"fmt"
	"slices"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

const semaphoreSpace = "semaphore_mem"

func semaphoreElem(s *tile.Semaphore) string {
	if s.Kind == tile.CountsBytes {
		return "!tpu.dma_semaphore"
	}
	return "!tpu.semaphore"
}

// copy writes a Start, Wait or WaitSent.
func (k *kernel) copy(s *tile.Stmt) {
	c := s.Copy
	k.Line("// %s %s", s.Kind, c)
	from, to := k.part(c.From), k.part(c.To)
	switch {
	case s.Kind == tile.Start && !c.Remote():
		k.dma("tpu.enqueue_dma", "1, 0, 1, 1, 0, 0", from, to, k.counter(c.Arrived))
	case s.Kind == tile.Start:
		k.dma("tpu.enqueue_dma", "1, 1, 1, 1, 1, 0", from, k.counter(c.Sent), to, k.counter(c.Arrived), k.device(c.Along, c.Device))
	case s.Kind == tile.Wait:
		k.dma("tpu.wait_dma2", "1, 1, 1, 0, 0", k.counter(c.Arrived), from, to)
	default: // what has left is as much as arrives: the ends change places
		zero := k.Written(k.Int(0))
		k.dma("tpu.wait_dma2", "1, 1, 1, 1, 1", k.counter(c.Sent), to, from, zero, zero)
	}
}

func (k *kernel) dma(op, segments string, args ...value) {
	attrs := "operandSegmentSizes = array<i32: " + segments + ">"
	if op == "tpu.enqueue_dma" {
		attrs += ", priority = 0 : i32, strict_ordering = false"
	}
	k.Do(op, attrs, args...)
}

// part is the block of a ref that is copied.
func (k *kernel) part(p tile.Part) value {
	arg := k.refs[p.Ref]
	pad := len(arg.Dims) - len(p.Index)
	dims, at, whole := slices.Clone(arg.Dims), make([]value, len(arg.Dims)), true
	for d := range dims {
		if at[d] = k.Int(0); d >= pad {
			n := max(p.BlockSpec.Shape[d-pad], 1)
			at[d] = k.Times(k.Index(p.Index[d-pad]), n)
			whole = whole && n == dims[d]
			dims[d] = n
		}
	}
	if !whole {
		arg = k.sliced(arg, dims, at)
	}
	if flat := mlir.Physical(p.Shape()); len(flat) < len(dims) {
		arg = k.Op(shaped{Elem: arg.Elem, Dims: flat, Space: arg.Space}, "tpu.memref_squeeze", "", arg)
	}
	return arg
}

func (k *kernel) sliced(v value, dims []int, at []value) value {
	return k.Op(shaped{Elem: v.Elem, Dims: dims, Space: v.Space}, "tpu.memref_slice",
		fmt.Sprintf("operandSegmentSizes = array<i32: 1, %d, 0>", len(at)), append([]value{v}, at...)...)
}

// counter is one of a semaphore.
func (k *kernel) counter(s tile.Slot) value {
	one := shaped{Elem: semaphoreElem(s.Semaphore), Space: semaphoreSpace}
	if s.Semaphore.Kind == tile.CountsArrival {
		return k.Op(one, "tpu.sem_barrier", "")
	}
	at := k.sliced(k.semaphores[s.Semaphore], []int{1}, []value{k.Index(s.Index)})
	return k.Op(one, "tpu.memref_squeeze", "", at)
}

// device is the number of the device at a coordinate along an axis of the mesh.
func (k *kernel) device(along *tile.Axis, at tile.IndexExpr) value {
	n := k.Int(0)
	for _, a := range k.program.Mesh {
		c := k.ID(a)
		if a == along {
			c = k.Index(at)
		}
		n = k.Sum(k.Times(n, a.Size), c)
	}
	return n
}

func (k *kernel) signal(s *tile.SignalTo) {
	k.Line("// signal %s of %s = %s", s.To, s.Along.Name, s.Device)
	k.Do("tpu.sem_signal", "operandSegmentSizes = array<i32: 1, 1, 1, 0>", k.counter(s.To), k.Written(k.Int(1)), k.device(s.Along, s.Device))
}

func (k *kernel) await(s *tile.Stmt) {
	k.Line("// await %s %d", s.Slot, s.Count)
	k.Do("tpu.sem_wait", "", k.counter(s.Slot), k.Int(s.Count))
}

// checkCopies refuses parts that a copy cannot bring: memory is tiled, and a part is made of
// whole tiles.
func checkCopies(p *tile.Program) (err error) {
	p.Walk(func(s *tile.Stmt) {
		if s.Copy == nil || err != nil {
			return
		}
		for _, part := range []tile.Part{s.Copy.From, s.Copy.To} {
			r := part.Ref
			refuse := func(format string, args ...any) {
				if err == nil {
					err = unsupported(s.Pos, p, "copy", r.Name, format, args...)
				}
			}
			array := mlir.Physical(r.Array)
			block := mlir.Physical(part.Shape())
			columns, rows := block[len(block)-1], block[len(block)-2]
			if columns%tileColumns != 0 {
				refuse("%d columns of %s: memory is tiled, take a multiple of %d", columns, r.Dtype, tileColumns)
			}
			if unit := rowsOfTile(r.Dtype, array[len(array)-2]); rows%unit != 0 && rows != array[len(array)-2] {
				refuse("%d rows of %s: memory is tiled, take a multiple of %d, or all", rows, r.Dtype, unit)
			}
		}
	})
	return err
}
