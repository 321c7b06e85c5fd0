// Package twice is the first rung of doubled numbers: each added to itself.
package twice

import (
	"matladder/problem"
	"matladder/tile"
)

// Kernel adds numbers to themselves.
type Kernel struct{}

// Number is the rung.
func (Kernel) Number() int { return 1 }

// Name is the folder's.
func (Kernel) Name() string { return "v1_twice" }

// Supports returns why p is not for this kernel, or nil.
func (Kernel) Supports(p problem.Doubled) error { return p.Validate() }

// Variants has the plain kernel only.
func (Kernel) Variants(problem.Doubled) []string { return []string{""} }

// Candidates has blocks of few items and of more.
func (Kernel) Candidates(p problem.Doubled, _ problem.Machine) []tile.Blocks {
	return problem.ClipAll(p, tile.Blocks{M: 8}, tile.Blocks{M: 32})
}

// Build writes the kernel as a tile program.
func (Kernel) Build(p problem.Doubled, _ string, s tile.Blocks) ([]*tile.Program, error) {
	t := tile.New("v1_twice")
	i, all := t.Axis("i", tile.Ceil(p.Items, s.M), tile.Parallel), tile.Const(0)
	x := t.In("x", p.X, tile.Array(p.Items, p.Parts), tile.Block(s.M, p.Parts).At(i, all))
	o := t.Out("o", p.X, tile.Array(p.Items, p.Parts), tile.Block(s.M, p.Parts).At(i, all))
	t.Store(o, tile.Add(x, x))
	return t.Programs()
}
