package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
)

// blind is a launch of XLA's own bfloat16 matmul that was predicted, in µs, before it was
// compared with somebody's trace.
type blind struct {
	Chip, Source                          string
	M, K, N                               int
	Predicted, Low, High, Measured, Error float64
	Flags                                 string // the error under the source's own flags
}

type blinds struct {
	Rows          []blind
	Median, Worst float64
}

// blindPage reads the rows. Predictions are those that `bench --topology v7x --kernel 0`
// wrote; nothing is computed anew, so that they stay what they were.
func blindPage(t *testing.T) (page blinds) {
	t.Helper()
	var sizes []float64
	for _, r := range table(t, "xla_blind.csv") {
		n := make([]float64, 8)
		for i := 1; i < len(n); i++ {
			var err error
			if n[i], err = strconv.ParseFloat(r[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		x := blind{r[0], r[8], int(n[1]), int(n[2]), int(n[3]), n[4], n[5], n[6], n[7], 100 * (n[7]/n[4] - 1), "not compiled"}
		if r[9] != "" {
			us, err := strconv.ParseFloat(r[9], 64)
			if err != nil {
				t.Fatal(err)
			}
			x.Flags = fmt.Sprintf("%+.1f %%", 100*(n[7]/us-1))
		}
		page.Rows = append(page.Rows, x)
		sizes = append(sizes, math.Abs(x.Error))
	}
	page.Median, page.Worst = middle(sizes), slices.Max(sizes)
	return page
}

// TestBlind: the bars that predictions were to hold, and their bands.
func TestBlind(t *testing.T) {
	page := blindPage(t)
	if page.Median > 5 || page.Worst > 15 {
		t.Errorf("median error %.1f %%, largest %.1f %%", page.Median, page.Worst)
	}
	for _, r := range page.Rows {
		if r.Measured < r.Low || r.Measured > r.High {
			t.Errorf("%d×%d×%d: %.0f µs, outside %.0f to %.0f", r.M, r.K, r.N, r.Measured, r.Low, r.High)
		}
	}
}
