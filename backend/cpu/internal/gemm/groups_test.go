package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/widen"
	"matladder/internal/bfloat16"
)

// FuzzGroups packs and multiplies random shapes on every path: codes of all values, and scales whose
// products and sums are exact. The tile stores to rows of c that end where nobody may write.
func FuzzGroups(f *testing.F) {
	for size := range uint8(4) {
		f.Add(uint64(size), size, uint8(1), uint8(1), uint16(1), uint8(0))
		f.Add(uint64(size), size, uint8(24), uint8(64), uint16(256), uint8(16))
		f.Add(uint64(size), size, uint8(35), uint8(70), uint16(401), uint8(3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size, m, n uint8, k uint16, kilobytes uint8) {
		r := rand.New(rand.NewPCG(seed, 13))
		for _, isa := range Supported() {
			p := For(isa).Groups(16 << (size % 4))
			if p == nil { // in Go
				continue
			}
			p.blocking.steps, p.blocking.bytes = 1+int(kilobytes), int(kilobytes)<<10
			checkGroups(t, r, p, 1+int(m)%60, 1+int(n)%110, 1+int(k)%600)
			dot := dotPairs
			if p.bias != nil {
				dot = dotQuads
			}
			p.tile, p.Name = groupsInGo(p.MR, p.NR, p.headA, dot), p.Name+", in Go"
			checkGroups(t, r, p, 1+int(m)%60, 1+int(n)%110, 1+int(k)%600)
		}
	})
}

// groupsInGo returns the twin of the tiles of panels of mr and nr lanes, whose groups begin with head
// words of a; dot multiplies words.
func groupsInGo(mr, nr, head int, dot func(a, b uint32) int32) groupTile {
	return func(c *float32, ldc, groups int, a, b *uint32, _ uintptr, rows, turns int, accumulate bool) {
		steps := turns * groupTurn
		av, bv, cv := span(a, groups*(head+steps)*mr-mr/2), span(b, groups*(1+steps)*nr), span(c, (rows-1)*ldc+nr)
		for i := range rows {
			for j := range nr {
				var sum float32
				if accumulate {
					sum = cv[i*ldc+j]
				}
				for g := range groups {
					a, b := av[g*(head+steps)*mr:], bv[g*(1+steps)*nr:]
					var s int32
					if head > 1 {
						s = int32(a[mr+i])
					}
					for l := range steps {
						s += dot(a[(head+l)*mr+i], b[(1+l)*nr+j])
					}
					sum += float32(s) * math.Float32frombits(b[j]) * math.Float32frombits(a[i])
				}
				cv[i*ldc+j] = sum
			}
		}
	}
}

func dotPairs(a, b uint32) int32 {
	return int32(int16(a))*int32(int16(b)) + (int32(a)>>16)*(int32(b)>>16)
}

func checkGroups(t *testing.T, r *rand.Rand, p *Groups, m, n, k int) {
	t.Helper()
	groups, lda, ldb, ldc := ceil(k, p.Size), k+r.IntN(3), n+r.IntN(3), n+r.IntN(40)
	a, b := fenced[int8](t, (m-1)*lda+k), fenced[int8](t, (k-1)*ldb+n)
	c := fenced[float32](t, (m-1)*ldc+n)
	for _, codes := range [][]int8{a, b} {
		for i := range codes {
			codes[i] = int8(r.Uint32())
		}
	}
	scales := func(lanes int) []float32 {
		s := make([]float32, groups*lanes)
		for i := range s {
			s[i] = []float32{0.5, 1, -1}[r.IntN(3)]
		}
		return s
	}
	sa, sb, accumulate := scales(m), scales(n), r.IntN(2) == 0
	want := make([]float32, len(c))
	for i := range c {
		c[i] = float32(r.IntN(100))
		want[i] = c[i]
	}
	for i := range m {
		for j := range n {
			var sum float32
			if accumulate {
				sum = want[i*ldc+j]
			}
			for l := range k {
				g := l / p.Size
				sum += float32(a[i*lda+l]) * float32(b[l*ldb+j]) * sa[i*groups+g] * sb[g*n+j]
			}
			want[i*ldc+j] = sum
		}
	}
	apart := p.PanelB(k) + r.IntN(3)*64
	pa, pb := memory.NewBuffer(ceil(m, p.MR)*p.PanelA(k)), memory.NewBuffer((ceil(n, p.NR)-1)*apart+p.PanelB(k))
	for i := range pb {
		pb[i] = byte(r.Uint32())
	}
	p.PackA(pa, a, lda, m, k, func(to []float32, row, group int) {
		for i := range to {
			to[i] = sa[(row+i)*groups+group]
		}
	})
	p.PackB(pb, apart, b, ldb, k, n, func(to []float32, column, group int) { copy(to, sb[group*n+column:]) })
	for j := 0; j < n; j += p.NR { // panels follow each other where they are multiplied
		copy(pb[j/p.NR*p.PanelB(k):], pb[j/p.NR*apart:][:p.PanelB(k)])
	}
	p.Multiply(c, ldc, m, n, k, k, pa, pb, accumulate)
	for i := range c {
		if c[i] != want[i] {
			t.Fatalf("%s, %d×%d, k %d in groups of %d: element %d is %v, want %v", p.Name, m, n, k, p.Size, i, c[i], want[i])
		}
	}
}

// BenchmarkGroups compares groups with a product of the same codes that has none.
func BenchmarkGroups(b *testing.B) {
	for _, isa := range Supported() {
		if isa == Generic {
			continue
		}
		for _, n := range []int{256, 1024} {
			plain := For(isa).Int8
			benchBlock(b, plain, n)
			for _, size := range []int{16, 32, 128} {
				p := For(isa).Groups(size)
				pa, pb, c := memory.NewBuffer(ceil(n, p.MR)*p.PanelA(n)), memory.NewBuffer(ceil(n, p.NR)*p.PanelB(n)), make([]float32, n*n)
				ones := func(to []float32, _, _ int) {
					for i := range to {
						to[i] = 1
					}
				}
				p.PackA(pa, randomSource[int8](n*n), n, n, n, ones)
				p.PackB(pb, p.PanelB(n), randomSource[int8](n*n), n, n, n, ones)
				b.Run(fmt.Sprintf("%s/%d/%d", p.Name, size, n), func(b *testing.B) {
					reportRate(b, plain, n, n, n, best(b, func() { p.Multiply(c, n, n, n, n, n, pa, pb, false) }))
				})
			}
		}
	}
}

// FuzzInGroups multiplies few rows by codes of four bits in groups that have scales, read in place:
// random shapes, from within a group on, with rows of b that end where nobody may read. Sums are exact.
func FuzzInGroups(f *testing.F) {
	for size := range uint8(3) {
		f.Add(uint64(size), size, uint8(1), uint8(64), uint16(64), uint8(0))
		f.Add(uint64(size), size, uint8(3), uint8(130), uint16(47), uint8(7))
		f.Add(uint64(size), size, uint8(16), uint8(34), uint16(129), uint8(20))
		f.Add(uint64(size), size, uint8(30), uint8(200), uint16(100), uint8(1))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size, m, n uint8, k uint16, first uint8) {
		r := rand.New(rand.NewPCG(seed, 17))
		for _, isa := range Supported() {
			table := For(isa).PairsBFloat16
			if table == nil {
				continue
			}
			for name, p := range table.InGroups {
				loop := widen.Generic.Int4
				if name != "int4" {
					loop = widen.Generic.Float4
				}
				checkInGroups(t, r, table, p, loop, 1+int(m)%40, 2*(1+int(n)%100), 1+int(k)%300, 16<<(size%3), int(first)*2)
			}
		}
	})
}

