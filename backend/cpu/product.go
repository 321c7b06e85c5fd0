package cpu

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// product multiplies blocks of one pair of element types.
type product struct {
	name string // of its path: instruction set, register tile, format
	a, b packing
	sum  tile.Dtype // of the result: float32 or int32
	// multiply is for a b that is packed, and an a that is, or that need not be where
	// readsA: then k is whole units. Where readsBoth, direct reads such an a too, if it
	// packs pieces of b.
	multiply          func(x call)
	readsA, readsBoth bool
	wantsPanels       func(n int) bool // n columns of b end with some that are slow with such an a
	work              int              // bytes of memory that helps it
	// streams reports whether call.write makes a difference to a c whose rows are ldc
	// elements apart, the first on a cache line.
	streams func(ldc int) bool
	// narrow is multiply into a c of bfloat16, whole panels of it; nil if there is none.
	narrow func(x call)
	// scaled is multiply into a c of float32, or of bfloat16 if narrow, of sums that are
	// scaled; nil if there is none.
	scaled func(x call, narrow bool, by gemm.Scaling)
	// direct is for an a that is packed, and a b that is not: it is widened before, or
	// as it lies in memory where b.inPlace. It pays up to directRows rows of a; 0 if it
	// may not be called.
	direct     func(x call)
	directRows int
	// readCosts is what ways to read B cost; nil where A and B have different paths.
	readCosts func(threads, rows int, bytes int64, apart int) map[gemm.ReadB]gemm.ReadCost

	blocking       func(m, n, k int) (run, rows, cols int) // as block and rows divide them
	blockingDirect func(m, n, k, ldb int) (run, cols int)  // as direct does
	readB          func(m, ldb int) gemm.ReadB

	// readInPlace makes direct, for so many rows of a, read a b that is of this dtype
	// in memory as it lies there, if a micro-kernel does and that pays; a is packed
	// then. Rows of b are whole numbers of so many elements.
	readInPlace func(inB tile.Dtype, rows, whole int)
	directWork  func(m, ldb int) int // bytes of memory that help direct
	tileCols    func(m int) int      // columns of tiles that go along rows of b
}

// call is a product of parts of blocks: the m×n corner of c is a·b, or c + a·b if
// accumulate, over k elements.
type call struct {
	c          []byte
	off, ldc   int // elements: where in memory c starts, and from row to row
	m, n, k    int
	a, b       factor
	accumulate bool
	work       []byte // memory of the worker that helps
	write      gemm.Write
}

// factor is one side of a call: packed, or elements of memory from off on, in rows
// that are ld apart.
type factor struct {
	mem     []byte
	packed  bool
	off, ld int
}

// packing lays one operand out in panels of lanes rows of a, or columns of b.
type packing struct {
	format   string
	lanes    int             // lanes of one panel
	unit     int             // elements of k stored together
	words    int             // of 32 bits that they take in one lane
	panel    func(k int) int // bytes of one panel k deep
	pack     packFunc
	widening *widening // that pack begins with; nil for none
	inPlace  bool      // b: direct widens it itself
	chunk    int       // words of a lane that a chunk has at most
}

// A packFunc reads element l of lane i at src[off+i*ld+l], or at src[off+l*ld+i] if
// the lanes are the columns of memory. Panels follow each other, but those of columns
// of b lie apart bytes apart, as k may be part of theirs.
type packFunc func(dst []byte, apart int, src []byte, off, ld, lanes, k int, columns bool)

// productOf returns the product of a pair of dtypes, whose operands lie in memory
// as dtypes inA and inB; nil if there is none.
func productOf(k *gemm.Kernels, a, b, inA, inB tile.Dtype) *product {
	type pair struct{ a, b tile.Dtype }
	var p *product
	switch a, b = multiplied(a), multiplied(b); (pair{a, b}) {
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
		p.a, ok = p.a.widened(inA, a, k.ISA)
		p.readsA, p.readsBoth = false, false
	}
	if inB != b && ok {
		p.b, ok = p.b.widened(inB, b, k.ISA)
	}
	if !ok {
		return nil
	}
	return p
}

// inChunks makes chunks of both operands at most some words deep.
func (p *product) inChunks(words int) {
	for _, side := range []*packing{&p.a, &p.b} {
		side.chunk = words
		side.format += fmt.Sprint("/", words) // not what chunks of other depths are
	}
}

// multiplied is the dtype that micro-kernels multiply in d's place, which holds
// all its numbers.
func multiplied(d tile.Dtype) tile.Dtype {
	switch d {
	case tile.Int4:
		return tile.Int8
	case tile.Float8E4M3FN, tile.Float8E5M2:
		return tile.BFloat16
	}
	return d
}

