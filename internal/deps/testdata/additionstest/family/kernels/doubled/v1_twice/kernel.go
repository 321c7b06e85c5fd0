// Package twice is the first rung of doubled numbers: each added to itself.
package twice

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel adds numbers to themselves.
var Kernel = problem.Rung[problem.Doubled]{
	Number: 1, Name: "v1_twice",
	Supports: problem.Doubled.Validate, Blocks: blocks, Build: build,
}

// blocks has blocks of few items and of more.
func blocks(p problem.Doubled, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 32})
}

// build writes the kernel as a tile program.
func build(p problem.Doubled, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_twice")
	i, all := t.Axis("i", tile.Ceil(p.Items, s.M), tile.Parallel), tile.Const(0)
	x := t.In("x", p.X, tile.Array(p.Items, p.Parts), tile.Block(s.M, p.Parts).At(i, all))
	o := t.Out("o", p.X, tile.Array(p.Items, p.Parts), tile.Block(s.M, p.Parts).At(i, all))
	t.Store(o, tile.Add(x, x))
	return t.Programs()
}
