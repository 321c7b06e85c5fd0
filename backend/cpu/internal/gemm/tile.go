package gemm

// A kernel is the micro-kernel of a path and what Block must prepare for it.
type kernel[C Sum] struct {
	tile tile[C]
	// thin, where it is not nil, is tile for the first panel of a where few meet b: it
	// asks for as many bytes at next as it reads of b, and for the L1 cache.
	thin tile[C]
	// column, where it is not nil, does what tile does for many panels of a.
	column column[C]
	// rows, where it has a tile, does both for an a that is not packed.
	rows rowsKernel[C]
	// strips, where it is not nil, does so on tiles of AMX.
	strips strips[C]
	// bias fills dst with what the sums of the rows of a panel of a start from; nil where
	// they start from zero.
	bias func(dst, a *uint32, steps int)
	// edge, where it is not nil, does what tile does for the few columns of the
	// last panel of b, with many panels of a. Then there is no bias.
	edge edge[C]
	gemv gemvKernel[C]

	tape *Tape // that its calls are on; nil for none
}

// A tile computes the rows×cols corner, 1 ≤ rows ≤ MR and 1 ≤ cols ≤ NR, of
// one register tile over steps ≥ 1 steps of a panel of a and one of b:
//
//	for i := range rows {
//		for j := range cols {
//			s := bias[i] // 0 if bias is nil; MR of them may be read
//			for l := range steps {
//				s += dot(a[l*MR+i], b[l*NR+j]) // dot: the products of the elements in a word
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// While it computes it asks for prefetchedPerStep·steps bytes at next to be
// brought into the L2 cache; next is an address only, never read.
//
// Of float32, sums are rounded once per product and addition. A tile of AVX2 of so few rows
// or vectors of columns that twice or four times as many sums fit its registers keeps each in
// 2 or 4 parts: of whole turns of four steps, step l goes to part l mod 2 or 4, and steps left
// over to part 0. At the end they are added, 0+1, or (0+2)+(1+3).
type tile[C Sum] func(c *C, ldc, steps int, a, b *uint32, bias *C, next uintptr, rows, cols int, accumulate bool)

const prefetchedPerStep = 16

// A column computes whole tiles below one another: those of as many panels of a,
// panel words apart, by one panel of b over steps ≥ 1 steps. Each is that of type tile;
// the rows of c follow each other.
//
// What one tile asks for follows what the one before has asked for, from next on, and
// begins there again behind end.
type column[C Sum] func(c *C, ldc, steps int, a, b *uint32, bias *C, next, end uintptr, panels, panel int, accumulate bool)

// columnSteps is the least depth of the tiles of a column. As measured, those of 160
// steps and more gain up to 1 % by it, and those of 128 gain or lose as much.
const columnSteps = 160