func newProduct[S, T gemm.Source, C gemm.Sum](a *gemm.Path[S, C], b *gemm.Path[T, C], sum tile.Dtype) *product {
	chunk := chunkWords
	if a.Words > 1 {
		chunk = tilesChunkWords
	}
	p := &product{
		name: a.Name, sum: sum, blocking: a.Blocking, blockingDirect: b.BlockingDirect, readB: b.Read, directWork: b.DirectWork,
		a: packing{
			format: a.Format + "/a", lanes: a.MR, unit: a.KU, words: a.Words, panel: a.PanelA, chunk: chunk,
			pack: packWith(a.PackA, func(dst []byte, _ int, src []S, ld, m, k int) { a.PackAT(dst, src, ld, m, k) }),
		},
		b: packing{
			format: b.Format + "/b", lanes: b.NR, unit: b.KU, words: b.Words, panel: b.PanelB, chunk: chunk,
			pack: packWith(
				func(dst []byte, src []T, ld, n, k int) { b.PackBT(dst, src, ld, k, n) },
				func(dst []byte, apart int, src []T, ld, n, k int) { b.PackBPart(dst, apart, src, ld, k, n) }),
		},
		multiply: func(x call) {
			a.Multiply(runOf[S](x), view[C](x.c)[x.off:], x.ldc, x.m, x.n, x.k, x.accumulate)
		},
		readsA: a.ReadsA(a.KU), readsBoth: a.ReadsA(a.KU) && any(a) == any(b), wantsPanels: a.WantsPanels,
		work: a.Work(), streams: a.Streams,
		direct: func(x call) {
			b.MultiplyDirect(runOf[T](x), view[C](x.c)[x.off:], x.ldc, x.m, x.n, x.k, view[T](x.b.mem)[x.b.off:], x.b.ld, x.accumulate)
		},
		directRows: b.DirectRows(),
	}
	if any(a) == any(b) {
		p.readCosts = b.ReadCosts
	}
	p.readInPlace = func(inB tile.Dtype, rows, whole int) { readInPlace(p, a.Stored, inB, rows, whole) }
	if a.Whole(a.MR, a.NR, a.NR) {
		if sum == tile.Float32 {
			p.narrow = func(x call) {
				a.MultiplyNarrow(runOf[S](x), view[uint16](x.c)[x.off:], x.ldc, x.m, x.n, x.k)
			}
		}
		p.scaled = func(x call, narrow bool, by gemm.Scaling) {
			if narrow {
				gemm.MultiplyScaled(a, runOf[S](x), by, view[uint16](x.c)[x.off:], x.ldc, x.m, x.n, x.k)
			} else {
				gemm.MultiplyScaled(a, runOf[S](x), by, view[float32](x.c)[x.off:], x.ldc, x.m, x.n, x.k)
			}
		}
	}
	return p
}

// readInPlace is product.readInPlace by what multiplies a b that is stored otherwise.
func readInPlace[C gemm.Sum](p *product, stored gemm.Stored[C], inB tile.Dtype, rows, whole int) {
	place := map[tile.Dtype]*gemm.InPlace[C]{
		tile.Int4: stored.Int4, tile.Int8: stored.Int8,
		tile.Float8E4M3FN: stored.Float8E4M3, tile.Float8E5M2: stored.Float8E5M2,
	}[inB]
	if place == nil || rows > place.Pays || whole%place.Whole != 0 {
		return
	}
	p.b.inPlace = true
	p.readsBoth = false
	p.b.format += "/in place"
	p.direct = func(x call) {
		place.Block(view[C](x.c)[x.off:], x.ldc, x.m, x.n, x.k, x.a.mem, x.b.mem, x.b.off, x.b.ld, x.accumulate, x.work)
	}
	p.directRows = place.Pays
	p.blockingDirect = func(m, n, _, _ int) (run, cols int) { return place.Blocking(m, n) }
	p.readB = func(m, _ int) gemm.ReadB { return place.Read(m) }
	p.directWork = func(m, _ int) int { return place.Work(m) }
	p.tileCols = place.Cols
}

// runOf is a call, but for a b that is not packed.
func runOf[S gemm.Source](x call) gemm.Run[S] {
	r := gemm.Run[S]{Work: x.work, Write: x.write}
	if x.b.packed {
		r.B = x.b.mem
	}
	if x.a.packed {
		r.A = x.a.mem
	} else {
		r.Rows, r.LDA = view[S](x.a.mem)[x.a.off:], x.a.ld
	}
	return r
}

func packWith[S gemm.Source](rows func(dst []byte, src []S, ld, lanes, k int), columns func(dst []byte, apart int, src []S, ld, lanes, k int)) packFunc {
	return func(dst []byte, apart int, src []byte, off, ld, lanes, k int, isColumns bool) {
		if isColumns {
			columns(dst, apart, view[S](src)[off:], ld, lanes, k)
		} else {
			rows(dst, view[S](src)[off:], ld, lanes, k)
		}
	}
}

// bytesOf is the memory of x.
func bytesOf[T any](x []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(t)))
}

// view reinterprets memory that is aligned for T.
func view[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}
