package passes

import (
	"fmt"
	"sync"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/machine"
	"matladder/tile"
)

// productOf returns the product of a pair of dtypes, whose operands lie in memory
// as dtypes inA and inB; nil if there is none.
func productOf(k *gemm.Kernels, a, b, inA, inB tile.Dtype) *plan.Product {
	type pair struct{ a, b tile.Dtype }
	var p *plan.Product
	switch a, b = machine.Multiplied(a), machine.Multiplied(b); (pair{a, b}) {
	case pair{tile.Float32, tile.Float32}:
		p = newProduct(k.Float32, k.Float32, k.Choices, tile.Float32)
		if x := strided(k.Strided, k.Choices.B); x != nil && inA == a && inB == b {
			p.Unpacked, p.Routine, p.ReadsA, p.Dots, p.Columns = x, k.Strided.Routine, true, nil, nil
		}
	case pair{tile.BFloat16, tile.BFloat16}:
		p = newProduct(k.BFloat16, k.BFloat16, k.Choices, tile.Float32)
	case pair{tile.Int8, tile.Int8}:
		p = newProduct(k.Int8, k.Int8, k.Choices, tile.Int32)
	case pair{tile.Uint8, tile.Uint8}:
		p = newProduct(k.WideUint8, k.WideUint8, k.Choices, tile.Int32)
	case pair{tile.Int8, tile.Uint8}:
		p = newProduct(k.WideInt8, k.WideUint8, k.Choices, tile.Int32)
	case pair{tile.Uint8, tile.Int8}:
		p = newProduct(k.WideUint8, k.WideInt8, k.Choices, tile.Int32)
	default:
		return nil
	}
	return widenedSides(p, a, b, inA, inB, k.ISA)
}

// widenedSides is p, which multiplies a and b, for operands that lie in memory as other dtypes; nil if
// they cannot be widened.
func widenedSides(p *plan.Product, a, b, inA, inB tile.Dtype, isa gemm.ISA) *plan.Product {
	ok := true
	if inA != a {
		p.A, ok = widened(p.A, inA, a, isa)
		p.ReadsA = false
	}
	if inA != a || inB != b {
		p.Dots, p.Columns = nil, nil
	}
	if inB != b && ok {
		p.B, ok = widened(p.B, inB, b, isa)
	}
	if !ok {
		return nil
	}
	return p
}

