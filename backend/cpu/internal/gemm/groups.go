package gemm

import (
	"sync"
	"unsafe"

	"matladder/backend/cpu/internal/gemm/pack"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/probe"
)

// Groups multiplies int8 whose groups of Size elements along k have scales:
//
//	c[i, j] = Σ float32(Σ a[i, l]·b[l, j]) · scale of column j · scale of row i
//
// where the inner sum is over a group, and the outer one, in float32, over groups. Panels have the
// scales of their lanes ahead of each group, so that a micro-kernel reads memory forward only.
type Groups struct {
	Name   string // instruction set, tile and format
	Format string
	MR, NR int
	Size   int

	ku           int // elements in a word
	headA, headB int // words of a lane ahead of a group
	tile         groupTile
	bias         func(dst, a *uint32, steps int) // what sums start from, of a panel of a; nil for zero
	packA, packB pack.Packer[int8]
	blocking     blocking
}

// A groupTile adds some groups to rows×NR of c, or stores them, for as many rows of a panel of a as half
// of it has, at most. A group has turns times four steps; next is as a tile's.
type groupTile func(c *float32, ldc, groups int, a, b *uint32, next uintptr, rows, turns int, accumulate bool)

const groupTurn = 4 // steps

// Groups are those of groups of size elements; nil where no micro-kernel has them.
func (k *Kernels) Groups(size int) *Groups {
	if k.groups == nil || size%(groupTurn*k.groups.ku) != 0 {
		return nil
	}
	g := *k.groups
	g.Size = size
	return &g
}

func newGroups(host probe.HostInfo, s shape[int32], format string, tile groupTile, sides pack.Sides[int8]) *Groups {
	p := newPath(host, s, format, sides)
	g := &Groups{Name: p.Name + " in groups", Format: format + " in groups", MR: s.mr, NR: s.nr, ku: p.KU, headA: 1, headB: 1,
		tile: tile, bias: s.kernel.bias, packA: sides.A, packB: sides.B, blocking: p.blocking}
	if g.bias != nil {
		g.headA = 2
	}
	return g
}

func (p *Groups) wordsA() int { return p.headA + p.Size/p.ku }
func (p *Groups) wordsB() int { return p.headB + p.Size/p.ku }

// PanelA and PanelB are the bytes of one panel k elements deep.
func (p *Groups) PanelA(k int) int { return p.MR * ceil(k, p.Size) * p.wordsA() * wordBytes }
func (p *Groups) PanelB(k int) int { return p.NR * ceil(k, p.Size) * p.wordsB() * wordBytes }

// PackA packs the m×k matrix with elements src[i*ld+l]; scales sets its argument to those of a group,
// of rows from one on.
func (p *Groups) PackA(dst []byte, src []int8, ld, m, k int, scales func(to []float32, row, group int)) {
	group := p.wordsA() * p.MR
	for i := 0; i < m; i += p.MR {
		rows := min(p.MR, m-i)
		for g := 0; g*p.Size < k; g++ {
			to := words(dst, group*wordBytes)
			clear(to)
			scales(memory.View[float32](dst)[:rows], i, g)
			steps := to[p.headA*p.MR:]
			p.packA.Rows(steps, src[i*ld+g*p.Size:], ld, rows, min(p.Size, k-g*p.Size))
			if p.bias != nil {
				p.bias(&to[p.MR], &steps[0], p.Size/p.ku)
			}
			dst = dst[group*wordBytes:]
		}
	}
}

// PackB packs the k×n matrix with elements src[l*ld+j] to panels that lie panel bytes apart.
func (p *Groups) PackB(dst []byte, panel int, src []int8, ld, k, n int, scales func(to []float32, column, group int)) {
	for g := 0; g*p.Size < k; g++ {
		from := g * p.wordsB() * p.NR * wordBytes
		to := words(dst[from:], (ceil(n, p.NR)-1)*panel+p.wordsB()*p.NR*wordBytes)
		for j := 0; j < n; j += p.NR {
			scales(memory.View[float32](memory.BytesOf(to[j/p.NR*panel/wordBytes:]))[:min(p.NR, n-j)], j, g)
		}
		p.packB.Columns(to[p.headB*p.NR:], panel/wordBytes, src[g*p.Size*ld:], ld, n, min(p.Size, k-g*p.Size))
	}
}

// Blocking is how Multiply divides m rows of A, n columns of B and k elements.
func (p *Groups) Blocking(m, n, k int) (kc, mc, nc int) {
	most := max(1, p.blocking.steps/p.wordsB())
	run := even(max(1, ceil(k, p.Size)), most)
	piece := max(1, p.blocking.bytes/(run*p.MR*p.wordsA()*wordBytes)) * p.MR
	return run * p.Size, piece, n
}

// Multiply multiplies packed a (m×k) by packed b (k×n), whose panels are depth deep, into the m×n
// corner of c, or adds to it.
func (p *Groups) Multiply(c []float32, ldc, m, n, k, depth int, a, b []byte, accumulate bool) {
	c = extent(c, m, n, ldc)
	if nothing(c, ldc, m, n, k, accumulate) {
		return
	}
	groups, panelA, panelB := ceil(k, p.Size), p.PanelA(k), p.PanelB(depth)
	run, piece, _ := p.Blocking(m, n, k)
	run /= p.Size
	at := func(panels []byte, panel int) *uint32 { return (*uint32)(unsafe.Pointer(&panels[panel])) }
	a, b = first(a, ceil(m, p.MR)*panelA), first(b, (ceil(n, p.NR)-1)*panelB+p.PanelB(k))
	for g := 0; g < groups; g += run {
		count, fromA, fromB := min(run, groups-g), p.PanelA(g*p.Size), p.PanelB(g*p.Size)
		for i0 := 0; i0 < m; i0 += piece {
			for j := 0; j < n; j += p.NR {
				next := address(at(b, fromB+(j+p.NR)%(ceil(n, p.NR)*p.NR)/p.NR*panelB))
				for i := i0; i < min(i0+piece, m); i += p.MR / 2 {
					from := offset(at(a, i/p.MR*panelA+fromA), i%p.MR*wordBytes)
					p.corner(c[i*ldc+j:], ldc, count, from, at(b, j/p.NR*panelB+fromB), next, min(p.MR/2, m-i), min(p.NR, n-j), accumulate || g > 0)
					next += uintptr(count * p.Size / p.ku * prefetchedPerStep)
				}
			}
		}
	}
}

// groupSums are those of a tile whose columns are no whole panel.
var groupSums = sync.Pool{New: func() any { return new([6 * 32]float32) }}

// corner is the tile of any columns: those of no whole panel go by way of a copy.
func (p *Groups) corner(c []float32, ldc, groups int, a, b *uint32, next uintptr, rows, cols int, accumulate bool) {
	turns := p.Size / p.ku / groupTurn
	if cols == p.NR {
		p.tile(&c[0], ldc, groups, a, b, next, rows, turns, accumulate)
		return
	}
	sums := groupSums.Get().(*[6 * 32]float32)
	defer groupSums.Put(sums)
	p.tile(&sums[0], p.NR, groups, a, b, next, rows, turns, false)
	storeSums(c, ldc, sums[:], p.NR, rows, cols, accumulate)
}
