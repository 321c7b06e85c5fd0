package tuned

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/problem"
	"matladder/tile"
)

// Source says how a look-up found its row, and with the ending unfinished that the row's search
// was ended by the budget. Its text is the block_source of rows of results.
type Source string

const unfinished = "_by_budget"

// The steps of a look-up, in their order.
const (
	Exact        Source = "tuned"
	NearestBatch Source = "tuned_nearest_batch" // same k and n, m at most a factor of 2 away; of other families the first size for m, and the others for k and n
	SameKN       Source = "tuned_same_kn"       // same k and n, m further away
	ShapeClass   Source = "tuned_shape_class"   // each size at most a class away: a factor of 4
)

// Sources lists the steps of a look-up in their order.
var Sources = []Source{Exact, NearestBatch, SameKN, ShapeClass}

// Answer is what a look-up finds.
type Answer struct {
	Blocks tile.Blocks // cut to the arrays
	Params string      // Row.Params
	Source Source
}

// String is the block shape with its parameters.
func (a Answer) String() string { return strings.TrimSpace(a.Blocks.String() + " " + a.Params) }

// AddTo returns parameters of a compilation with those of the answer, in a map of its
// own. Keys that params have already win: an answer that has another value of one of
// them adds nothing, as its values were found together. It is an error if the answer's
// are not spelled as Row.Params has them.
func (a Answer) AddTo(params backend.Params) (backend.Params, error) {
	extra, err := backend.ParseExtra(a.Params)
	if err != nil {
		return params, err
	}
	for k, v := range params.Extra {
		if other, ok := extra[k]; ok && other != v {
			return params, nil
		}
	}
	if len(extra) > 0 {
		maps.Copy(extra, params.Extra)
		params.Extra = extra
	}
	return params, nil
}

// Lookup returns what a table knows for a key. A fallback takes the row whose sizes are
// nearest by ratio, and of two as near the one tuned for the larger problem. A predicted
// row answers for its own problem alone: others can be predicted as well.
func (t *Table) Lookup(k Key) (a Answer, ok bool) {
	row, source, ok := t.nearest(k, -1)
	if !ok {
		return Answer{}, false
	}
	if row.Evidence.Ended == ByBudget {
		source += unfinished
	}
	return Answer{row.blocksFor(k), row.Params, source}, true
}

// nearest is the row that answers for a key, and at which step, in a table without row
// number skip.
func (t *Table) nearest(k Key, skip int) (Row, Source, bool) {
	best, step, near := -1, len(Sources), math.Inf(1)
	settings := k.sizeless()
	for i, r := range t.Rows {
		if i == skip || r.sizeless() != settings {
			continue
		}
		at, ok := reach(k, r.Key)
		if !ok || at > step || at > 0 && r.Evidence.Mode == Predicted {
			continue
		}
		d := distance(k, r.Key)
		if at < step || d < near || d == near && volume(r.Key) > volume(t.Rows[best].Key) {
			best, step, near = i, at, d
		}
	}
	if best < 0 {
		return Row{}, "", false
	}
	return t.Rows[best], Sources[step], true
}

// blocksFor is the row's block shape for the problem k. Blocks that hold all rows of their own
// problem hold all of a larger one's too, up to four times as many: cut to the few rows of a
// small batch, a larger one would go through b once for each of them.
func (r Row) blocksFor(k Key) tile.Blocks {
	b, have, want := r.Blocks, r.Problem.Sides()[0].Size, k.Problem.Sides()[0].Size
	if b.M >= have && want > have {
		b.M = min(want, 4*have)
	}
	return problem.Clip(k.Problem, b)
}

// reach is the step at which a row tuned for have answers for want. The first size counts
// rows, of which a batch of work has more or fewer.
func reach(want, have Key) (step int, ok bool) {
	if want == have {
		return 0, true
	}
	f, x, y := want.Problem.Family(), want.Problem.Sizes(), have.Problem.Sizes()
	w, h := f.Required(x), f.Required(y)
	sameDefaults := slices.Equal(x[len(w):], y[len(h):])
	sameRest := slices.Equal(w[1:], h[1:])
	switch rows := math.Abs(octaves(w[0], h[0])); {
	case !sameDefaults:
		return 0, false
	case sameRest && rows <= 1:
		return 1, true
	case sameRest:
		return 2, true
	}
	return 3, slices.EqualFunc(w, h, func(a, b int) bool { return class(a) == class(b) })
}

// class numbers the factors of 4 that a size lies in: 1, 2 to 4, 5 to 16, …
func class(size int) int { return (bits.Len(uint(size-1)) + 1) / 2 }

// octaves is how many doublings lead from b to a.
func octaves(a, b int) float64 { return math.Log2(float64(a) / float64(b)) }

// distance is how many doublings lead from one key's sizes to another's, of one family.
func distance(a, b Key) (sum float64) {
	y := b.Problem.Sizes()
	for i, size := range required(a) {
		sum += math.Abs(octaves(size, y[i]))
	}
	return sum
}

func volume(k Key) float64 {
	v := 1.0
	for _, size := range required(k) {
		v *= float64(size)
	}
	return v
}

func required(k Key) []int { return k.Problem.Family().Required(k.Problem.Sizes()) }

// Cost is what one step of the look-up costs where it stands in for an exact row: the time of the
// block shape it answers with over that of the best, both without parameters.
type Cost struct {
	Source  Source
	Rows    int     // that the step answers for, if their own is taken out
	Unknown int     // of these: those where the answer was never timed
	Mean    float64 // geometric mean of the known ratios; 0 if there is none
	Worst   float64
}

// Costs looks each row up in the table without it. It has one Cost for each step
// that answers at least once.
func (t *Table) Costs() []Cost {
	var costs []Cost
	for _, step := range Sources[1:] {
		c := Cost{Source: step}
		var logs float64
		for i, r := range t.Rows {
			have, s, ok := t.nearest(r.Key, i)
			if !ok || s != step {
				continue
			}
			c.Rows++
			ratio, timed := r.Evidence.Tried[have.blocksFor(r.Key)]
			if !timed {
				c.Unknown++
				continue
			}
			logs += math.Log(ratio)
			c.Worst = max(c.Worst, ratio)
		}
		if n := c.Rows - c.Unknown; n > 0 {
			c.Mean = math.Exp(logs / float64(n))
		}
		if c.Rows > 0 {
			costs = append(costs, c)
		}
	}
	return costs
}
