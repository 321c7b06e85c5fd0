package passes

import (
	"fmt"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// productOf returns the product of a pair of dtypes, whose operands lie in memory
// as dtypes inA and inB; nil if there is none.
func productOf(k *gemm.Kernels, a, b, inA, inB tile.Dtype) *plan.Product {
	type pair struct{ a, b tile.Dtype }
	var p *plan.Product
	switch a, b = plan.Multiplied(a), plan.Multiplied(b); (pair{a, b}) {
	case pair{tile.Float32, tile.Float32}:
		p = newProduct(k.Float32, k.Float32, tile.Float32)
	case pair{tile.BFloat16, tile.BFloat16}:
		p = newProduct(k.BFloat16, k.BFloat16, tile.Float32)
	case pair{tile.Int8, tile.Int8}:
		p = newProduct(k.Int8, k.Int8, tile.Int32)
	case pair{tile.Uint8, tile.Uint8}:
		p = newProduct(k.WideUint8, k.WideUint8, tile.Int32)
	case pair{tile.Int8, tile.Uint8}:
		p = newProduct(k.WideInt8, k.WideUint8, tile.Int32)
	case pair{tile.Uint8, tile.Int8}:
		p = newProduct(k.WideUint8, k.WideInt8, tile.Int32)
	default:
		return nil
	}
	ok := true
	if inA != a {
		p.A, ok = widened(p.A, inA, a, k.ISA)
		p.ReadsA, p.ReadsBoth = false, false
	}
	if inA != a || inB != b {
		p.DotsRows = 0
	}
	if inB != b && ok {
		p.B, ok = widened(p.B, inB, b, k.ISA)
	}
	if !ok {
		return nil
	}
	return p
}

// inChunks makes chunks of both operands at most some words deep.
func inChunks(p *plan.Product, words int) {
	for _, side := range []*plan.Packing{&p.A, &p.B} {
		side.Chunk = words
		side.Format += fmt.Sprint("/", words) // not what chunks of other depths are
	}
}

func newProduct[S, T gemm.Source, C gemm.Sum](a *gemm.Path[S, C], b *gemm.Path[T, C], sum tile.Dtype) *plan.Product {
	chunk := chunkWords
	if a.Words > 1 {
		chunk = tilesChunkWords
	}
	p := &plan.Product{
		Name: a.Name, Sum: sum, Blocking: a.Blocking, BlockingDirect: b.BlockingDirect, ReadB: b.Read, DirectWork: b.DirectWork,
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
			a.MultiplyPart(runOf[S](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K0, x.K, x.Depth, x.Accumulate)
		},
		ReadsA: a.ReadsA(a.KU), ReadsBoth: a.ReadsA(a.KU) && any(a) == any(b), WantsPanels: a.WantsPanels,
		Work: a.Work(), Streams: a.Streams,
		Direct: func(x plan.Call) {
			b.MultiplyDirect(runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[T](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
		},
		DirectRows: b.DirectRows(),
	}
	if any(a) == any(b) {
		p.ReadCosts, p.TransposedCosts, p.DotsRows = b.ReadCosts, b.TransposedCosts, b.DotsRows()
		p.Dots = func(x plan.Call) {
			b.MultiplyDots(runOf[T](x), memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, memory.View[T](x.B.Mem)[x.B.Off:], x.B.LD, x.Accumulate)
		}
	}
	p.ReadInPlace = func(inB tile.Dtype, rows, whole int) { readInPlace(p, a.Stored, inB, rows, whole) }
	if a.Whole(a.MR, a.NR, a.NR) {
		if sum == tile.Float32 {
			p.Narrow = func(x plan.Call) {
				a.MultiplyNarrow(runOf[S](x), memory.View[uint16](x.C)[x.Off:], x.LDC, x.M, x.N, x.K)
			}
		}
		p.Scaled = func(x plan.Call, narrow bool, by gemm.Scaling) {
			if narrow {
				gemm.MultiplyScaled(a, runOf[S](x), by, memory.View[uint16](x.C)[x.Off:], x.LDC, x.M, x.N, x.K)
			} else {
				gemm.MultiplyScaled(a, runOf[S](x), by, memory.View[float32](x.C)[x.Off:], x.LDC, x.M, x.N, x.K)
			}
		}
	}
	return p
}

// readInPlace is Product.ReadInPlace by what multiplies a b that is stored otherwise.
func readInPlace[C gemm.Sum](p *plan.Product, stored gemm.Stored[C], inB tile.Dtype, rows, whole int) {
	place := map[tile.Dtype]*gemm.InPlace[C]{
		tile.Int4: stored.Int4, tile.Int8: stored.Int8,
		tile.Float8E4M3FN: stored.Float8E4M3, tile.Float8E5M2: stored.Float8E5M2,
	}[inB]
	if place == nil || rows > place.Pays || whole%place.Whole != 0 {
		return
	}
	p.B.InPlace = true
	p.ReadsBoth = false
	p.B.Format += "/in place"
	p.Direct = func(x plan.Call) {
		place.Block(memory.View[C](x.C)[x.Off:], x.LDC, x.M, x.N, x.K, x.A.Mem, x.B.Mem, x.B.Off, x.B.LD, x.Accumulate, x.Work)
	}
	p.DirectRows = place.Pays
	p.BlockingDirect = func(m, n, _, _ int) (run, cols int) { return place.Blocking(m, n) }
	p.ReadB = func(m, _ int) gemm.ReadB { return place.Read(m) }
	p.DirectWork = func(m, _ int) int { return place.Work(m) }
	p.TileCols = place.Cols
}

// alongColumns makes direct of p read a b whose columns are rows of memory.
func alongColumns(p *plan.Product) {
	p.B.Dots = true
	p.B.Format += "/dots"
	p.ReadsBoth = false
	p.Direct, p.DirectRows = p.Dots, gemm.AllRows
	p.ReadB = func(_, _ int) gemm.ReadB { return gemm.ReadDots }
	p.BlockingDirect = func(_, n, k, _ int) (run, cols int) { return k, n }
	p.DirectWork = func(_, _ int) int { return 0 }
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
	return func(dst []byte, apart int, src []byte, off, ld, lanes, k int, isColumns bool) {
		if isColumns {
			columns(dst, apart, memory.View[S](src)[off:], ld, lanes, k)
		} else {
			rows(dst, memory.View[S](src)[off:], ld, lanes, k)
		}
	}
}
