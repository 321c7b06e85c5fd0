package model

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/machine"
	"matladder/model/modeltest"
)

// grouped is a launch of a published kernel of grouped products, with the cycles of a step
// that libtpu 0.0.51 gives megablox' kernel on the blocks that the published row names.
type grouped struct {
	Chip                 string
	Rows, K, N, Groups   int
	Transposed           bool // each group's matrix is n×k
	BM, BK, BN           int
	Visits               int     // pairs of a block of rows and a group that has some of them
	Cycles, Measured     float64 // of a step, ms
	Percent              float64 // of the peak, as measured
	Predicted, Low, High float64 // ms
	Error, Uneven        float64 // percent of the rate, by the step model and by what each step brings
	blocks, met          int     // blocks of rows, groups that have rows
	visited              [][2]int
	a, b, o              int64 // bytes of a block
	deep, wide           int   // blocks along k and n
}

// groupeds are those rows, with the sizes of their errors.
type groupeds struct {
	Rows          []grouped
	Median, Worst float64
}

// visit lists the block of rows and the group of each visit.
func (x *grouped) visit(sizes []int) {
	for g, n := range sizes {
		for i := x.Rows / x.BM; n > 0 && i <= (x.Rows+n-1)/x.BM; i++ {
			x.visited = append(x.visited, [2]int{i, g})
		}
		if n > 0 {
			x.met++
		}
		x.Rows += n
	}
	x.Groups, x.Visits, x.blocks = len(sizes), len(x.visited), (x.Rows+x.BM-1)/x.BM
	width := min(x.BK, x.K) // a block is not longer than k, but is multiplied whole
	x.deep, x.wide = (x.K+width-1)/width, (x.N+x.BN-1)/x.BN
	x.a, x.b, x.o = int64(2*x.BM*width), int64(2*width*x.BN), int64(2*x.BM*x.BN)
}

// work is what a launch does: blocks along n, in each all visits, in each all blocks of k.
// Blocks that stay the same are not moved again.
func (x *grouped) work() Work {
	w := Work{Steps: int64(x.wide * x.Visits * x.deep), Cycles: x.Cycles, FirstBytes: x.a + x.b, LastBytes: x.o}
	w.FLOPs = w.Steps * 2 * int64(x.BM) * int64(x.BK) * int64(x.BN)
	in := int64(x.wide) * (int64(x.blocks)*x.a + int64(x.met)*x.b)
	if x.deep > 1 {
		in = w.Steps * (x.a + x.b)
	}
	w.Bytes = in + int64(x.wide*x.blocks)*x.o
	return w
}

// turns are the steps one by one, where at is what the step model says of all.
func (x *grouped) turns(at Time, bandwidth float64) []modeltest.Turn {
	var all []modeltest.Turn
	for range x.wide {
		for v, to := range x.visited {
			for k := range x.deep {
				t := modeltest.Turn{Compute: at.Compute + at.Overhead}
				first := v == 0
				if x.deep > 1 || first || x.visited[v-1][0] != to[0] {
					t.In += float64(x.a) / bandwidth
				}
				if x.deep > 1 || first || x.visited[v-1][1] != to[1] {
					t.In += float64(x.b) / bandwidth
				}
				if last := v == x.Visits-1; k == x.deep-1 && (last || x.visited[v+1][0] != to[0]) {
					t.Out = float64(x.o) / bandwidth
				}
				all = append(all, t)
			}
		}
	}
	return all
}

// groupedPage predicts the published rows: kernel and launch.
func groupedPage(t *testing.T) (page groupeds) {
	t.Helper()
	var sizes []float64
	for _, r := range table(t, "grouped_published.csv") {
		n := make([]float64, len(r)-1)
		for i := 1; i < len(n); i++ {
			var err error
			if n[i], err = strconv.ParseFloat(r[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		x := grouped{Chip: r[0], K: int(n[1]), N: int(n[2]), Transposed: n[3] == 1, BM: int(n[4]), BK: int(n[5]), BN: int(n[6]), Cycles: n[7], Measured: n[8]}
		var groups []int
		for _, word := range strings.Fields(r[9]) {
			size, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			groups = append(groups, size)
		}
		x.visit(groups)
		d, err := machine.Find("tpu_" + x.Chip)
		if err != nil {
			t.Fatal(err)
		}
		on := func(d machine.Device) Time {
			at, err := x.work().On(d, "bfloat16", "")
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		launch := d.LaunchSeconds.Value
		slow, fast := d.Extremes()
		least, most := d.LaunchSeconds.Range()
		x.Low, x.High = 1e3*(on(fast).Seconds+least)/(1+ModelError), 1e3*(on(slow).Seconds+most)*(1+ModelError)
		x.Predicted = 1e3 * (on(d).Seconds + launch)
		x.Error = 100 * (x.Measured/x.Predicted - 1)
		x.Uneven = 100 * (x.Measured/1e3/(modeltest.Buffered(x.turns(on(d), d.BandwidthBytesPerSecond.Value), 2)+launch) - 1)
		x.Percent = 100 * 2 * float64(x.Rows) * float64(x.K) * float64(x.N) / (x.Measured / 1e3) / d.PeakAt("bfloat16", "").Value
		sizes = append(sizes, math.Abs(x.Error))
		page.Rows = append(page.Rows, x)
		t.Logf("%d×%d×%d in %d groups, blocks %d×%d×%d: measured %.3f ms, predicted %.3f, %+.1f %%; step by step %+.1f %%", x.Rows, x.K, x.N, x.Groups, x.BM, x.BK, x.BN, x.Measured, x.Predicted, x.Error, x.Uneven)
	}
	page.Median, page.Worst = middle(sizes), slices.Max(sizes)
	return page
}

// TestPublishedGrouped holds the model to what was published of grouped products: nothing
// of it was fitted to that.
func TestPublishedGrouped(t *testing.T) {
	page := groupedPage(t)
	if len(page.Rows) < 9 || page.Median > 5 || page.Worst > 15 {
		t.Errorf("%d rows, median error %.1f %%, largest %.1f %%", len(page.Rows), page.Median, page.Worst)
	}
}
