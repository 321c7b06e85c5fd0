package model

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"matladder/machine"
)

// attended is a launch of a published attention kernel, with the cycles of a step that
// libtpu 0.0.51 gives it, and those of v3_flash on equal blocks; 0 where they do not fit.
type attended struct {
	Chip                         string
	Batch, Length, Heads, Dim    int
	Rows, Keys, Piece            int
	Cycles, Ours                 float64
	Blind                        bool    // predicted before it was compared
	Measured                     float64 // ms; 0 before it is compared
	Predicted, Error, OursTFLOPS float64 // ms, percent of the rate
	TFLOPS, PredictedTFLOPS      float64
	Ratio                        float64 // of our cycles to the published kernel's
}

// attentions are those rows, with the sizes of their errors and our cycles beside theirs.
type attentions struct {
	Rows, Blind                        []attended
	Median, Worst, MedianOurs, Slowest float64
	MedianBlind, WorstBlind            float64
}

// layouts is the column that says how q, k and v lie.
const layouts = 8

// attentionPage predicts the published attention rows: kernel, launch, and that each of the
// four arrays is read and written once more to change the order of heads and rows, which
// the published times hold.
func attentionPage(t *testing.T) (page attentions) {
	t.Helper()
	var sizes, blind, ratios []float64
	for _, r := range table(t, "attention_published.csv") {
		n := make([]float64, len(r))
		for i := 1; i < len(r); i++ {
			var err error
			if n[i], err = strconv.ParseFloat(r[i], 64); i != layouts && r[i] != "" && err != nil {
				t.Fatal(err)
			}
		}
		x := attended{Chip: r[0], Batch: int(n[1]), Length: int(n[2]), Heads: int(n[3]), Dim: int(n[4]), Rows: int(n[5]), Keys: int(n[6]), Piece: int(n[7]), Cycles: n[10], Ours: n[11], Blind: n[12] == 1, Measured: n[13]}
		d, err := machine.Find("tpu_" + x.Chip)
		if err != nil {
			t.Fatal(err)
		}
		if x.Chip == "v7x" {
			d = d.Split()
		}
		flops := 4 * float64(x.Batch*x.Heads*x.Length*x.Length*x.Dim)
		seconds := func(cycles float64) float64 {
			row := int64(2 * x.Length * x.Dim) // bytes of one head
			all, rows := int64(x.Batch*x.Heads), int64(x.Length/x.Rows)
			w := Work{
				Steps: all * rows * int64(x.Length/x.Keys), Parallel: true, FLOPs: int64(flops), Cycles: cycles,
				Bytes:      all * row * (2 + 2*rows),
				FirstBytes: int64(2 * (x.Rows + 2*x.Keys) * x.Dim), LastBytes: int64(2 * x.Rows * x.Dim),
			}
			at, err := w.On(d, "bfloat16", "")
			if err != nil {
				t.Fatal(err)
			}
			bandwidth := d.BandwidthBytesPerSecond.Value
			if d.AttainedBytesPerSecond.Known() {
				bandwidth = d.AttainedBytesPerSecond.Value
			}
			return at.Seconds + d.LaunchSeconds.Value + float64(2*4*all*row)/bandwidth
		}
		x.Predicted = 1e3 * seconds(x.Cycles)
		x.PredictedTFLOPS = flops / x.Predicted / 1e9
		if x.Measured > 0 {
			x.TFLOPS = flops / x.Measured / 1e9
			x.Error = 100 * (x.Measured/x.Predicted - 1)
		}
		if x.Ours > 0 {
			x.OursTFLOPS, x.Ratio = flops/seconds(x.Ours)/1e12, x.Ours/x.Cycles
			ratios = append(ratios, x.Ratio)
			page.Slowest = max(page.Slowest, x.Ratio)
		}
		t.Logf("%+v", x)
		if x.Blind {
			blind = append(blind, math.Abs(x.Error))
			page.WorstBlind = max(page.WorstBlind, math.Abs(x.Error))
			page.Blind = append(page.Blind, x)
			continue
		}
		sizes = append(sizes, math.Abs(x.Error))
		page.Worst = max(page.Worst, math.Abs(x.Error))
		page.Rows = append(page.Rows, x)
	}
	page.Median, page.MedianBlind, page.MedianOurs = middle(sizes), middle(blind), middle(ratios)
	return page
}

// TestPublishedAttention holds the model to what was published of attention: nothing of it
// was fitted to that.
func TestPublishedAttention(t *testing.T) {
	page := attentionPage(t)
	if len(page.Rows) < 6 || page.Median > 15 {
		t.Errorf("%d rows, median error %.1f %%", len(page.Rows), page.Median)
	}
	if len(page.Blind) < 8 || page.MedianBlind > 15 {
		t.Errorf("%d rows predicted first, median error %.1f %%", len(page.Blind), page.MedianBlind)
	}
}

// middle is the median of xs, which it sorts; 0 of none.
func middle(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}
