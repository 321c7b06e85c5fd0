package gemm

import (
	"fmt"
	"sync"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
)

// A directKernel is the micro-kernel of a path on a b that is not packed.
type directKernel[C Sum] struct {
	tiles []directTile[C] // each of a vector of columns more than the one before, or one alone; none where all is 0
	pays  int             // rows of a up to which it is faster than packing b
	// whole tells that it reads a tile's width of b beyond the last column too.
	whole  bool
	pieces pieceCuts
	// packing computes MR rows, and writes the panels of what it reads to the address that is its ahead.
	packing direct[C]
	steps   int  // that a tile runs over, if asked for; 0 for directSteps's own
	deep    bool // it runs over more steps for few rows of a too
}

// A directTile computes up to so many rows and columns.
type directTile[C Sum] struct {
	run        direct[C]
	rows, cols int
}

// widening are tiles of one vector of columns, two, and so on.
func widening[C Sum](lanes int, tiles ...directTile[C]) []directTile[C] {
	for i := range tiles {
		tiles[i].cols = (1 + i) * lanes
	}
	return tiles
}

// of is the tile for m rows and the first cols of n columns, about equal parts, and some steps: that which
// takes the fewest cycles, if a cycle loads two vectors or words or multiplies two vectors.
func (d *directKernel[C]) of(m, n, steps int) (best directTile[C], cols int) {
	const turn = 40 // halves of a cycle, beside one for each vector of sums
	least, narrower := 0, 0
	for i, t := range d.tiles {
		vectors, turns, all := i+1, ceil(m, t.rows), ceil(n, d.tiles[0].cols)
		rows, tiles := ceil(m, turns), ceil(all, vectors)
		halves := turns * (steps*max(rows*vectors, rows+2*vectors) + rows*vectors + turn) // of all rows by its columns
		wide := max(1, tiles-(tiles*vectors-all))
		time := wide*halves + (tiles-wide)*narrower
		if i == 0 || time < least {
			best, least, cols = t, time, min(n, wide*t.cols)
		}
		if t.cols >= n {
			break
		}
		narrower = halves
	}
	return best, cols
}

// DirectWork is the number of bytes of memory that MultiplyDirect of m rows wants, where
// rows of b are ldb elements apart.
func (p *MicroKernels[S, C]) DirectWork(m, ldb int) int {
	if p.Read(m, ldb) != ReadPieces {
		return 0
	}
	return p.direct.pieces.work(p.NR)
}

// Read is how MultiplyDirect reads a B whose rows are ldb elements apart, for m rows of A.
func (p *MicroKernels[S, C]) Read(m, ldb int) ReadB {
	switch {
	case p.isAsked(ReadTiles, ReadStreams, ReadPieces):
		return p.Choices.B
	case m <= p.stream.pays:
		return ReadStreams
	case p.direct.pieces.pay(m, ldb*memory.Size[S]()):
		return ReadPieces
	}
	return ReadTiles
}

// A direct computes rows×cols sums like tiles but takes b from rows of
// a matrix that are ldb bytes apart, KU of them a step, and words of a that lie lda bytes apart from
// row to row, and step bytes from one to the next of a row:
//
//	for i := range rows {
//		for j := range cols {
//			s := 0
//			for l := range steps {
//				s += dot(a[i*lda+l*step], word(b[(l*KU)*ldb+j], …, b[(l*KU+KU-1)*ldb+j]))
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
//
// Height rows are computed at a time, at most as many as its tile has, and along these all columns, of
// whose last tile only the last vector may be cut off. Few sums are kept in parts, as tiles of AVX2
// keep them. Meanwhile the first step asks for the memory ahead bytes behind what it reads of b, which need
// not be b's, and each further one for what lies further bytes behind that. Those of AVX2 that widen b read
// all columns, whatever cols is. Sums start from zero, but those of quads of AVX-512 from a bias, if it is not nil.
type direct[C Sum] func(c *C, ldc, steps int, a *uint32, lda, step int, b unsafe.Pointer, ldb, ahead, further, height, rows, cols int, bias *C, accumulate bool)