func checkInGroups(t *testing.T, r *rand.Rand, path *MicroKernels[uint16, float32], p *InPlace[float32], loop func(dst []uint16, src []byte, off, ahead int), m, n, k, size, first int) {
	t.Helper()
	first %= size
	lda, ldb, ldc, off := k+r.IntN(3), n+2*r.IntN(3), n+r.IntN(40), 2*r.IntN(3)
	a, b, c := make([]uint16, m*lda), fenced[byte](t, (off+(k-1)*ldb+n)/2), fenced[float32](t, (m-1)*ldc+n)
	for i := range a {
		a[i] = bfloat16.Round(float32(r.IntN(33) - 16))
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	groups := ceil(first+k, size)
	scales := make([]float32, groups*n)
	for i := range scales {
		scales[i] = []float32{0.5, 1, -1, 4}[r.IntN(4)]
	}
	accumulate, want := r.IntN(2) == 0, make([]float32, len(c))
	for i := range c {
		c[i] = float32(r.IntN(100))
		want[i] = c[i]
	}
	row := make([]uint16, n)
	for l := range k {
		loop(row, b, off+l*ldb, 0)
		for i := range m {
			for j, code := range row {
				if l == 0 && !accumulate {
					want[i*ldc+j] = 0
				}
				want[i*ldc+j] += bfloat16.Widen(a[i*lda+l]) * bfloat16.Widen(code) * scales[(first+l)/size*n+j]
			}
		}
	}
	pa := memory.NewBuffer(path.SizeA(m, k))
	path.PackA(pa, a, lda, m, k)
	p.Block(c, ldc, m, n, k, pa, b, off, ldb, accumulate, nil, GroupsOfB{first, size, func(to []float32, column, group int) { copy(to, scales[group*n+column:]) }})
	for i := range c {
		if c[i] != want[i] {
			t.Fatalf("%s, %d×%d, k %d in groups of %d from %d on: element %d is %v, want %v", p.Name, m, n, k, size, first, i, c[i], want[i])
		}
	}
}

// BenchmarkInGroups multiplies few rows by codes of four bits, of 1024 rows.
func BenchmarkInGroups(b *testing.B) {
	table := For(Detect()).PairsBFloat16
	if table == nil {
		b.Skip("no pairs of bfloat16")
	}
	const n, k = 1024, 4096
	for _, m := range []int{1, 2, 4, 6, 8, 12, 16} {
		p, codes, c := table.InGroups["float4_e2m1fn"], make([]byte, k*n/2), make([]float32, m*n)
		a := randomSource[uint16](m * k)
		pa := memory.NewBuffer(table.SizeA(m, k))
		table.PackA(pa, a, k, m, k)
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			reportRate(b, table, m, n, k, best(b, func() {
				p.Block(c, n, m, n, k, pa, codes, 0, n, false, nil, GroupsOfB{0, 32, func([]float32, int, int) {}})
			}))
		})
	}
}
