package gemm

import ("unsafe"; "os"; "strconv")

// Cache sizes of a piece of work: steps of k a tile runs over, and bytes of a
// that stay in L2 while the panels of b pass.
var (
	chunkSteps = env("KC", 512)
	residentA  = env("RA", 256) << 10
)

func env(s string, d int) int {
	if v, err := strconv.Atoi(os.Getenv(s)); err == nil {
		return v
	}
	return d
}


// A block is one call of Block, in words and steps.
type block[C Sum] struct {
	kernel         *kernel[C]
	mr, nr         int
	c              []C
	ldc, m, n      int
	a, b           []uint32
	panelA, panelB int // words from one panel to the next
	step0, steps   int
	accumulate     bool
}

// run cuts k into chunks and m into pieces of a that fit L2. For each piece
// every panel of b passes once, and meets every panel of the piece:
//
//	for chunk of k { for piece of m { for panel of b { for panel of a in piece { tile } } } }
func (x block[C]) run() {
	var bias [64]C
	share := x.nr * wordBytes / 16
	kc := even(x.steps, chunkSteps)
	mc := even(ceil(x.m, x.mr), max(1, residentA/(kc*x.mr*wordBytes)))
	for s := 0; s < x.steps; s += kc {
		steps := min(kc, x.steps-s)
		acc := x.accumulate || s > 0
		for i0 := 0; i0 < x.m; i0 += mc * x.mr {
			i1 := min(i0+mc*x.mr, x.m)
			for j := 0; j < x.n; j += x.nr {
				b := &x.b[j/x.nr*x.panelB+(x.step0+s)*x.nr]
				var start *C
				if x.kernel.bias != nil {
					start = &bias[0]
					x.kernel.bias((*uint32)(unsafe.Pointer(start)), b, steps)
				}
				next := x.prefetch(j, s)
				for i := i0; i < i1; i += x.mr {
					a := &x.a[i/x.mr*x.panelA+(x.step0+s)*x.mr]
					x.kernel.tile(&x.c[i*x.ldc+j], x.ldc, steps, a, b, start,
						next+uintptr((i-i0)/x.mr%share*steps*16),
						min(x.mr, x.m-i), min(x.nr, x.n-j), acc)
				}
			}
		}
	}
}

func (x block[C]) prefetch(j, s int) uintptr {
	if j += x.nr; j >= x.n {
		j = 0
	}
	return uintptr(unsafe.Pointer(&x.b[j/x.nr*x.panelB+(x.step0+s)*x.nr]))
}

// even is the size of pieces, at most limit, that cut n evenly.
func even(n, limit int) int { return ceil(n, ceil(n, limit)) }

// span views n elements from p on.
func span[T any](p *T, n int) []T { return unsafe.Slice(p, n) }
