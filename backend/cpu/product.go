package cpu

import (
	"unsafe"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// product multiplies blocks of one pair of element types.
type product struct {
	a, b packing
	sum  tile.Dtype // of the result: float32 or int32
	// block is c = a·b, or c += a·b, where c starts off elements into memory.
	block func(c []byte, off, ldc, m, n, k int, a, b []byte, accumulate bool)
	// direct is block with a b that is not packed: element (l, j) of it is
	// b[offB+l*ldb+j]. It pays up to directRows rows of a; 0 if it may not be
	// called.
	direct     func(c []byte, off, ldc, m, n, k int, a, b []byte, offB, ldb int, accumulate bool)
	directRows int
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
	pack func(dst, src []byte, off, ld, lanes, k int, columns bool)
}

// productOf returns the product of a pair of dtypes; nil if there is none.
func productOf(k *gemm.Kernels, a, b tile.Dtype) *product {
	type pair struct{ a, b tile.Dtype }
	switch (pair{a, b}) {
	case pair{tile.Float32, tile.Float32}:
		return newProduct(k.Float32, k.Float32, tile.Float32)
	case pair{tile.BFloat16, tile.BFloat16}:
		return newProduct(k.BFloat16, k.BFloat16, tile.Float32)
	case pair{tile.Int8, tile.Int8}:
		return newProduct(k.Int8, k.Int8, tile.Int32)
	case pair{tile.Uint8, tile.Uint8}:
		return newProduct(k.WideUint8, k.WideUint8, tile.Int32)
	case pair{tile.Int8, tile.Uint8}:
		return newProduct(k.WideInt8, k.WideUint8, tile.Int32)
	case pair{tile.Uint8, tile.Int8}:
		return newProduct(k.WideUint8, k.WideInt8, tile.Int32)
	}
	return nil
}

// thinProductOf is productOf for so few rows of a that b should be read where
// it lies: on a machine with tiles, which need it packed, a product by vectors.
func thinProductOf(k *gemm.Kernels, a, b tile.Dtype) *product {
	switch {
	case a == tile.BFloat16 && b == tile.BFloat16:
		return newProduct(k.ThinBFloat16, k.ThinBFloat16, tile.Float32)
	case a == tile.Int8 && b == tile.Int8:
		return newProduct(k.ThinInt8, k.ThinInt8, tile.Int32)
	}
	return productOf(k, a, b)
}

func newProduct[S, T gemm.Source, C gemm.Sum](a *gemm.Path[S, C], b *gemm.Path[T, C], sum tile.Dtype) *product {
	return &product{
		sum: sum,
		a: packing{
			format: a.Format + "/a", lanes: a.MR, unit: a.KU, words: a.Words, panel: a.PanelA,
			pack: packWith(a.PackA, a.PackAT),
		},
		b: packing{
			format: b.Format + "/b", lanes: b.NR, unit: b.KU, words: b.Words, panel: b.PanelB,
			pack: packWith(
				func(dst []byte, src []T, ld, n, k int) { b.PackBT(dst, src, ld, k, n) },
				func(dst []byte, src []T, ld, n, k int) { b.PackB(dst, src, ld, k, n) }),
		},
		block: func(c []byte, off, ldc, m, n, k int, pa, pb []byte, accumulate bool) {
			a.Block(view[C](c)[off:], ldc, m, n, k, pa, pb, accumulate)
		},
		direct: func(c []byte, off, ldc, m, n, k int, pa, mb []byte, offB, ldb int, accumulate bool) {
			b.BlockDirect(view[C](c)[off:], ldc, m, n, k, pa, view[T](mb)[offB:], ldb, accumulate)
		},
		directRows: b.DirectRows(),
	}
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

// view reinterprets memory that is aligned for T.
func view[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}
