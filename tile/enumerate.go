package tile

import (
	"fmt"
	"strings"
)

// maxCombinations bounds how many combinations of program ids a rule counts
// through before it refuses the program as too complicated to check.
const maxCombinations = 1 << 20

// combination is one choice of ids along some axes; 0 along all others.
type combination struct {
	axes []*Axis
	at   []int
}

// ProgramID implements Env.
func (c *combination) ProgramID(a *Axis) int {
	for i, b := range c.axes {
		if a == b {
			return c.at[i]
		}
	}
	return 0
}

// TableValue implements Env; what counts combinations leaves tables out.
func (c *combination) TableValue(*Ref, int) int { return 0 }

// ranges fixes the axes of the combination and leaves all others open.
func (c *combination) ranges(a *Axis) interval {
	for i, b := range c.axes {
		if a == b {
			return point(c.at[i])
		}
	}
	return everyID(a)
}

func (c *combination) String() string {
	parts := make([]string, len(c.axes))
	for i, a := range c.axes {
		parts[i] = fmt.Sprintf("%s=%d", a.Name, c.at[i])
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// combinations returns how many there are along axes, each cut to at most limit
// ids; false if they are more than maxCombinations.
func combinations(axes []*Axis, limit func(*Axis) int) (int, bool) {
	n := 1
	for _, a := range axes {
		if n *= limit(a); n > maxCombinations || limit(a) > maxCombinations {
			return 0, false
		}
	}
	return n, true
}

// enumerate calls f for each combination, in grid order, until it returns false.
func enumerate(axes []*Axis, limit func(*Axis) int, f func(*combination) bool) {
	c := &combination{axes: axes, at: make([]int, len(axes))}
	for f(c) {
		d := len(axes) - 1
		for ; d >= 0; d-- {
			if c.at[d]++; c.at[d] < limit(axes[d]) {
				break
			}
			c.at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

func wholeAxis(a *Axis) int { return a.Size }

// axesIn returns the axes of more than one id that xs use, in the order of among.
func axesIn(among []*Axis, xs ...IndexExpr) []*Axis {
	var out []*Axis
	for _, a := range among {
		for _, x := range xs {
			if a.Size > 1 && dependsOn(x, func(b *Axis) bool { return a == b }) {
				out = append(out, a)
				break
			}
		}
	}
	return out
}
