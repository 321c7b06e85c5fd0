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

// A directCall is one of a direct, in bytes behind the operands of the product.
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
		steps += call.steps * ceil(call.rows, call.height) * ceil(call.cols, wide)
		lines = min(lines, (call.cols-(ceil(call.cols, wide)-1)*wide)*x.size/cacheLine)
	}
	if all := x.bytes[0] + x.bytes[1] + x.bytes[2]; all > 0 && steps > 0 && lines > 0 {
		x.every = min(ceil(ceil(all, steps), cacheLine), lines) * cacheLine
		x.share = x.every * x.calls[0].steps
		x.ofB, x.ofA = ceil(x.bytes[0], x.share), ceil(x.bytes[1], x.share)
	}
}

// run makes the calls: one for each tile if these ask for what is next.
func (x *directCalls[C]) run() {
	s, n := x.directScript, 0
	asks := x.next != nil && s.every > 0
	for i := range s.calls {
		k := &s.calls[i]
		height, wide := k.rows, k.cols
		if asks {
			height, wide = k.height, s.tiles[k.tile].cols
		}
		for j := 0; j < k.cols; j += wide {
			for i := 0; i < k.rows; i += height {
				b, ahead, further := unsafe.Add(x.b, k.b+j*s.size), k.ahead, k.further
				if asks {
					from, part := uintptr(x.next.b), n
					if part >= s.ofB {
						if part, from = part-s.ofB, address(x.next.a); part >= s.ofA {
							part, from = part-s.ofA, address(x.next.c)
						}
					}
					ahead, further, n = int(from-uintptr(b))+part*s.share, s.every, n+1
				}
				s.tiles[k.tile].run(offset(x.c, k.c+(i*k.ldc+j)*wordBytes), k.ldc, k.steps, offset(x.a, k.a+i*k.lda), k.lda, k.step, b, k.ldb, ahead, further, k.height, min(height, k.rows-i), min(wide, k.cols-j), nil, k.accumulate)
			}
		}
	}
}
