package tile

import (
	"slices"

	"matladder/internal/each"
)

// outputWritten: while a block of an output is in sight, some program writes it.
func outputWritten(v *verifier) {
	for _, r := range v.program.RefsOf(Out) {
		writes := each.That(v.sites, func(s site) bool { return s.Ref == r })
		switch {
		case r.Main && v.copiedTo(r): // package interp checks what of it
		case len(writes) == 0:
			v.errorf(r.Pos, "%s: it is never written", describe(r))
		case v.surelyWritten(r, writes):
		default:
			v.countedWrites(r, writes)
		}
	}
}

// surelyWritten reports whether one of writes happens in every program, or in
// the first or last one of each visit, or leaves it to a table.
func (v *verifier) surelyWritten(r *Ref, writes []site) bool {
	grid := v.program.Grid
	first := len(grid)
	if plainMap(r.Index) {
		first = v.revisits(r)
	}
	last := func(a *Axis) interval {
		if a.Loop || !slices.Contains(grid[first:], a) {
			return everyID(a)
		}
		return point(a.Size - 1)
	}
	for _, s := range writes {
		for _, ids := range []ranges{everyID, v.program.startOf(first), last} {
			if decide(AllCond(s.conds), ids) >= tabled {
				return true
			}
		}
	}
	return false
}

// countedWrites follows the programs that the conditions around writes tell
// apart, and those that see different blocks.
func (v *verifier) countedWrites(r *Ref, writes []site) {
	if !TableFree(r.Index...) {
		return
	}
	var tests []IndexExpr
	all := slices.Clone(v.program.Grid)
	for _, s := range writes {
		tests = append(tests, Compared(s.conds...)...)
		for _, a := range s.loops {
			all = each.With(all, a)
		}
	}
	// With a plain map, blocks differ only as the axes do that the tests use.
	plain := plainMap(r.Index)
	axes := axesIn(all, tests...)
	if !plain {
		axes = axesIn(all, append(tests, r.Index...)...)
	}
	keys := 1
	for _, a := range axes {
		if plain && slices.Contains(r.Index, IndexExpr(a)) {
			keys *= min(a.Size, maxCombinations)
		}
	}
	if !plain {
		keys = int(min(Elements(r.Blocks()), maxCombinations+1))
	}
	if _, ok := combinations(axes, wholeAxis); !ok || keys > maxCombinations {
		v.errorf(writes[0].Pos, "%s: more than a million programs to check whether each block is written: write it at First or Last of an axis",
			describe(r))
		return
	}
	written := make([]bool, keys)
	enumerate(axes, wholeAxis, func(c *Point) bool {
		key := 0
		if !plain {
			key = r.blockNumber(c)
		} else {
			for i, a := range axes {
				if slices.Contains(r.Index, IndexExpr(a)) {
					key = key*a.Size + c.at[i]
				}
			}
		}
		for _, s := range writes {
			written[key] = written[key] || decide(AllCond(s.conds), c.ranges) >= tabled
		}
		return true
	})
	if i := slices.Index(written, false); i >= 0 {
		v.errorf(writes[0].Pos, "%s: under these conditions not every block of it is written", describe(r))
	}
}
