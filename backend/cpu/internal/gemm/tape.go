package gemm

import (
	"slices"
	"unsafe"
)

// A Tape is the calls of micro-kernels that a product makes. They are the same whatever its
// matrices hold: to make them again is the product of what these hold then. Memory of pools that they
// use is not given back.
type Tape struct {
	Calls   []func()
	Spoiled bool // it lacks some

	product taped // that calls tiles on a b as it lies; nil before the first
	goes    bool  // its tiles were the last call
	scripts []any // of such products
}

// A taped is a *directCalls.
type taped interface{ end(t *Tape) }

// Again is the tape for the next product, which has no calls yet.
func (t *Tape) Again() *Tape {
	t.Calls, t.Spoiled = nil, false
	return t
}

// keep makes a call, and tapes it.
func (t *Tape) keep(call func()) {
	call()
	t.goes, t.Calls = false, append(t.Calls, call)
}

// spoil tells the tape, if there is one, that what comes is not on it.
func (k *kernel[C]) spoil() {
	if k.tape != nil {
		k.tape.Spoiled = true
	}
}

// Taped is p, whose products t tapes; p itself if t is nil.
func (p *MicroKernels[S, C]) Taped(t *Tape) *MicroKernels[S, C] {
	if t == nil {
		return p
	}
	q := *p
	q.kernel = p.kernel.taped(t)
	q.packB.Columns = func(dst []uint32, panel int, src []S, ld, extent, k int) {
		t.keep(func() { p.packB.Columns(dst, panel, src, ld, extent, k) })
	}
	q.direct.packing = p.direct.packing.taped(t)
	q.direct.tiles = slices.Clone(p.direct.tiles)
	for i, tile := range p.direct.tiles {
		kept := tile.run.taped(t)
		q.direct.tiles[i].run = func(c *C, ldc, steps int, a *uint32, lda, step int, b unsafe.Pointer, ldb, ahead, further, height, rows, cols int, bias *C, accumulate bool) {
			if x, ok := t.product.(*directCalls[C]); ok && bias == nil && (t.goes || len(x.calls) == 0) {
				tile.run(c, ldc, steps, a, lda, step, b, ldb, ahead, further, height, rows, cols, bias, accumulate)
				x.tiles = p.direct.tiles
				x.add(t, directCall{i, ldc, steps, lda, step, ldb, ahead, further, height, rows, cols, accumulate,
					int(address(c) - address(x.c)), int(address(a) - address(x.a)), int(uintptr(b) - uintptr(x.b))})
				return
			}
			kept(c, ldc, steps, a, lda, step, b, ldb, ahead, further, height, rows, cols, bias, accumulate)
		}
	}
	return &q
}

// taped are the kernels that small products call; others spoil the tape.
func (k kernel[C]) taped(t *Tape) kernel[C] {
	x := k
	x.tape = t
	x.tile = func(c *C, ldc, steps int, a, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
		t.keep(func() { k.tile(c, ldc, steps, a, b, bias, next, rows, cols, accumulate) })
	}
	if k.rows.tile != nil {
		x.rows.tile = func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
			t.keep(func() { k.rows.tile(c, ldc, steps, a, lda, b, bias, next, rows, cols, accumulate) })
		}
	}
	x.gemv.run, x.gemv.spread, x.gemv.outer, x.gemv.flat = k.gemv.run.taped(t), k.gemv.spread.taped(t), k.gemv.outer.taped(t), k.gemv.flat.taped(t)
	if k.bias != nil {
		x.bias = func(dst, a *uint32, steps int) { t.keep(func() { k.bias(dst, a, steps) }) }
		x.rows.bias = func(dst, a *uint32, lda, steps, rows int) { t.keep(func() { k.rows.bias(dst, a, lda, steps, rows) }) }
	}
	return x
}

func (f direct[C]) taped(t *Tape) direct[C] {
	if f == nil {
		return nil
	}
	return func(c *C, ldc, steps int, a *uint32, lda, step int, b unsafe.Pointer, ldb, ahead, further, height, rows, cols int, bias *C, accumulate bool) {
		t.keep(func() { f(c, ldc, steps, a, lda, step, b, ldb, ahead, further, height, rows, cols, bias, accumulate) })
	}
}

func (f gemv[C]) taped(t *Tape) gemv[C] {
	if f == nil {
		return nil
	}
	return func(c *C, ldc int, a, b unsafe.Pointer, lda, k, rows, cols int, bias *C, accumulate bool) {
		t.keep(func() { f(c, ldc, a, b, lda, k, rows, cols, bias, accumulate) })
	}
}

func (f spread[C]) taped(t *Tape) spread[C] {
	if f == nil {
		return nil
	}
	return func(c *C, ldc int, a, b unsafe.Pointer, lda, ldb, k, rows, cols int, accumulate bool) {
		t.keep(func() { f(c, ldc, a, b, lda, ldb, k, rows, cols, accumulate) })
	}
}