// DirectRows is the number of rows of a up to which MultiplyDirect is faster than PackB and Block
// of the same product, as measured with b in L3 and in memory; 0 where MultiplyDirect may not be
// called. Where a packed b serves more rows than those of one block, they count together.
func (p *MicroKernels[S, C]) DirectRows() int {
	switch {
	case p.Choices.B == ReadPacked:
		return 0
	case p.isAsked(ReadTiles, ReadStreams, ReadPieces):
		return AllRows
	}
	return p.direct.pays
}

// MultiplyDirect is Multiply of a Run whose B is left out by a b that is not packed: its
// element (l, j) is b[l*ldb+j]. Any number of rows is right; it pays up to DirectRows, as
// packing b as a whole would take longer than multiplying it. Work is as many bytes as
// DirectWork.
func (p *MicroKernels[S, C]) MultiplyDirect(r Run[S], c []C, ldc, m, n, k int, b []S, ldb int, accumulate bool) {
	switch {
	case p.direct.tiles == nil || m < 0 || n < 0 || k < 0:
		panic(fmt.Sprintf("gemm: MultiplyDirect of %d×%d, k %d, on %s", m, n, k, p.Name))
	case r.Rows != nil && !p.ReadsA(k):
		panic(fmt.Sprintf("gemm: %s: rows of %d elements in memory", p.Name, k))
	}
	c, b = extent(c, m, n, ldc), extent(b, k, n, ldb)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		p.Multiply(r, c, ldc, m, n, k, accumulate)
		return
	}
	x := p.directBlock(r, c, ldc, m, n, k, b, ldb, accumulate)
	defer x.done()
	steps := k / p.KU
	switch p.Read(m, ldb) {
	case ReadStreams:
		deep, wide := k/streamRows*streamRows, n/streamColumns*streamColumns
		x.inStreams(wide, deep)
		x.run(wide, n, 0, deep/p.KU)
		x.run(0, n, deep/p.KU, steps)
	case ReadPieces:
		x.inPieces(n, steps, r.Work)
	default:
		x.run(0, n, 0, steps)
	}
	if k%p.KU > 0 {
		x.begin(steps, 1)
	}
	for j := 0; j < n && k%p.KU > 0; j += p.NR {
		x.edge(j, min(p.NR, n-j), steps, 1)
	}
}

// A directBlock is a call of MultiplyDirect.
type directBlock[S Source, C Sum] struct {
	*MicroKernels[S, C]
	c          []C
	ldc, m, k  int
	a          left
	b          []S
	ldb        int
	far        bool // as that of a Run
	accumulate bool
	work       *directWork
	bias       bias[C] // of the steps that begin has told
}

func (p *MicroKernels[S, C]) directBlock(r Run[S], c []C, ldc, m, n, k int, b []S, ldb int, accumulate bool) directBlock[S, C] {
	x := directBlock[S, C]{MicroKernels: p, c: c, ldc: ldc, m: m, k: k, a: p.left(r, m, k), b: b, ldb: ldb, far: r.Far, accumulate: accumulate, work: directWorks.Get().(*directWork)}
	if p.kernel.tape != nil {
		x.tape(n)
	}
	return x
}

// done gives memory back, but that of calls on a tape.
func (x *directBlock[S, C]) done() {
	if x.kernel.tape == nil {
		directWorks.Put(x.work)
	}
}

// begin prepares to multiply some steps.
func (x *directBlock[S, C]) begin(first, steps int) {
	x.bias = x.kernel.biasOf(x.a, x.MR, x.m, first, steps, &x.work.bias)
}

// directWork is the memory of a call: what sums start from, the words of a stream, and the
// panel of edge.
type directWork struct {
	bias  []uint32
	words [streamRows]uint32
	panel [edgeSteps * mostWords]uint32
}

var directWorks = sync.Pool{New: func() any { return new(directWork) }}