// groupsOf returns the product of integers, or of numbers that are halves of some, whose groups of size
// elements have scales; nil if there is none.
func groupsOf(k *gemm.Kernels, a, b, inA, inB tile.Dtype, size int) *plan.Product {
	g, halves := k.Groups(size), a == tile.Float4E2M1FN && b == a
	if g == nil || !halves && (machine.Multiplied(a) != tile.Int8 || machine.Multiplied(b) != tile.Int8) {
		return nil
	}
	side := func(lanes int, name string, panel func(k int) int, pack plan.PackFunc) plan.Packing {
		return plan.Packing{Format: g.Format + name, Lanes: lanes, Unit: size, Words: 1, Panel: panel, Chunk: max(1, groupsChunk/size), Pack: pack}
	}
	p := &plan.Product{
		Name: g.Name, Sum: tile.Float32, Blocking: g.Blocking, Routine: func(gemm.ReadB) string { return g.Routine() },
		A: side(g.MR, "/a", g.PanelA, func(dst []byte, _ int, src []byte, off, ld, lanes, k int, _ bool, by plan.ScalesOfGroups) {
			x := scalesFor(by, halves)
			defer scalesAtHand.Put(x)
			g.PackA(dst, memory.View[int8](src)[off:], ld, lanes, k, x.row)
		}),
		B: side(g.NR, "/b", g.PanelB, func(dst []byte, apart int, src []byte, off, ld, lanes, k int, _ bool, by plan.ScalesOfGroups) {
			x := scalesFor(by, halves)
			defer scalesAtHand.Put(x)
			g.PackB(dst, apart, memory.View[int8](src)[off:], ld, k, lanes, x.row)
		}),
		Multiply: func(x plan.Call) {
			g.Multiply(memory.View[float32](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, x.Depth, x.A.Mem, x.B.Mem, x.Accumulate)
		},
		WantsPanels: func(int, bool) bool { return false },
		Streams:     func(int) bool { return false },
		Unpacked:    &plan.Reader{},
		InPlace:     func(tile.Dtype, int, bool) *plan.Reader { return nil },
	}
	return widenedSides(p, tile.Int8, tile.Int8, inA, inB, k.ISA)
}

// scalesOfLanes are scales of groups as package gemm asks for them: row sets to to those of a group, from a
// lane on.
type scalesOfLanes struct {
	plan.ScalesOfGroups
	halves bool // of numbers that are multiplied as integers twice as large
	row    func(to []float32, lane, group int)
}

var scalesAtHand = sync.Pool{New: func() any {
	x := new(scalesOfLanes)
	x.row = func(to []float32, lane, group int) {
		if x.Size == 0 {
			memory.Fill(to, 1)
		} else {
			x.From(lane).Row(to, group)
		}
		for i := 0; x.halves && i < len(to); i++ {
			to[i] /= 2
		}
	}
	return x
}}

func scalesFor(by plan.ScalesOfGroups, halves bool) *scalesOfLanes {
	x := scalesAtHand.Get().(*scalesOfLanes)
	x.ScalesOfGroups, x.halves = by, halves
	return x
}

// groupsChunk is how many elements of k a chunk of groups holds at most.
const groupsChunk = 4096

// inChunks makes chunks of both operands at most some words deep.
func inChunks(p *plan.Product, words int) {
	for _, side := range []*plan.Packing{&p.A, &p.B} {
		side.Chunk = words
		side.Format += fmt.Sprint("/", words) // not what chunks of other depths are
	}
}

func newProduct[S, T gemm.Source, C gemm.Sum](a *gemm.MicroKernels[S, C], b *gemm.MicroKernels[T, C], choices gemm.Choices, sum tile.Dtype) *plan.Product {
	same := any(a) == any(b)
	a, b = a.With(choices), b.With(choices)
	chunk := chunkWords
	if a.Words > 1 {
		chunk = tilesChunkWords
	}
	p := &plan.Product{
		Name: a.Name, Sum: sum, Blocking: a.Blocking, Routine: a.Routine,
		A: plan.Packing{
			Format: a.Format + "/a", Lanes: a.MR, Unit: a.KU, Words: a.Words, Panel: a.PanelA, Chunk: chunk,
			Pack: packWith(a.PackA, func(dst []byte, _ int, src []S, ld, m, k int) { a.PackAT(dst, src, ld, m, k) }),
		},
		B: plan.Packing{
			Format: b.Format + "/b", Lanes: b.NR, Unit: b.KU, Words: b.Words, Panel: b.PanelB, Chunk: chunk,
			Pack: packWith(
				func(dst []byte, src []T, ld, n, k int) { b.PackBT(dst, src, ld, k, n) },
				func(dst []byte, apart int, src []T, ld, n, k int) { b.PackBPart(dst, apart, src, ld, k, n) }),
		},
		Multiply: func(x plan.Call) {
			a.Taped(x.Tape).MultiplyPart(runOf[S](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K0, x.K, x.Depth, x.Accumulate)
		},
		ReadsA: a.ReadsA(a.KU), WantsPanels: a.WantsPanels, Work: a.Work(), Streams: a.Streams,
		Unpacked: &plan.Reader{Rows: b.DirectRows(), Read: b.Read, Blocking: b.BlockingDirect, Work: b.DirectWork, Multiply: func(x plan.Call) {
			b.Taped(x.Tape).MultiplyDirect(runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[T](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
		}},
		InPlace: func(inB tile.Dtype, whole int, grouped bool) *plan.Reader {
			if grouped {
				return narrow(a.InGroups[inB.String()], whole)
			}
			return narrow(a.InPlace[inB.String()], whole)
		},
	}
	if same {
		p.Path, p.Dots = b, readerOf(gemm.ReadDots, b.DotsRows(), [2]int{b.MR, 1}, func(x plan.Call) {
			b.MultiplyDots(runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[T](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
		})
		p.PaysColumns, p.Columns = b.PaysColumns, readerOf(gemm.ReadColumns, gemm.AllRows, [2]int{b.MR, 1}, func(x plan.Call) {
			b.Taped(x.Tape).MultiplyColumns(runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[T](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
		})
	}
	p.Strips = func(rows int) {
		if !same || rows > b.StripRows() {
			return
		}
		columns, tiles := b.StripColumns(rows), b.With(gemm.ReadStrips)
		p.B.Format, p.B.Lanes = b.Format+"/strips", columns
		p.B.Panel = func(k int) int { return columns * k * memory.Size[T]() }
		p.B.Pack = packWith(
			func(dst []byte, src []T, ld, n, k int) { gemm.PackStripsT(dst, columns, src, ld, k, n) },
			func(dst []byte, apart int, src []T, ld, n, k int) {
				gemm.PackStrips(dst, apart, columns, src, ld, k, n)
			})
		p.Multiply = func(x plan.Call) {
			tiles.Taped(x.Tape).MultiplyStrips(columns, runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K0, x.K, x.Depth, x.Accumulate)
		}
	}
	if a.Whole(a.MR, a.NR, a.NR) {
		p.Whole = func(x plan.Call, narrow bool, by gemm.Scaling) {
			if narrow {
				gemm.MultiplyWhole(a, runOf[S](x), by, memory.View[uint16](x.C)[x.Off:], x.LDC, x.M, x.N, x.K)
			} else {
				gemm.MultiplyWhole(a, runOf[S](x), by, memory.View[float32](x.C)[x.Off:], x.LDC, x.M, x.N, x.K)
			}
		}
	}
	return p
}

// runOf is a call, but for a b that is not packed.
func runOf[S gemm.Source](x plan.Call) gemm.Run[S] {
	r := gemm.Run[S]{Work: x.Work, Write: x.Write, Far: x.B.Far}
	if x.B.Packed {
		r.B = x.B.Mem
	}
	if x.A.Packed {
		r.A = x.A.Mem
	} else {
		r.Rows, r.LDA = memory.View[S](x.A.Mem)[x.A.Off:], x.A.LD
	}
	return r
}

func packWith[S gemm.Source](rows func(dst []byte, src []S, ld, lanes, k int), columns func(dst []byte, apart int, src []S, ld, lanes, k int)) plan.PackFunc {
	return func(dst []byte, apart int, src []byte, off, ld, lanes, k int, isColumns bool, _ plan.ScalesOfGroups) {
		if isColumns {
			columns(dst, apart, memory.View[S](src)[off:], ld, lanes, k)
		} else {
			rows(dst, memory.View[S](src)[off:], ld, lanes, k)
		}
	}
}

// readerOf reads a b in one way alone, by tiles of so many rows and columns that go over all of k, for up
// to so many rows of a.
func readerOf(read gemm.ReadB, rows int, tile [2]int, multiply func(x plan.Call)) *plan.Reader {
	return &plan.Reader{
		Rows: rows, Multiply: multiply,
		Read:     func(_, _ int) gemm.ReadB { return read },
		Blocking: func(_, n, k, _ int, _ bool) (run, cols int, of [2]int) { return k, n, tile },
		Work:     func(_, _ int) int { return 0 },
	}
}

// strided reads a b, and an a, of float32 where they lie; nil if it cannot in that way.
func strided(s gemm.Strided, read gemm.ReadB) *plan.Reader {
	if !read.Strided() || !s.CanRead(read) {
		return nil
	}
	tile := [2]int{1, 1}
	switch read {
	case gemm.ReadVectors:
		tile[1] = s.NR
	case gemm.ReadRegisters:
		tile = [2]int{s.MR, s.NR}
	}
	return readerOf(read, gemm.AllRows, tile, func(x plan.Call) {
		a, b := memory.View[float32](x.A.Mem)[x.A.Off:], memory.View[float32](x.B.Mem)[x.B.Off:]
		s.Multiply(read, memory.View[float32](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, a, x.A.LD, b, x.B.LD, x.Accumulate)
	})
}

// narrow reads a b of elements narrower than are multiplied, and widens them; nil if p is.
func narrow[C gemm.Sum](p *gemm.InPlace[C], whole int) *plan.Reader {
	if p == nil || whole%p.Whole != 0 {
		return nil
	}
	return &plan.Reader{Rows: p.Pays, Read: p.Read, Blocking: p.Blocking, Work: p.Work, Multiply: func(x plan.Call) {
		scales := scalesFor(x.B.Scales, false)
		defer scalesAtHand.Put(scales)
		by := gemm.GroupsOfB{First: x.B.Scales.First, Size: x.B.Scales.Size, Row: scales.row}
		p.Block(memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, x.A.Mem, x.B.Mem, x.B.Off, x.B.LD, x.Accumulate, x.Work, by)
	}}
}
