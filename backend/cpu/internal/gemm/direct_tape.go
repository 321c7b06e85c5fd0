package gemm

import (
	"slices"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A directCalls is the tiles of a taped MultiplyDirect: one call on the tape, which asks for the
// operands of the next product.
type directCalls[C Sum] struct {
	*directScript[C]
	c    *C
	a    *uint32
	b    unsafe.Pointer
	next *directCalls[C] // nil where this is the last
}

// A directScript is what such products have in common.
type directScript[C Sum] struct {
	calls []directCall
	tiles []directTile[C]
	bytes [3]int // of b, a and c; 0 where their rows have gaps
	size  int    // of an element of b

	every, share int // bytes that each step and each tile ask for of the next product; 0 for none
	ofB, ofA     int // tiles that ask for b, and then for a; others ask for c
}

// A directCall is one of tiles, in bytes behind the operands of the product.
type directCall struct {
	tile, ldc, steps, lda, step, ldb, ahead, further, height, rows, cols int
	accumulate                                                           bool
	c, a, b                                                              int
}

// tape begins a product of n columns.
func (x *directBlock[S, C]) tape(n int) {
	t, size := x.kernel.tape, memory.Size[S]()
	y := &directCalls[C]{&directScript[C]{size: size}, &x.c[0], x.a.at(0, 0), at(x.b, 0), nil}
	if x.ldb == n && x.ldc == n && x.a.row == x.k*size {
		y.bytes = [3]int{x.k * n * size, x.m * x.k * size, x.m * n * wordBytes}
	}
	if t.product != nil {
		t.product.end(t)
	}
	if before, ok := t.product.(*directCalls[C]); ok {
		before.next = y
	}
	t.product = y
}

// add makes a call one of the product's.
func (x *directCalls[C]) add(t *Tape, call directCall) {
	if len(x.calls) == 0 {
		t.Calls = append(t.Calls, x.run)
	}
	t.goes, x.calls = true, append(x.calls, call)
}

// end is that of the product: it shares its script with those before, or shares out what calls ask for.
func (x *directCalls[C]) end(t *Tape) {
	for _, s := range t.scripts {
		if s, ok := s.(*directScript[C]); ok && s.bytes == x.bytes && slices.Equal(s.calls, x.calls) {
			x.directScript = s
			return
		}
	}
	t.scripts = append(t.scripts, x.directScript)
	steps, lines := 0, 8
	for _, call := range x.calls {
		wide := x.tiles[call.tile].cols
		steps += call.steps * ceil(call.cols, wide) * ceil(call.rows, call.height)
		lines = min(lines, min(call.cols, wide)*x.size/cacheLine)
	}
	if all := x.bytes[0] + x.bytes[1] + x.bytes[2]; all > 0 && steps > 0 && lines > 0 {
		x.every = min(ceil(ceil(all, steps), cacheLine), lines) * cacheLine
		x.share = x.every * x.calls[0].steps
		x.ofB, x.ofA = ceil(x.bytes[0], x.share), ceil(x.bytes[1], x.share)
	}
}

// run makes the calls, a tile at a time where each asks for another part of what is next.
func (x *directCalls[C]) run() {
	s, tile := x.directScript, 0
	for n := range s.calls {
		k := &s.calls[n]
		run, c, a, b := s.tiles[k.tile].run, offset(x.c, k.c), offset(x.a, k.a), unsafe.Add(x.b, k.b)
		if x.next == nil || s.every == 0 {
			run(c, k.ldc, k.steps, a, k.lda, k.step, b, k.ldb, k.ahead, k.further, k.height, k.rows, k.cols, nil, k.accumulate)
			continue
		}
		wide := s.tiles[k.tile].cols
		for i := 0; i < k.rows; i += k.height {
			rows, c, a, b := min(k.height, k.rows-i), offset(c, i*k.ldc*wordBytes), offset(a, i*k.lda), b
			for j := 0; j < k.cols; j += wide {
				run(c, k.ldc, k.steps, a, k.lda, k.step, b, k.ldb, s.asks(x.next, tile)-int(uintptr(b)), s.every, rows, rows, min(wide, k.cols-j), nil, k.accumulate)
				tile, c, b = tile+1, offset(c, wide*wordBytes), unsafe.Add(b, wide*s.size)
			}
		}
	}
}

// asks is where the tile of a number asks for the next product.
func (s *directScript[C]) asks(next *directCalls[C], tile int) int {
	from := uintptr(next.b)
	if tile >= s.ofB {
		if tile, from = tile-s.ofB, address(next.a); tile >= s.ofA {
			tile, from = tile-s.ofA, address(next.c)
		}
	}
	return int(from) + tile*s.share
}
