package blocking

import (
	"math"
	"slices"

	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// cores are workers on cores with caches.
type cores struct {
	*machine.Cores
	workers int
	packedB bool // B is packed ahead of launches
}

// rank is the ranking of cores, for a race: the first may be wrong by some percent.
func (c cores) rank(p problem.Problem, given tile.Blocks) []tile.Blocks {
	switch p := p.(type) {
	case problem.Matmul:
		return c.rankProduct(p, given)
	case problem.MLP: // one product with the columns of both
		list := c.rankProduct(p.Product(2*p.N), tile.Blocks{M: given.M, K: given.K, N: 2 * given.N})
		for i := range list {
			list[i].N = max(list[i].N/2, min(list[i].N, p.N, 64))
		}
		return list
	case problem.Attention:
		return c.rankAttention(p, given)
	}
	return nil
}

// rankProduct lists the first few that differ.
func (c cores) rankProduct(p problem.Matmul, given tile.Blocks) []tile.Blocks {
	const most, within = 5, 1.25
	x, ok := c.product(p)
	if !ok {
		return nil
	}
	ranked := x.search(given)
	times := byTime(ranked, x.seconds)
	var list []tile.Blocks
	for _, b := range ranked {
		if len(list) == most || len(list) > 0 && times[b] > within*times[list[0]] {
			break
		}
		if !slices.ContainsFunc(list, func(c tile.Blocks) bool { return alike(b, c) }) {
			list = append(list, b)
		}
	}
	return list
}

// product is what the time of a block shape follows from: a problem on a machine.
type product struct {
	cores
	batch       int
	m, k, n     int
	a, b, c     float64 // bytes of an element of each array
	accumulator float64 // bytes of an element of a sum
	rate        machine.ProductRate
	readsA      bool    // rows of a are not packed
	readsB      bool    // b is not packed
	arrays      float64 // bytes of all
	shared      float64 // bytes of the cache that cores share: what it does not hold comes from memory
	together    int     // workers that share it
}

// product is false where the machine does not say how fast it multiplies the operands of p.
func (c cores) product(p problem.Matmul) (*product, bool) {
	a, b := p.Factors()
	if a, b = machine.Multiplied(a), machine.Multiplied(b); p.A == tile.Float4E2M1FN && p.B == p.A {
		a, b = tile.Int8, tile.Int8 // twice the numbers are integers
	}
	rate := c.Rates[a]
	x := &product{
		cores: c, batch: max(1, p.Batch), m: p.M, k: p.K, n: p.N, a: bytesOf(p.A), b: bytesOf(p.B), c: bytesOf(p.Out), accumulator: bytesOf(p.Acc), rate: rate,
	}
	x.readsA = p.A == a && p.N <= rate.InPlace && p.K%max(1, rate.Depth) == 0 && !sameSet(p.K*int(x.a))
	x.readsB = p.M <= rate.Direct && !x.packedB
	x.arrays = float64(x.batch) * (float64(x.m)*float64(x.k)*x.a + float64(x.k)*float64(x.n)*x.b + float64(x.m)*float64(x.n)*x.c)
	x.shared = float64(max(c.L3, int64(x.workers)*c.L2))
	if x.together = x.workers; c.L3Cores > 0 {
		x.together = min(x.workers, c.L3Cores)
		x.shared = float64(max(c.L3, int64(x.together)*c.L2))
	}
	if x.arrays <= float64(c.L2)/2 { // each core's own cache has all that it meets, launch after launch
		near := *c.Cores
		near.Shared = max(near.Shared, rate.FLOPs/nearFLOPs*x.b)
		x.Cores = &near
	}
	return x, a == b && rate.FLOPs > 0
}

// nearFLOPs are those that a core does while its own cache brings an element: a cache line a cycle
// at best, half of one for most strides.
const nearFLOPs = 8

func bytesOf(d tile.Dtype) float64 { return float64(d.Bits()) / 8 }

// sameSet reports whether lines that lie so many bytes apart fall into one set of a
// first-level cache, whose ways are 4 KiB.
func sameSet(bytes int) bool { return bytes%4096 == 0 }

// A block is one of c and what it takes.
type block struct {
	product float64 // seconds, with packed operands at hand
	packA   float64 // seconds to pack that of a
	keepsA  bool    // which stays, packed, for the next program of its row
	packB   Packing // of that of b
	uneven  float64 // seconds that its worker may be behind others
}

// pieceOfB and pieceColumns, in bytes and in panels, bound how much of b, if no other rows of
// a meet it, is packed at once: a piece of some columns with all of a step along k.
const pieceOfB, pieceColumns = 2 << 20, 8

// block is what a block of rows by cols takes over all of k. Below says that others meet the
// same block of b, beside the same block of a.
func (x *product) block(s tile.Blocks, rows, cols int, below, beside bool) block {
	r, l2 := x.rate, float64(x.L2)
	k, depth := float64(x.k), float64(min(s.K, x.k))
	sizeA, sizeB := float64(rows)*k*x.a, float64(cols)*k*x.b
	compute := 2 * wholeRows(rows, r.Rows) * wholeColumns(cols, r.Columns, r.Few) * k / r.FLOPs
	pieces, width, chunk := 1.0, float64(cols), sizeB*depth/k // of b that all of a meets one after another
	if most := max(pieceOfB/(depth*x.b), float64(pieceColumns*r.Columns)); !x.readsB && !x.packedB && !below && float64(cols) > most {
		pieces, width, chunk = math.Ceil(float64(cols)/most), most, most*depth*x.b
	}
	var b block
	if x.readsB {
		// Rows of b come from beyond the core's own cache, or from memory with all others.
		b.product = together(compute, (sizeB+k*latency)/x.source()+x.firstLines(k))
	} else {
		// All of b that is packed once for all rows goes to memory, if it and the arrays do not
		// fit the cache that cores share, and comes back.
		leaves := below && x.arrays+x.sizeB() > x.shared
		// Pieces of a stay in the core's own cache while all of the block of b passes.
		passes := max(1, float64(rows)*depth*x.a/(l2*3/8))
		first := compute / passes // part of computing, during which b comes for the first time
		switch b.product = compute + passes*sizeB*x.fetching(chunk); {
		case x.packedB:
			// It comes from where it is kept for all launches, and no two cores get quite the
			// same of what memory gives: who has less work left takes from the others.
			move := sizeB / x.source()
			b.product, b.uneven = together(b.product, move), exposed*move
		case x.beyond(chunk):
			b.product = max(b.product, together(compute, passes*sizeB/x.memory()))
		case leaves:
			b.product += together(first, sizeB/x.memory()) - first
		}
		if !x.packedB {
			b.packB = x.packing(sizeB, chunk, width, leaves)
			b.packB.Hidden = first
		}
	}
	if !x.readsA {
		b.packA = sizeA / min(r.PackA, x.reading(x.arrays))
		if b.keepsA = beside && (x.Kept == 0 || sizeA <= float64(x.Kept)); !b.keepsA && sizeA > l2/2 {
			b.packA *= pieces
		}
		first := compute * min(1, float64(r.Columns)/float64(cols))
		switch step := sizeA * depth / k; {
		case b.keepsA:
			b.product += pieces * x.comingBack(sizeA, chunk, first)
		case beside && step <= float64(x.Kept): // a step along k is packed as a whole
			b.product += pieces * x.comingBack(step, chunk, first*depth/k) * k / depth
		} // or else a piece at a time, which stays
	}
	// Sums that a block keeps from step to step along k go out and in once a step.
	if steps := float64(tile.Ceil(x.k, s.K)); steps > 1 {
		b.product += x.keeping(float64(rows*cols)*x.accumulator, steps) + steps*x.Task
	}
	b.product += x.writes(rows, cols)
	return b
}

// packing is what packing a block of b takes, of so many bytes, of which chunk are packed at
// once, from rows of so many columns; it leaves for memory, or not. Hidden is for the caller.
func (x *product) packing(size, chunk, columns float64, leaves bool) Packing {
	r := x.rate
	rows := size / (columns * x.b)
	p := PackingOf(size, x.CoreToCore)
	p.Fetch = max(p.Fetch, size/r.Fetch)
	p.Alone = (size+rows*segment)/min(r.PackB, x.source()) + x.firstLines(rows)
	switch {
	case leaves:
		p.Alone += 2 * size / x.memory() // lines are read before they are written
	case chunk > float64(x.L2)/2:
		p.Alone += size / x.Shared // it leaves the core's own cache again
	}
	return p
}

// fetching is the seconds for each byte of a packed b that multiplying does not hide, where
// so many bytes pass for each piece of a: the probe's rate of a b that comes from beyond the
// core's own cache, and meets two panels of a, less that of multiplying.
func (x *product) fetching(bytes float64) float64 {
	exposed := max(0, 1/x.rate.Fetch-4*float64(x.rate.Rows)/(x.b*x.rate.FLOPs))
	if bytes <= float64(x.L2)/2 {
		return min(exposed, 1/x.Shared)
	}
	return exposed
}

// comingBack is what a packed block of a takes that does not stay in the core's own cache from when
// it is packed, as so many bytes beside it pass: panels of a piece come back while they meet the
// first panel of b, which takes first seconds, and nothing asks ahead for what comes from memory.
func (x *product) comingBack(size, beside, first float64) float64 {
	switch {
	case size <= float64(x.L2)/2:
		return 0
	case x.beyond(size + beside):
		return size / x.memory()
	}
	return together(first, size/x.Shared) - first
}

// keeping is what so many bytes of sums take that are zeroed, and go in and out at each of
// some steps along k.
func (x *product) keeping(sums, steps float64) float64 {
	moved := sums * (2*steps + 1)
	if x.beyond(sums) {
		return max(moved/x.Shared, exposed*moved/x.memory())
	}
	return moved / x.Shared
}

// beyond reports whether so many bytes of each core, which it goes through again and again,
// leave the cache that cores share to memory; half of it is for what passes through.
func (x *product) beyond(bytes float64) bool { return float64(x.together)*bytes > x.shared/2 }

// memory is the bytes/s that a core reads from memory with all others.
func (x *product) memory() float64 { return min(x.Shared, x.Memory/float64(x.workers)) }

// everywhere is memory, of what all cores read and all nodes have a part of.
func (x *product) everywhere() float64 {
	near := x.memory()
	if x.Nodes < 2 || x.Remote <= 0 {
		return near
	}
	part := 1 / float64(x.Nodes)
	return 1 / (part/near + (1-part)/min(near, x.Remote/(part*float64(x.workers))))
}

// source is the bytes/s at which a core reads b where it lies.
func (x *product) source() float64 { return x.reading(x.sizeB()) }

func (x *product) sizeB() float64 { return float64(x.k) * float64(x.n) * x.b }

// reading is the bytes/s at which a core reads from so many: from memory, if the cache that
// cores share does not hold them.
func (x *product) reading(bytes float64) float64 {
	if bytes > x.shared {
		return x.everywhere()
	}
	return x.Shared
}

// firstLines is how long a core waits for the first lines of so many rows of blocks of b, if
// these come from memory; the rows of one step (Depth of them) come together.
func (x *product) firstLines(rows float64) float64 {
	if x.sizeB() <= x.shared {
		return 0
	}
	return rows / float64(max(1, x.rate.Depth)) * firstLine
}

// firstLine is the seconds until the first line of a row comes from memory, which nobody has asked
// for ahead: most of its latency, which is about 0.1 µs on servers. Of float32 64×4096×6144 on four
// cores of an AMD EPYC (Zen 5), blocks 256, 512 and 1536 columns wide take 6.1, 5.2 and 4.7 ms.
const firstLine = 70e-9

// latency is what beginning another row of a b that is not packed costs besides, in bytes that
// would come meanwhile if it were the same row.
const latency = 1024

// segment is what beginning another row of a block costs, in bytes that the caches bring
// meanwhile: the line that only a part of is asked for, and those before the prefetchers
// have seen where it goes.
const segment = 128

// writes is the time of writing a block of c, and of rounding it first where its elements
// are narrower than sums.
func (x *product) writes(rows, cols int) float64 {
	bytes := 2 * float64(rows) * (float64(cols)*x.c + segment) // a line is read before it is written
	if x.c == x.accumulator {
		return exposed * bytes / x.Shared
	}
	return (bytes + 2*float64(rows*cols)*x.accumulator) / x.Shared
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

// wholeColumns is likewise for columns, in halves of a register tile, each a vector; but up to
// few that are left over count as a quarter, as measured with AVX-512.
func wholeColumns(cols, tile, few int) float64 {
	rest, half := cols%tile, max(1, tile/2)
	switch whole := float64(cols - rest); {
	case rest == 0:
		return whole
	case rest <= few: // rows of a are read once more, for few products
		return whole + float64(max(rest, tile/4))
	case rest <= half:
		return whole + 1.25*float64(half)
	default:
		return whole + float64(tile)
	}
}

// seconds is the time of a launch with blocks s.
func (x *product) seconds(s tile.Blocks) float64 {
	g := newGrid(x, s)
	return x.launch(g.batch*g.rows*g.cols) + g.makespan()
}

// launch is the time of a launch of so many programs beside what each takes: one worker
// needs nobody, two are measured, and from there to all it grows by as much for each.
func (x *product) launch(programs int) float64 {
	switch n := min(programs, x.workers); {
	case n < 2:
		return 0
	case x.workers == 2:
		return x.Pair
	default:
		return x.Pair + (x.Launch-x.Pair)*float64(n-2)/float64(x.workers-2)
	}
}
