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
	// block is c = a·b, or c += a·b, where c starts off elements into memory.
	block func(c []byte, off, ldc, m, n, k int, a, b []byte, accumulate bool, h help)
	work  int // bytes of memory that helps it
	// streams reports whether help.stream makes a difference to a c whose rows are
	// ldc elements apart, the first on a cache line.
	streams func(ldc int) bool
	// rows is block with an a that is not packed: element (i, l) of it is
	// a[offA+i*lda+l]; nil if a must be. k is whole units.
	rows func(c []byte, off, ldc, m, n, k int, a []byte, offA, lda int, b []byte, accumulate bool, h help)
	// narrow is block, or rows if a is not packed, into a c of bfloat16, whole
	// panels of it; nil if there is none.
	narrow func(c []byte, off, ldc, m, n, k int, a []byte, offA, lda int, packedA bool, b []byte, h help)
	// scaled is narrow into a c of float32 or bfloat16, of sums that are scaled; nil if
	// there is none.
	scaled func(c []byte, narrow bool, off, ldc, m, n, k int, a []byte, offA, lda int, packedA bool, b []byte, by gemm.Scaling, h help)
	// direct is block with a b that is not packed: element (l, j) of it is
	// b[offB+l*ldb+j]. It is widened before, or as it lies in memory where b.inPlace.
	// It pays up to directRows rows of a; 0 if it may not be called.
	direct     func(c []byte, off, ldc, m, n, k int, a, b []byte, offB, ldb int, accumulate bool, h help)
	directRows int

	cut       func(m, n, k int) (run, rows, cols int) // as block and rows divide them
	cutDirect func(m, n, k int) (run, cols int)       // as direct does
	directWay func(m int) gemm.DirectWay

	// readInPlace makes direct, for so many rows of a, read a b that is of this dtype
	// in memory as it lies there, if a micro-kernel does and that pays. Its rows are
	// whole numbers of so many elements.
	readInPlace func(inB tile.Dtype, rows, whole int)
	directWork  func(m int) int // bytes of memory that help direct
}

// help is what a product may use besides its operands.
type help struct {
	mem    []byte // of the worker
	stream bool   // c is better written past the caches
}

// packing lays one operand out in panels of lanes rows of a, or columns of b.
type packing struct {
	format string
	lanes  int             // lanes of one panel
	unit   int             // elements of k stored together
	words  int             // of 32 bits that they take in one lane
	panel  func(k int) int // bytes of one panel k deep
	// pack reads element l of lane i at src[off+i*ld+l], or at src[off+l*ld+i]
	// if the lanes are the columns of memory.
	pack     func(dst, src []byte, off, ld, lanes, k int, columns bool)
	widening *widening // that pack begins with; nil for none
	inPlace  bool      // b: direct widens it itself
	chunk    int       // words of a lane that a chunk has at most
}

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
		p.rows = nil
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
		name: a.Name, sum: sum, cut: a.Cut, cutDirect: b.CutDirect, directWay: b.DirectWay, directWork: b.DirectWork,
		a: packing{
			format: a.Format + "/a", lanes: a.MR, unit: a.KU, words: a.Words, panel: a.PanelA, chunk: chunk,
			pack: packWith(a.PackA, a.PackAT),
		},
		b: packing{
			format: b.Format + "/b", lanes: b.NR, unit: b.KU, words: b.Words, panel: b.PanelB, chunk: chunk,
			pack: packWith(
				func(dst []byte, src []T, ld, n, k int) { b.PackBT(dst, src, ld, k, n) },
				func(dst []byte, src []T, ld, n, k int) { b.PackB(dst, src, ld, k, n) }),
		},
		block: func(c []byte, off, ldc, m, n, k int, pa, pb []byte, accumulate bool, h help) {
			a.Multiply(gemm.Run[S]{A: pa, B: pb, Work: h.mem, Stream: h.stream}, view[C](c)[off:], ldc, m, n, k, accumulate)
		},
		work: a.Work(), streams: a.Streams,
		direct: func(c []byte, off, ldc, m, n, k int, pa, mb []byte, offB, ldb int, accumulate bool, h help) {
			b.BlockDirect(view[C](c)[off:], ldc, m, n, k, pa, view[T](mb)[offB:], ldb, accumulate, h.mem)
		},
		directRows: b.DirectRows(),
	}
	p.readInPlace = func(inB tile.Dtype, rows, whole int) {
		place := map[tile.Dtype]*gemm.InPlace[C]{
			tile.Int4: a.Stored.Int4, tile.Int8: a.Stored.Int8,
			tile.Float8E4M3FN: a.Stored.Float8E4M3, tile.Float8E5M2: a.Stored.Float8E5M2,
		}[inB]
		if place == nil || rows > place.Pays || whole%place.Whole != 0 {
			return
		}
		p.b.inPlace = true
		p.b.format += "/in place"
		p.direct = func(c []byte, off, ldc, m, n, k int, pa, mb []byte, offB, ldb int, accumulate bool, _ help) {
			place.Block(view[C](c)[off:], ldc, m, n, k, pa, mb, offB, ldb, accumulate)
		}
		p.directRows = place.Pays
		p.cutDirect = func(_, n, _ int) (run, cols int) { return place.Cut(), n }
		p.directWay = func(int) gemm.DirectWay { return gemm.DirectAlong }
		p.directWork = func(int) int { return 0 }
	}
	if a.Whole(a.MR, a.NR, a.NR) {
		run := func(ma []byte, offA, lda int, packedA bool, pb []byte, h help) gemm.Run[S] {
			if packedA {
				return gemm.Run[S]{A: ma, B: pb, Work: h.mem, Stream: h.stream}
			}
			return gemm.Run[S]{Rows: view[S](ma)[offA:], LDA: lda, B: pb, Work: h.mem, Stream: h.stream}
		}
		if sum == tile.Float32 {
			p.narrow = func(c []byte, off, ldc, m, n, k int, ma []byte, offA, lda int, packedA bool, pb []byte, h help) {
				a.MultiplyNarrow(run(ma, offA, lda, packedA, pb, h), view[uint16](c)[off:], ldc, m, n, k)
			}
		}
		p.scaled = func(c []byte, narrow bool, off, ldc, m, n, k int, ma []byte, offA, lda int, packedA bool, pb []byte, by gemm.Scaling, h help) {
			r := run(ma, offA, lda, packedA, pb, h)
			if narrow {
				gemm.MultiplyScaled(a, r, by, view[uint16](c)[off:], ldc, m, n, k)
			} else {
				gemm.MultiplyScaled(a, r, by, view[float32](c)[off:], ldc, m, n, k)
			}
		}
	}
	if a.ReadsA(a.KU) {
		p.rows = func(c []byte, off, ldc, m, n, k int, ma []byte, offA, lda int, pb []byte, accumulate bool, h help) {
			a.Multiply(gemm.Run[S]{Rows: view[S](ma)[offA:], LDA: lda, B: pb, Work: h.mem, Stream: h.stream}, view[C](c)[off:], ldc, m, n, k, accumulate)
		}
	}
	return p
}

func packWith[S gemm.Source](rows, columns func(dst []byte, src []S, ld, lanes, k int)) func(dst, src []byte, off, ld, lanes, k int, isColumns bool) {
	return func(dst, src []byte, off, ld, lanes, k int, isColumns bool) {
		if isColumns {
			columns(dst, view[S](src)[off:], ld, lanes, k)
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
