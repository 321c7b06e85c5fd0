package blocking

import (
	"matladder/problem"
	"matladder/tile"
)

// model is what the time of a block shape follows from: a problem on a machine.
type model struct {
	batch       int
	m, k, n     int
	a, b, c     float64 // bytes of an element of each array
	accumulator float64 // bytes of an element of a sum
	workers     int
	cores       *tile.Cores
	rate        tile.ProductRate
	readsA      bool // rows of a are not packed
	readsB      bool // b is not packed
	packedB     bool // b is packed ahead of launches
}

// newModel is false where the machine does not say how fast it multiplies the operands
// of p.
func newModel(p problem.Matmul, m tile.Machine) (*model, bool) {
	if m.Cores == nil {
		return nil, false
	}
	a, b := p.Factors()
	rate := m.Cores.Rates[a]
	x := &model{
		batch: max(1, p.Batch), m: p.M, k: p.K, n: p.N, a: bytesOf(p.A), b: bytesOf(p.B), c: bytesOf(p.Out), accumulator: bytesOf(p.Acc),
		workers: max(1, m.Parallel), cores: m.Cores, rate: rate,
	}
	x.readsA = p.A == a && p.N <= rate.InPlace && p.K%max(1, rate.Depth) == 0 && !sameSet(p.K*int(x.a))
	x.packedB = m.PackedB
	x.readsB = p.M <= rate.Direct && !x.packedB
	return x, a == b && rate.FLOPs > 0
}

func bytesOf(d tile.Dtype) float64 { return float64(d.Bits()) / 8 }

// sameSet reports whether lines that lie so many bytes apart fall into one set of a
// first-level cache, whose ways are 4 KiB.
func sameSet(bytes int) bool { return bytes%4096 == 0 }

// A block is one of c and what it takes.
type block struct {
	product      float64 // seconds, with packed operands at hand
	packA, packB float64 // seconds to pack the operands' blocks
	packers      int     // workers that find something to do where a block of b is packed together
	pass         float64 // seconds of the part of product during which b comes for the first time
	fetchB       float64 // seconds in which a packed b comes from where others have packed it
	rewriteB     float64 // seconds to write a packed b over one that others have read
	uneven       float64 // seconds that its worker may be behind others
}

// unit is the bytes of a block of b that one worker packs at once.
const unit = 64 << 10

// block is what a block of rows by cols takes over all of k.
func (x *model) block(s tile.Blocks, rows, cols int) block {
	r, l2 := x.rate, float64(x.cores.L2)
	k, depth := float64(x.k), float64(min(s.K, x.k))
	sizeA, sizeB := float64(rows)*k*x.a, float64(cols)*k*x.b
	compute := 2 * wholeRows(rows, r.Rows) * wholeColumns(cols, r.Columns) * k / r.FLOPs
	var b block
	if x.readsB {
		// Rows of b come from beyond the core's own cache, or from memory with all others.
		b.product = together(compute, float64(x.k)*(float64(cols)*x.b+latency)/x.source())
	} else {
		// Pieces of a stay in the core's own cache while all of the block of b passes. Its
		// panels come into the first-level cache for each, and from farther if the second
		// does not hold them.
		passes := max(1, float64(rows)*depth*x.a/(l2*3/8))
		b.pass = compute / passes
		b.product = compute + passes*sizeB/x.cores.Shared
		switch {
		case x.packedB:
			// It comes from where it is kept for all launches, and no two cores get quite the
			// same of what memory gives: who has less work left takes from the others.
			move := sizeB / x.source()
			b.product, b.uneven = together(b.product, move), tile.Exposed*move
		case sizeB*depth/k > l2/2:
			b.product = together(compute, passes*sizeB/r.Fetch)
		}
		if !x.packedB {
			b.packB, b.packers, b.fetchB, b.rewriteB = x.packing(sizeB, cols, depth/k)
		}
	}
	if !x.readsA {
		b.packA = sizeA / r.PackA
	}
	// Sums that a block keeps from step to step along k go out and in once a step, and beside
	// the operands they do not stay in the core's own cache.
	if steps := float64(tile.Ceil(x.k, s.K)); steps > 1 {
		b.product += steps * (4*float64(rows*cols)*x.accumulator/x.cores.Shared + x.cores.Task)
	}
	b.product += x.writes(rows, cols) + x.cores.Task
	return b
}

// packing is what packing a block of b takes, of so many bytes, of which steps along k have a
// part.
func (x *model) packing(size float64, cols int, part float64) (pack float64, packers int, fetch, rewrite float64) {
	r := x.rate
	pack = size * (1 + segment/(float64(cols)*x.b)) / min(r.PackB, x.source())
	if size*part > float64(x.cores.L2)/2 {
		pack += size / x.cores.Shared // it leaves the core's own cache again
	}
	fetch = size / r.Fetch
	if c := x.cores; c.ReadOthers > 0 && c.WriteOthers > 0 {
		fetch, rewrite = max(fetch, size/c.ReadOthers), size/c.WriteOthers
	}
	return pack, max(1, int(size/unit)), fetch, rewrite
}

// source is the bytes/s at which a core reads b where it lies.
func (x *model) source() float64 {
	if float64(x.k)*float64(x.n)*x.b > float64(x.cores.L3) {
		return min(x.cores.Shared, x.cores.Memory/float64(x.workers))
	}
	return x.cores.Shared
}

// latency is what beginning another row of a b that is not packed costs, in bytes that
// would come meanwhile if it were the same row: nobody has asked for it ahead.
const latency = 1024

// segment is what beginning another row of a block costs, in bytes that the caches bring
// meanwhile: the line that only a part of is asked for, and those before the prefetchers
// have seen where it goes.
const segment = 128

// writes is the time of writing a block of c, and of rounding it first where its elements
// are narrower than sums.
func (x *model) writes(rows, cols int) float64 {
	bytes := 2 * float64(rows) * (float64(cols)*x.c + segment) // a line is read before it is written
	if x.c == x.accumulator {
		return tile.Exposed * bytes / x.cores.Shared
	}
	return (bytes + 2*float64(rows*cols)*x.accumulator) / x.cores.Shared
}

// together is the time of computing and moving that go on at the same time.
func together(compute, move float64) float64 {
	return max(compute, move) + tile.Exposed*min(compute, move)
}

// wholeRows is as many rows as rows cost: the last register tile, if rows are no whole
// number of them, costs more than its share.
func wholeRows(rows, tile int) float64 {
	rest := rows % tile
	if rest == 0 {
		return float64(rows)
	}
	return float64(rows-rest) + float64(rest+tile)/2
}

// wholeColumns is likewise for columns, in halves of a register tile: a vector.
func wholeColumns(cols, tile int) float64 {
	half := max(1, tile/2)
	whole := (cols + half - 1) / half * half
	if whole%tile != 0 {
		return float64(whole) + 0.25*float64(half)
	}
	return float64(whole)
}
