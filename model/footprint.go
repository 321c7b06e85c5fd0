package model

import (
	"matladder/tile"
)

// Footprint is what the programs of a launch take of fast memory.
type Footprint struct {
	Bytes   int64 // blocks and scratch, but for sums that no step leaves for the next
	Without int64 // of Bytes, what is left without the blocks of the largest input
	Largest int64 // bytes of that input, all of it
	Dtype   tile.Dtype
	Block   int64 // bytes of a block of it
	Cut     bool  // whether a block ends inside its rows
	// Product has the sides of the product of a step where programs multiply two inputs of
	// one dtype as they are and nothing else; zero for others.
	Product tile.Blocks
}

// Prefetched is the input of programs of one launch that is prefetched where one is: the
// largest, and of equals the first. Where a machine brings its blocks all the same, from a
// memory apart, it is of equals the one of which blocks move the most bytes; the first, if a
// table says which blocks those are. nil is none.
func Prefetched(programs []*tile.Program, apart bool) (*tile.Ref, error) {
	b, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	largest := b.Largest()
	if largest == nil || !apart {
		return largest, nil
	}
	first, most := largest, int64(-1)
	for _, r := range b.In {
		if r.Kind != tile.In || r.ArrayBytes() != largest.ArrayBytes() {
			continue
		}
		bytes, err := movedOf(programs, r.Name)
		if err != nil {
			return largest, nil
		}
		if bytes > most {
			first, most = r, bytes
		}
	}
	return first, nil
}

// movedOf is how many bytes blocks of an input move in all of programs.
func movedOf(programs []*tile.Program, name string) (bytes int64, err error) {
	for _, p := range programs {
		for _, r := range p.RefsOf(tile.In) {
			if r.Name != name {
				continue
			}
			t, err := refTraffic(p, r)
			if err != nil {
				return 0, err
			}
			bytes += t.bytes
		}
	}
	return bytes, nil
}

// FootprintOf counts what programs of one launch take. Errors are those of Count.
func FootprintOf(programs []*tile.Program) (Footprint, error) {
	var n Footprint
	b, err := tile.Bind(programs)
	if err != nil {
		return n, err
	}
	largest := b.Largest()
	if largest != nil {
		n.Largest = largest.ArrayBytes()
	}
	if len(programs) == 1 {
		n.Product = onlyProduct(programs[0])
	}
	whole := false // each step has all of k
	if n.Product.K > 0 {
		a := programs[0].RefsOf(tile.In)[0]
		whole = n.Product.K == a.Array[len(a.Array)-1]
	}
	for _, p := range programs {
		var all, without int64
		for _, r := range p.Refs {
			if r.Kind == tile.Scratch && whole {
				continue // sums that go from the product to the output
			}
			traffic, err := refTraffic(p, r)
			if err != nil {
				return n, err
			}
			fast := traffic.fastBytes(r)
			all += fast
			if r.Kind == tile.In && largest != nil && r.Name == largest.Name {
				last := len(r.Array) - 1
				n.Cut = n.Cut || r.BlockSize(last) < r.Array[last]
				n.Block, n.Dtype = max(n.Block, r.BlockBytes()), r.Dtype
				continue
			}
			without += fast
		}
		n.Bytes, n.Without = max(n.Bytes, all), max(n.Without, without)
	}
	return n, nil
}

// onlyProduct is the product of a step of a program that multiplies its two inputs, of one dtype,
// as they are; zero of others.
func onlyProduct(p *tile.Program) (s tile.Blocks) {
	in, others := p.RefsOf(tile.In), false
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		switch {
		case e.Op != tile.OpDot:
		case s.K > 0 || len(in) != 2 || e.Args[0].Op != tile.OpLoad || e.Args[1].Op != tile.OpLoad || in[0].Dtype != in[1].Dtype:
			others = true
		default:
			from := e.Args[0].Shape
			s = tile.Blocks{M: from[0], K: from[1], N: e.Shape[1]}
		}
	})
	if others {
		return tile.Blocks{}
	}
	return s
}
