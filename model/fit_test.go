package model

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// published is a rate that somebody measured and published.
type published struct {
	Kernel  int
	Dtype   string
	Blocks  string
	Size    int
	Bundles float64 // a step, averaged
	TFLOPS  float64
	Source  string
	work    Work
}

func (p published) seconds() float64 { return float64(p.work.FLOPs) / (p.TFLOPS * 1e12) }
func (p published) shape() string    { return p.Dtype + " " + p.Blocks }
func (p published) point() string    { return fmt.Sprint(p.Kernel, p.shape(), p.Size) }

// readPublished builds the kernel of each row and lays its schedule out over the grid.
func readPublished(t *testing.T) []published {
	t.Helper()
	rows := table(t, "v5e_published.csv")
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var all []published
	for _, r := range rows {
		b := tile.Blocks{M: int(number(r[2])), K: int(number(r[3])), N: int(number(r[4]))}
		p := published{
			Kernel: int(number(r[0])), Dtype: r[1], Blocks: fmt.Sprintf("%d×%d×%d", b.M, b.K, b.N),
			Size: int(number(r[5])), TFLOPS: number(r[8]), Source: r[9],
		}
		dtype := map[string]tile.Dtype{"float32": tile.Float32, "bfloat16": tile.BFloat16}[p.Dtype]
		programs, err := kernels.All[p.Kernel-1].Build(problem.New(p.Size, p.Size, p.Size, dtype), "", b)
		if err != nil {
			t.Fatal(err)
		}
		if p.work, err = WorkOf(programs[0]); err != nil {
			t.Fatal(err)
		}
		p.work.Cycles = number(r[6])
		if r[7] != "" { // a condition that always holds is no region
			for i, c := range strings.Split(r[7], "+") {
				p.work.Cycles -= number(c) * (1 - p.work.Shares[i])
			}
		}
		p.Bundles = p.work.Cycles
		all = append(all, p)
	}
	return all
}

// fitted are the three numbers that the model takes from measurements.
type fitted struct{ overhead, exponent, dispatch float64 }

func (f fitted) seconds(t testing.TB, p published, d machine.Device) (float64, Time) {
	d.StepOverheadSeconds.Value, d.OverlapExponent.Value = f.overhead, f.exponent
	time, err := p.work.On(d, p.Dtype, "")
	if err != nil {
		t.Fatal(err)
	}
	return time.Seconds + f.dispatch, time
}

// fit searches a grid of exact steps, so that every machine finds the same. Given
// an exponent it does not look for one.
func fit(t testing.TB, rows []published, d machine.Device, exponents ...float64) fitted {
	if exponents == nil {
		for p := 2.; p <= 10; p += 0.5 {
			exponents = append(exponents, p)
		}
	}
	var best fitted
	least := math.Inf(1)
	for _, p := range exponents {
		base := make([]Time, len(rows))
		for i, r := range rows {
			_, base[i] = fitted{exponent: p, overhead: 1e-12}.seconds(t, r, d)
		}
		for o := 100; o <= 450; o += 10 {
			for dispatch := 60; dispatch <= 160; dispatch += 4 {
				f := fitted{float64(o) * 1e-9, p, float64(dispatch) * 1e-6}
				loss := 0.
				for i, r := range rows {
					have := base[i].Seconds + float64(base[i].Steps)*f.overhead + f.dispatch
					loss += math.Pow(math.Log(have/r.seconds()), 2)
				}
				if loss < least {
					least, best = loss, f
				}
			}
		}
	}
	return best
}

// without leaves out the rows that share what key says with r.
func without(rows []published, r published, key func(published) string) []published {
	var kept []published
	for _, o := range rows {
		if key(o) != key(r) {
			kept = append(kept, o)
		}
	}
	return kept
}

// TestPrediction fits the step model to published figures, holds it to ModelError of
// those it was not fitted to, and writes docs/prediction.md and its notebook.
func TestPrediction(t *testing.T) {
	d, ok := machine.Lookup("tpu_v5e")
	if !ok {
		t.Fatal("no v5e")
	}
	rows := readPublished(t)
	whole := fit(t, rows, d)
	inTable := fitted{d.StepOverheadSeconds.Value, d.OverlapExponent.Value, d.DispatchSeconds.Value}
	if math.Abs(whole.overhead-inTable.overhead) > 1e-12 || whole.exponent != inTable.exponent || math.Abs(whole.dispatch-inTable.dispatch) > 1e-9 {
		t.Errorf("the fit gives %+v, chips.yaml has %+v", whole, inTable)
	}
	type row struct {
		published
		Compute, Transfer, Step    float64 // µs
		Limit                      Limit
		Measured, Predicted, Error float64
		Point, Shape               float64
	}
	page := struct {
		Overhead, Exponent, Dispatch         string
		Rows                                 []row
		WorstPoint, WorstShape, WorstMaximum float64
		Launches                             launches
		Attention                            attentions
		Blind                                blinds
		Grouped                              groupeds
		Beside                               besides
		ModelError                           float64
	}{
		ModelError: 100 * ModelError,
		Launches:   launchPage(t),
		Attention:  attentionPage(t),
		Blind:      blindPage(t),
		Grouped:    groupedPage(t),
		Beside:     besidePage(t),
		Overhead:   fmt.Sprintf("%.0f", whole.overhead*1e9), Exponent: fmt.Sprint(whole.exponent), Dispatch: fmt.Sprintf("%.0f", whole.dispatch*1e6),
	}
	off := func(f fitted, r published) float64 { // percent of the rate
		have, _ := f.seconds(t, r, d)
		return (r.seconds()/have - 1) * 100
	}
	maximum := fit(t, rows, d, 1000)
	for _, r := range rows {
		have, time := whole.seconds(t, r, d)
		line := row{
			published: r, Compute: time.Compute * 1e6, Transfer: time.Transfer * 1e6, Step: time.Step * 1e6, Limit: time.Limit,
			Measured: r.TFLOPS, Predicted: float64(r.work.FLOPs) / have / 1e12, Error: off(whole, r),
			Point: off(fit(t, without(rows, r, published.point), d), r),
			Shape: off(fit(t, without(rows, r, published.shape), d), r),
		}
		page.Rows = append(page.Rows, line)
		page.WorstPoint = max(page.WorstPoint, math.Abs(line.Point))
		page.WorstShape = max(page.WorstShape, math.Abs(line.Shape))
		page.WorstMaximum = max(page.WorstMaximum, math.Abs(off(maximum, r)))
		t.Logf("%-28s %5d  measured %6.1f  predicted %6.1f TFLOP/s  %+.1f %%, left out %+.1f %%, its blocks left out %+.1f %%",
			r.shape(), r.Size, r.TFLOPS, line.Predicted, line.Error, line.Point, line.Shape)
	}
	if most := 100 * ModelError; page.WorstPoint > most || page.WorstShape > most {
		t.Errorf("off by %.1f %% with a point left out, by %.1f %% with its blocks left out: more than ModelError", page.WorstPoint, page.WorstShape)
	}
	for tmpl, written := range map[string]string{"prediction.md.tmpl": "../docs/prediction.md", "prediction_notebook.md.tmpl": "../docs/notebook/prediction.md"} {
		var out bytes.Buffer
		if err := template.Must(template.ParseFiles("testdata/"+tmpl)).Execute(&out, page); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, written, out.Bytes())
	}
}
