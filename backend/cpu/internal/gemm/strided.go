package gemm

// Strided multiplies matrices of float32 where they lie: neither is packed.
type Strided struct {
	MR, NR int // rows and columns of its register tile
	tile   strided
	row    strided // of one row
}

// A strided is a tile of rows of its own by NR columns, with operands where they lie: rows of a
// are lda bytes apart, those of b ldb.
type strided func(c *float32, ldc, steps int, a *float32, lda int, b *float32, ldb int, accumulate bool)

// CanRead reports whether b can be read in a way: by loops in Go on every machine, by vectors
// where there are some.
func (x *Strided) CanRead(read ReadB) bool {
	return read == ReadLoops || read == ReadRows || read.Strided() && x.tile != nil
}

// Strided reports whether this is a way of Strided.
func (r ReadB) Strided() bool { return r >= ReadLoops }

// Routine is the micro-kernel of a way, as Routine of MicroKernels.
func (x *Strided) Routine(read ReadB) string {
	if f, ok := map[ReadB]strided{ReadVectors: x.row, ReadRegisters: x.tile}[read]; ok {
		return nameOf(f)
	}
	return ""
}

// Multiply computes the m×n matrix c = a·b, or c += a·b if accumulate, over k elements. Rows lie
// lda, ldb and ldc elements apart. Columns behind whole register tiles go the way of ReadRows.
func (x *Strided) Multiply(read ReadB, c []float32, ldc, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool) {
	c, a, b = extent(c, m, n, ldc), extent(a, m, k, lda), extent(b, k, n, ldb)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	whole := 0
	switch read {
	case ReadLoops:
		loops(c, ldc, m, n, k, a, lda, b, ldb, accumulate)
		return
	case ReadVectors, ReadRegisters:
		whole = n / x.NR * x.NR
	}
	for i := 0; i < m && whole > 0; {
		tile, rows := x.row, 1
		if read == ReadRegisters && m-i >= x.MR {
			tile, rows = x.tile, x.MR
		}
		for j := 0; j < whole; j += x.NR {
			tile(&c[i*ldc+j], ldc, k, &a[i*lda], lda*wordBytes, &b[j], ldb*wordBytes, accumulate)
		}
		i += rows
	}
	if whole < n {
		rowLoops(c[whole:], ldc, m, n-whole, k, a, lda, b[whole:], ldb, accumulate)
	}
}

// loops are the three of a textbook: each element of c is a dot product, which goes down a
// column of b.
func loops(c []float32, ldc, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool) {
	for i := range m {
		row := a[i*lda:][:k]
		for j := range n {
			s, at := float32(0), j
			for _, x := range row {
				s += x * b[at]
				at += ldb
			}
			if accumulate {
				s += c[i*ldc+j]
			}
			c[i*ldc+j] = s
		}
	}
}

// rowLoops are the same loops in another order: the innermost goes along a row of b and one
// of c.
func rowLoops(c []float32, ldc, m, n, k int, a []float32, lda int, b []float32, ldb int, accumulate bool) {
	for i := range m {
		to := c[i*ldc:][:n]
		if !accumulate {
			clear(to)
		}
		for l, x := range a[i*lda:][:k] {
			from := b[l*ldb:][:len(to)]
			for j := range to {
				to[j] += x * from[j]
			}
		}
	}
}
