package plots

import (
	"math"

	"matladder/stats"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Level is a point's arithmetic intensity by the bytes that missed a cache, as bench
// --counters counted them, and not by those that its grid moves.
type Level struct {
	Name string  // of the cache
	X    float64 // work over the bytes of its misses
}

// levelsNote says what the marks are.
const levelsNote = "marks L2 and L3: work over the bytes that this cache lacked, as processors counted them"

// levelsOf are the caches of which misses of the point were counted.
func levelsOf(s *stats.Summary) (list []Level) {
	for _, c := range []struct {
		name  string
		bytes func() (float64, bool)
	}{{"L2", s.Events.L2Bytes}, {"L3", s.Events.L3Bytes}} {
		if bytes, known := c.bytes(); known && bytes > 0 {
			list = append(list, Level{c.name, s.Work() / bytes})
		}
	}
	return list
}

// levelReach is how far from its point, in steps of ten, a mark may lie that the axis makes room
// for: operands that stay in a cache miss next to nothing.
const levelReach = 1.5

// levels calls do for each level within the axis.
func (ch *Chart) levels(f frame, do func(s *Series, at, mark vg.Point, l Level)) {
	for i := range ch.Series {
		for _, pt := range ch.Series[i].Points {
			at := vg.Point{X: f.X(pt.X), Y: f.Y(clamp(pt.Y, f.y))}
			for _, l := range pt.Levels {
				if l.X >= f.x.Min && l.X <= f.x.Max {
					do(&ch.Series[i], at, vg.Point{X: f.X(l.X), Y: at.Y}, l)
				}
			}
		}
	}
}

// drawLevels draws a bar across at each level, and a dotted line from its point.
func (ch *Chart) drawLevels(c draw.Canvas, f frame) {
	const half = 5
	ch.levels(f, func(s *Series, at, mark vg.Point, l Level) {
		c.StrokeLine2(draw.LineStyle{Color: s.color(), Width: 0.8, Dashes: []vg.Length{1.5, 3}}, at.X, at.Y, mark.X, mark.Y)
		c.StrokeLine2(draw.LineStyle{Color: s.color(), Width: 2}, mark.X, mark.Y-half, mark.X, mark.Y+half)
		sty := aligned(style(smallSize, textColor(s.color())), text.XCenter, text.YBottom)
		c.FillText(sty, vg.Point{X: mark.X, Y: mark.Y + half + 1}, l.Name)
	})
}

// levelBoxes are the boxes and lines that drawLevels covers.
func (ch *Chart) levelBoxes(f frame) (boxes []vg.Rectangle, lines [][2]vg.Point) {
	ch.levels(f, func(_ *Series, at, mark vg.Point, _ Level) {
		boxes = append(boxes, around(vg.Point{X: mark.X, Y: mark.Y + 5}, 7, 11))
		lines = append(lines, [2]vg.Point{at, mark})
	})
	return boxes, lines
}

// reachLevels widens the span of an axis so that marks near their points have room.
func reachLevels(pt Point, left, right float64) (float64, float64) {
	for _, l := range pt.Levels {
		if math.Abs(math.Log10(l.X/pt.X)) <= levelReach {
			left, right = math.Min(left, l.X), math.Max(right, l.X)
		}
	}
	return left, right
}
