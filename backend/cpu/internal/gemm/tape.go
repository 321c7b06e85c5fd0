package gemm

import "unsafe"

// A Tape is the calls of micro-kernels that a product makes. They are the same each time, whatever
// its matrices hold: to make them again is the product of what these hold then.
type Tape struct {
	Calls []func()
	// Spoiled tells that calls are not all: something was done in Go, or in memory that other
	// products use.
	Spoiled bool
}

// keep makes a call, and tapes it.
func (t *Tape) keep(call func()) {
	call()
	t.Calls = append(t.Calls, call)
}

// Taped is p, whose products t tapes; p itself if t is nil. Memory that they pack into is work, or
// else spoils the tape.
func (p *MicroKernels[S, C]) Taped(t *Tape, work []byte) *MicroKernels[S, C] {
	if t == nil {
		return p
	}
	q := *p
	k, pack, direct, dots, stream := &q.kernel, p.packB.Columns, p.direct.tile, p.dots.run, p.stream.run
	q.packB.Columns = func(dst []uint32, panel int, src []S, ld, extent, k int) {
		t.Spoiled = t.Spoiled || len(work) == 0 || address(&dst[0]) != address((*uint32)(unsafe.Pointer(&work[0])))
		t.keep(func() { pack(dst, panel, src, ld, extent, k) })
	}
	q.direct.tile = func(c *C, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, ahead, rows, cols int, bias *C, accumulate bool) {
		t.keep(func() { direct(c, ldc, steps, a, b, ldb, ahead, rows, cols, bias, accumulate) })
	}
	if dots != nil {
		q.dots.run = func(c *C, ldc int, a *uint32, lda int, b unsafe.Pointer, ldb, vectors, rows, turns, ahead int, accumulate bool) {
			t.Spoiled = true
			dots(c, ldc, a, lda, b, ldb, vectors, rows, turns, ahead, accumulate)
		}
	}
	q.stream.run = func(c *C, a *uint32, b unsafe.Pointer, ldb, cols int, after uintptr, accumulate bool) {
		t.Spoiled = true
		stream(c, a, b, ldb, cols, after, accumulate)
	}
	k.tapedTiles(t)
	return &q
}

func (k *kernel[C]) tapedTiles(t *Tape) {
	of := *k
	k.taped = true
	taped := func(f tile[C]) tile[C] {
		if f == nil {
			return nil
		}
		return func(c *C, ldc, steps int, a, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
			t.keep(func() { f(c, ldc, steps, a, b, bias, next, rows, cols, accumulate) })
		}
	}
	k.tile, k.thin = taped(of.tile), taped(of.thin)
	if of.column != nil {
		k.column = func(c *C, ldc, steps int, a, b *uint32, bias *C, next, end uintptr, panels, panel int, accumulate bool) {
			t.keep(func() { of.column(c, ldc, steps, a, b, bias, next, end, panels, panel, accumulate) })
		}
	}
	if of.edge != nil {
		k.edge = func(c *C, ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32, accumulate bool) {
			t.keep(func() { of.edge(c, ldc, next, rows, cols, a, panel, steps, b, accumulate) })
		}
	}
	if of.rows.tile != nil {
		k.rows.tile = func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool) {
			t.keep(func() { of.rows.tile(c, ldc, steps, a, lda, b, bias, next, rows, cols, accumulate) })
		}
	}
	k.rows.column = func(c *C, ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next, end uintptr, panels int, accumulate bool) {
		t.keep(func() { of.rows.column(c, ldc, steps, a, lda, b, bias, next, end, panels, accumulate) })
	}
	if of.bias != nil {
		k.bias = func(dst, a *uint32, steps int) { t.keep(func() { of.bias(dst, a, steps) }) }
	}
	k.rows.bias = func(dst, a *uint32, lda, steps, rows int) { t.keep(func() { of.rows.bias(dst, a, lda, steps, rows) }) }
	if of.strips != nil {
		k.strips = func(x *strip[C]) { t.Spoiled = true; of.strips(x) }
	}
}