// run multiplies columns j0 … j1-1 over steps s0 … s1-1. Where half of L2 holds b, tiles go along rows of c.
func (x *directBlock[S, C]) run(j0, j1, s0, s1 int) {
	if j0 >= j1 || s0 >= s1 {
		return
	}
	x.begin(s0, s1-s0)
	chunk := x.directSteps(x.m, (s1-s0)*x.KU, x.ldb, x.far)
	near, along := x.near(x.k, x.ldb, 3), x.near(x.k, x.ldb, 2)
	for s := s0; s < s1; s += chunk {
		steps, alike, cols := min(chunk, s1-s), 0, 0
		var tile directTile[C]
		for j := j0; j < j1; j, alike = j+cols, alike-cols {
			left, ahead := j1-j, 0
			if alike == 0 { // columns that the same tile takes
				if tile, alike = x.direct.of(x.m, left, steps); x.direct.whole {
					if alike -= alike % tile.cols; alike == 0 {
						x.edge(j, left, s, steps)
						break
					}
				}
			}
			if cols = alike; !along {
				cols = min(cols, tile.cols)
			}
			if !near || x.far {
				ahead = x.ahead(left, chunk)
			}
			x.column(tile, j, cols, s, steps, ahead)
		}
	}
}

// near reports whether a b of k rows that lie ldb elements apart takes no more than some quarters of L2.
func (p *MicroKernels[S, C]) near(k, ldb, quarters int) bool {
	return k*ldb*memory.Size[S]() <= p.host.L2OrUsual()*quarters/4
}

// ahead is how far ahead a tile asks for b, in bytes, that is left of the last n columns
// and runs over so many steps at most: along its row, as far as that goes, and then for
// rows of the next run.
func (x *directBlock[S, C]) ahead(n, chunk int) int {
	row := x.ldb * memory.Size[S]()
	if row <= directAhead {
		return shortAhead
	}
	if left := n * memory.Size[S](); left <= directAhead {
		return min(chunk, 2*directStreams)*x.KU*row + directAhead - row
	}
	return directAhead
}

const (
	// directAhead is how far along its row each step asks for b, in bytes: a row comes
	// 128 bytes at a time, which no prefetcher of the processor follows for a hundred
	// rows. It comes to L2, as few lines can be on their way to L1 at a time.
	directAhead = 512
	// shortAhead is how far ahead it asks where rows so short follow each other: into the next pages.
	shortAhead = 6 << 10
	// directStreams is about how many rows processors follow.
	directStreams = 16
)

// column multiplies cols columns by all rows of a, in about equal parts of those or of a panel.
func (x *directBlock[S, C]) column(tile directTile[C], j, cols, s, steps, ahead int) {
	b, ldb, accumulate := at(x.b, s*x.KU*x.ldb+j), x.ldb*memory.Size[S](), x.accumulate || s > 0
	rows, further := x.m, 0
	if ahead != 0 {
		further = x.KU * ldb
	}
	if x.a.packed {
		rows = min(rows, x.MR)
	}
	for i := 0; i < x.m; i += rows {
		tile.run(&x.c[i*x.ldc+j], x.ldc, steps, x.a.at(i/x.MR, s), x.a.row, x.a.step, b, ldb, ahead, further, even(rows, tile.rows), min(rows, x.m-i), cols, x.bias.at(i, s), accumulate)
	}
}

// edge is column for what a tile must not read where it lies, as that ends before
// the tile's columns or before the rows of a step: it is packed, a piece at a time.
func (x *directBlock[S, C]) edge(j, cols, s, steps int) {
	panel := x.work.panel[:]
	for end := s + steps; s < end; s += edgeSteps {
		x.piece(j, cols, s, min(edgeSteps, end-s), panel, false, &ahead{at: address(&panel[0])})
	}
}

// directSteps is how many steps a tile runs over before the next columns get their turn, as
// measured. Deep runs mean few passes over c. But each of their rows of b is a stream of its own:
// processors follow about sixteen, and more than 64, a multiple of 4 KiB apart, drive each other out
// of L1. Few rows of a wait for b, and more for c. Short rows follow each other, and from far they
// come faster if all of them are read that are near in memory, before others are.
func (p *MicroKernels[S, C]) directSteps(m, k, ldb int, far bool) int {
	if p.direct.steps > 0 {
		return p.direct.steps
	}
	rows, short := 2*directStreams, ldb*memory.Size[S]() <= directAhead && m <= p.MR
	switch {
	case p.near(k, ldb, 3) && !(short && far):
		return ceil(k, p.KU)
	case short:
	case m <= 4 && !p.direct.deep:
		rows = directStreams
	case m > p.MR:
		rows = 4 * directStreams
	}
	return max(directStreams, rows/p.KU)
}

const (
	edgeSteps = 128 // of a piece of edge
	mostWords = 32  // in a step of the widest tile that a direct has
)
