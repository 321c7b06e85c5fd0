package tile

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"matladder/internal/each"
)

// maxCombinations bounds how many combinations of program ids a rule counts
// through before it refuses the program as too complicated to check.
const maxCombinations = 1 << 20

// Point is one choice of ids along some axes, 0 along all others: a program of
// a grid, or one round of the loops in it.
type Point struct {
	axes []*Axis
	at   []int
}

// PointAt is the point that has ids along axes.
func PointAt(axes []*Axis, ids []int) *Point { return &Point{axes, ids} }

// ProgramID implements Env.
func (c *Point) ProgramID(a *Axis) int {
	if i := slices.Index(c.axes, a); i >= 0 {
		return c.at[i]
	}
	return 0
}

// TableValue implements Env; it knows no tables and answers 0.
func (c *Point) TableValue(*Ref, int) int { return 0 }

// IDs returns the id along each axis. The caller may not change them.
func (c *Point) IDs() []int { return c.at }

// Points yields every point of a grid, the last axis fastest: the order in which programs run,
// one after another. An empty grid has one point. It is the same *Point each time.
func Points(axes []*Axis) iter.Seq[*Point] {
	return func(yield func(*Point) bool) { enumerate(axes, wholeAxis, yield) }
}

// ranges fixes the axes of the point and leaves all others open.
func (c *Point) ranges(a *Axis) interval {
	if slices.Contains(c.axes, a) {
		return point(c.ProgramID(a))
	}
	return everyID(a)
}

func (c *Point) String() string {
	parts := each.Upto(len(c.axes), func(i int) string { return fmt.Sprintf("%s=%d", c.axes[i].Name, c.at[i]) })
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

// enumerate calls f for each point, in grid order, until it returns false.
func enumerate(axes []*Axis, limit func(*Axis) int, f func(*Point) bool) {
	c := &Point{axes: axes, at: make([]int, len(axes))}
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
	return each.That(among, func(a *Axis) bool { return a.Size > 1 && DependsOn(xs, a) })
}
