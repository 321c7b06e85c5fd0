package gemm

import (
	"fmt"
	"unsafe"

	"matladder/backend/cpu/internal/probe"
)

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

// CanDirect reports whether BlockDirect may be called.
func (p *Path[S, C]) CanDirect() bool { return p.direct != nil }

// BlockDirect is Block with a b that is not packed: its element (l, j) is
// b[l*ldb+j]. It pays where a has so few rows that packing b, which reads and
// writes it once, would take longer than multiplying it.
func (p *Path[S, C]) BlockDirect(c []C, ldc, m, n, k int, a []byte, b []S, ldb int, accumulate bool) {
	if p.direct == nil || m < 0 || n < 0 || k < 0 {
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
	words, panel := words(a, p.SizeA(m, k)), p.PanelA(k)/wordBytes
	whole, chunk := k/p.KU, p.directSteps(m, n, k)
	for s := 0; s < whole; s += chunk {
		steps := min(chunk, whole-s)
		for j := 0; j < n; j += p.NR {
			for i := 0; i < m; i += p.MR {
				p.direct(&c[i*ldc+j], ldc, steps, &words[i/p.MR*panel+s*p.MR], at(b, s*p.KU*ldb+j), ldb*size[S](),
					min(p.MR, m-i), min(p.NR, n-j), accumulate || s > 0)
			}
		}
	}
	if k%p.KU == 0 {
		return
	}
	// The last row has no partner: it gets one of zeros.
	var pair [2 * mostColumns]S
	for j := 0; j < n; j += p.NR {
		cols := copy(pair[:min(p.NR, n-j)], b[(k-1)*ldb+j:])
		for i := 0; i < m; i += p.MR {
			p.direct(&c[i*ldc+j], ldc, 1, &words[i/p.MR*panel+whole*p.MR], at(pair[:], 0), mostColumns*size[S](),
				min(p.MR, m-i), cols, accumulate || whole > 0)
		}
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

// mostColumns is the widest tile that a direct has.
const mostColumns = 32
