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
	steps  int  // that a tile runs over, if asked for; 0 for directSteps's own
	wider  bool // of tiles for few rows of a that take as long, the widest is the best
	deep   bool // it runs over more steps for few rows of a too
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

// of is the tile for m rows and n columns, of which it may take several: that which takes the fewest
// cycles for each column of a step, if a cycle loads two vectors or words or multiplies two vectors.
func (d *directKernel[C]) of(m, n int) (best directTile[C]) {
	least := 0
	for i, t := range d.tiles {
		vectors, turns := i+1, ceil(m, t.rows)
		rows := ceil(m, turns)
		if cycles := turns * max(rows*vectors, rows+2*vectors) * (840 / vectors); i == 0 || cycles < least || cycles == least && d.wider && turns == 1 && m <= 6 {
			best, least = t, cycles
		}
		if t.cols >= n {
			break
		}
	}
	return best
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

// A direct computes the rows×cols corner of one register tile like a tile but takes b from rows of
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
// Few sums are kept in parts, as tiles of AVX2 keep them. Of several vectors of columns, only the
// last may be cut off. Meanwhile each step asks for the memory ahead bytes behind what it reads of
// b, which need not be b's. Those of AVX2 that widen b read all columns, whatever cols is. Sums
// start from zero, but those of quads of AVX-512 from a bias, if it is not nil.
type direct[C Sum] func(c *C, ldc, steps int, a *uint32, lda, step int, b unsafe.Pointer, ldb, ahead, rows, cols int, bias *C, accumulate bool)

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
	x := directBlock[S, C]{MicroKernels: p, c: c, ldc: ldc, m: m, k: k, a: p.left(r, m, k), b: b, ldb: ldb, far: r.Far, accumulate: accumulate, work: directWorks.Get().(*directWork)}
	if p.kernel.tape == nil {
		defer directWorks.Put(x.work)
	}
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

// run multiplies columns j0 … j1-1 over steps s0 … s1-1. Where b stays in L2 it is gone over for a
// tile's rows of a after another, so that c is written along its rows.
func (x *directBlock[S, C]) run(j0, j1, s0, s1 int) {
	if j0 >= j1 || s0 >= s1 {
		return
	}
	x.begin(s0, s1-s0)
	chunk := x.directSteps(x.m, (s1-s0)*x.KU, x.ldb, x.far)
	wide, band := x.direct.of(x.m, j1-j0), x.m
	if x.near(x.k, x.ldb) {
		band = x.rowsOf(wide)
	}
	for s := s0; s < s1; s += chunk {
		for i := 0; i < x.m; i += band {
			steps, tile := min(chunk, s1-s), wide
			for j := j0; j < j1; j += tile.cols {
				if left := j1 - j; left < tile.cols {
					if x.direct.whole {
						if i == 0 {
							x.edge(j, left, s, steps)
						}
						break
					}
					tile = x.direct.of(band, left)
				}
				x.column(tile, i, min(i+band, x.m), j, min(tile.cols, j1-j), s, steps, x.ahead(j1-j, chunk))
			}
		}
	}
}

// near reports whether a b of k rows that lie ldb elements apart stays in L2.
func (p *MicroKernels[S, C]) near(k, ldb int) bool {
	return k*ldb*memory.Size[S]() <= p.host.L2OrUsual()/2
}

// rowsOf is how many rows of a a tile takes at once: about equal parts of all, or of a panel.
func (x *directBlock[S, C]) rowsOf(tile directTile[C]) int {
	rows := x.m
	if x.a.packed {
		rows = min(rows, x.MR)
	}
	if rows <= tile.rows {
		return rows
	}
	return even(rows, tile.rows)
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

// column multiplies cols columns by rows i0 … i1-1 of a.
func (x *directBlock[S, C]) column(tile directTile[C], i0, i1, j, cols, s, steps, ahead int) {
	b, ldb, accumulate := at(x.b, s*x.KU*x.ldb+j), x.ldb*memory.Size[S](), x.accumulate || s > 0
	rows := x.rowsOf(tile)
	for i := i0; i < i1; i += rows {
		a := offset(x.a.at(i/x.MR, s), i%x.MR*x.a.row)
		tile.run(&x.c[i*x.ldc+j], x.ldc, steps, a, x.a.row, x.a.step, b, ldb, ahead, min(rows, i1-i), cols, x.bias.at(i, s), accumulate)
	}
}

// edge is column for what a tile must not read where it lies, as that ends before
// the tile's columns or before the rows of a step: it is packed, a piece at a time.
func (x *directBlock[S, C]) edge(j, cols, s, steps int) {
	panel := x.work.panel[:]
	for end := s + steps; s < end; s += edgeSteps {
		x.piece(j, cols, s, min(edgeSteps, end-s), panel, &ahead{at: address(&panel[0])})
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
	case p.near(k, ldb) && !(short && far):
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
