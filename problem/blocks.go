package problem

import (
	"fmt"
	"strings"

	"matladder/internal/known"
	"matladder/tile"
)

// ParseBlocks reads a block shape of the family's problems: as many sides as they have, and
// of a family with Pieces one number more, if one likes.
func (f *Family) ParseBlocks(text string) (tile.Blocks, error) {
	b, err := tile.ParseBlocks(text)
	names := f.sideNames()
	if have := strings.Count(strings.ReplaceAll(text, "×", "x"), "x") + 1; err != nil || have != len(names) && !(f.Pieces && have == len(names)+1) {
		return b, fmt.Errorf("blocks %q: want %s, as in %s", text, strings.Join(names, "×"), joined([]int{512, 1024, 1024}[:len(names)]))
	}
	return b, nil
}

// sideNames are those of the sides of the family's problems.
func (f *Family) sideNames() []string {
	return known.Names(f.Make(f.Sample, Asked{}).Sides(), func(s Side) string { return s.Name })
}

// BlockForm is the names of the sides of block shapes as they are joined: bm×bk×bn.
func (f *Family) BlockForm() string { return strings.Join(f.sideNames(), "×") }

// Clip is b cut to the arrays of p: a block never needs to be longer than its array.
func Clip(p Problem, b tile.Blocks) tile.Blocks { return ClipAll(p, b)[0] }

// ClipAll clips each of list to p and merges those that become equal.
func ClipAll(p Problem, list ...tile.Blocks) []tile.Blocks {
	var most [3]int
	for i, s := range p.Sides() {
		most[i] = s.Size
		if p.Family().Pieces && i+1 < len(most) {
			most[i+1] = s.Size
		}
	}
	return tile.Candidates(most[0], most[1], most[2], list...)
}
