package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/probe"
)

// A directKernel is the micro-kernel of a path on a b that is not packed.
type directKernel[C Sum] struct {
	tile direct[C] // nil if there is none, and all is 0
	rows int       // of its tile; a panel of a may take more than one
	pays int       // rows of a up to which it is faster than packing b
}

// A direct computes the rows×cols corner of one register tile like a tile
// without bias, but takes b from rows of a matrix that are ldb bytes apart,
// KU of them a step:
//
//	for i := range rows {
//		for j := range cols {
//			s := 0
//			for l := range steps {
//				s += dot(a[l*MR+i], word(b[(l*KU)*ldb+j], …, b[(l*KU+KU-1)*ldb+j]))
//			}
//			if accumulate {
//				s += c[i*ldc+j]
//			}
//			c[i*ldc+j] = s
//		}
//	}
type direct[C Sum] func(c *C, ldc, steps int, a *uint32, b unsafe.Pointer, ldb, rows, cols int, accumulate bool)

// DirectRows is the number of rows of a up to which BlockDirect is faster than
// PackB and Block of the same product, as measured with b in L3 and in memory;
// 0 where BlockDirect may not be called. Where a packed b serves more rows than
// those of one block, they count together.
func (p *Path[S, C]) DirectRows() int { return p.direct.pays }

// BlockDirect is Block with a b that is not packed: its element (l, j) is
// b[l*ldb+j]. Any number of rows is right; it pays up to DirectRows, as packing
// b would take longer than multiplying it.
func (p *Path[S, C]) BlockDirect(c []C, ldc, m, n, k int, a []byte, b []S, ldb int, accumulate bool) {
	if p.direct.tile == nil || m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("gemm: BlockDirect of %d×%d, k %d, on %s", m, n, k, p.Name))
	}
	c, b = extent(c, m, n, ldc), extent(b, k, n, ldb)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		p.Block(c, ldc, m, n, k, a, nil, accumulate)
		return
	}
	whole, chunk := k/p.KU, p.directSteps(m, n, k)
	words, panel := words(a, p.SizeA(m, k)), p.PanelA(k)/wordBytes
	column := func(j, s, steps int, b unsafe.Pointer, ldb, cols int) {
		for i := 0; i < m; i += p.MR {
			for r := i; r < min(i+p.MR, m); r += p.direct.rows {
				p.direct.tile(&c[r*ldc+j], ldc, steps, &words[i/p.MR*panel+s*p.MR+r-i], b, ldb*size[S](),
					min(p.direct.rows, i+p.MR-r, m-r), cols, accumulate || s > 0)
			}
		}
	}
	for s := 0; s < whole; s += chunk {
		for j := 0; j < n; j += p.NR {
			column(j, s, min(chunk, whole-s), at(b, s*p.KU*ldb+j), ldb, min(p.NR, n-j))
		}
	}
	rest := k - whole*p.KU
	if rest == 0 {
		return
	}
	// The rows of the last step are joined by rows of zeros.
	var last [mostWords * wordBytes]S
	for j := 0; j < n; j += p.NR {
		cols := min(p.NR, n-j)
		for l := range rest {
			copy(last[l*p.NR:][:cols], b[(whole*p.KU+l)*ldb+j:])
		}
		column(j, whole, 1, at(last[:], 0), p.NR, cols)
	}
}

// directSteps is how many steps a tile runs over before the next columns get
// their turn, as measured. Deep runs mean few passes over c. But each of their
// rows of b is a stream of its own, and processors follow about sixteen: for
// few rows of a, or a b in memory, that is worth more.
func (p *Path[S, C]) directSteps(m, n, k int) int {
	const deep, streams = 128, 16
	inMemory := k*n*size[S]() > probe.Host().L3
	if p.KU == 1 && (m <= 4 || m <= p.MR && inMemory) {
		return streams
	}
	return deep
}

// mostWords is the width of the widest tile that a direct has.
const mostWords = 32
