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

// handle is a name in the text of a part of memory or of a counter.
type handle struct {
	name string
	memory
}

// copy writes a Start, Wait or WaitSent.
func (k *kernel) copy(s *tile.Stmt) {
	c := s.Copy
	k.line("// %s %s", s.Kind, c)
	from, to := k.part(c.From), k.part(c.To)
	switch {
	case s.Kind == tile.Start && !c.Remote():
		k.dma("enqueue_dma", "1, 0, 1, 1, 0, 0", from, to, k.counter(c.Arrived))
	case s.Kind == tile.Start:
		k.dma("enqueue_dma", "1, 1, 1, 1, 1, 0", from, k.counter(c.Sent), to, k.counter(c.Arrived), k.device(c.Along, c.Device))
	case s.Kind == tile.Wait:
		k.dma("wait_dma2", "1, 1, 1, 0, 0", k.counter(c.Arrived), from, to)
	default: // what has left is as much as arrives: the ends change places
		zero := k.number32(knownIndex(0))
		k.dma("wait_dma2", "1, 1, 1, 1, 1", k.counter(c.Sent), to, from, zero, zero)
	}
}

func (k *kernel) dma(op, segments string, args ...handle) {
	attrs := "operandSegmentSizes = array<i32: " + segments + ">"
	if op == "enqueue_dma" {
		attrs += ", priority = 0 : i32, strict_ordering = false"
	}
	k.operate(op, attrs, args...)
}

// operate writes an operation on handles without a result.
func (k *kernel) operate(op, attrs string, args ...handle) {
	values, types := make([]value, len(args)), ""
	for i, a := range args {
		if values[i] = (value{name: a.name}); i > 0 {
			types += ", "
		}
		types += a.typ()
	}
	k.do("tpu."+op, attrs, types, values...)
}

func (h handle) typ() string { return argument{h.name, h.memory}.typ() }

// derive writes an operation that makes one handle of others.
func (k *kernel) derive(op, attrs string, to memory, args ...handle) handle {
	h := handle{fmt.Sprintf("%%%d", k.next), to}
	k.next++
	values, from := make([]value, len(args)), ""
	for i, a := range args {
		if values[i] = (value{name: a.name}); i > 0 {
			from += ", "
		}
		from += a.typ()
	}
	k.line("%s = %s", h.name, operation("tpu."+op, attrs, from, to.String(), values...))
	return h
}

// number32 is an i32 as an operand.
func (k *kernel) number32(x index) handle {
	return handle{k.written(x).name, memory{shaped: shaped{elem: "i32"}}}
}

// part is the block of a ref that is copied.
func (k *kernel) part(p tile.Part) handle {
	arg := k.refs[p.Ref]
	pad := len(arg.dims) - len(p.Index)
	dims, at, whole := slices.Clone(arg.dims), make([]index, len(arg.dims)), true
	for d := range dims {
		if at[d] = knownIndex(0); d >= pad {
			n := max(p.BlockSpec.Shape[d-pad], 1)
			at[d] = k.indices().Times(k.index(p.Index[d-pad]), n)
			whole = whole && n == dims[d]
			dims[d] = n
		}
	}
	h := handle{arg.name, arg.memory}
	if !whole {
		h = k.sliced(h, dims, at)
	}
	if flat := physical(p.Shape()); len(flat) < len(dims) {
		h = k.derive("memref_squeeze", "", memory{shaped{elem: arg.elem, dims: flat}, arg.space}, h)
	}
	return h
}

func (k *kernel) sliced(h handle, dims []int, at []index) handle {
	args := []handle{h}
	for _, x := range at {
		args = append(args, k.number32(x))
	}
	return k.derive("memref_slice", fmt.Sprintf("operandSegmentSizes = array<i32: 1, %d, 0>", len(at)), memory{shaped{elem: h.elem, dims: dims}, h.space}, args...)
}

// counter is one of a semaphore.
func (k *kernel) counter(s tile.Slot) handle {
	none := []int{}
	one := memory{shaped{elem: semaphoreElem(s.Semaphore), dims: none}, semaphoreSpace}
	if s.Semaphore.Kind == tile.CountsArrival {
		return k.derive("sem_barrier", "", one)
	}
	arg := k.semaphores[s.Semaphore]
	at := k.sliced(handle{arg.name, arg.memory}, []int{1}, []index{k.index(s.Index)})
	return k.derive("memref_squeeze", "", one, at)
}

// device is the number of the device at a coordinate along an axis of the mesh.
func (k *kernel) device(along *tile.Axis, at tile.IndexExpr) handle {
	n := knownIndex(0)
	for _, a := range k.program.Mesh {
		c := k.coordinate(a)
		if a == along {
			c = k.index(at)
		}
		n = k.indices().Sum(k.indices().Times(n, a.Size), c)
	}
	return k.number32(n)
}

func (k *kernel) signal(s *tile.Signal) {
	k.line("// signal %s of %s = %s", s.To, s.Along.Name, s.Device)
	k.operate("sem_signal", "operandSegmentSizes = array<i32: 1, 1, 1, 0>", k.counter(s.To), k.number32(knownIndex(1)), k.device(s.Along, s.Device))
}

func (k *kernel) await(s *tile.Stmt) {
	k.line("// await %s %d", s.Slot, s.Count)
	k.operate("sem_wait", "", k.counter(s.Slot), k.number32(knownIndex(s.Count)))
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
					err = &UnsupportedError{mlir.Refuse(s.Pos, p.Name, "copy", r.Name, fmt.Sprintf(format, args...))}
				}
			}
			array := physical(r.Array)
			block := physical(part.Shape())
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
