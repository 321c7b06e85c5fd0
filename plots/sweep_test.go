package plots

import (
	"fmt"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"gonum.org/v1/plot/vg"

	"matladder/results"
)

// ladderOf is a run of kernels v1 to vN at sizes 128, 256 …, with blocks, errors,
// grid steps and a few points that are not ok.
func ladderOf(file string, kernels, sizes int, factor float64) []results.Record {
	var rows []results.Record
	for s := range sizes {
		size := 128 * (s + 1)
		if sizes < 6 {
			size = 128 << s
		}
		for k := range kernels {
			for b := range 1 + k%3 {
				for round := range 6 {
					r := hand(fmt.Sprintf("v%d_rung", k+1), size, 1e9*float64(k+1)*float64(s+2)*(1+0.01*float64(round))*factor)
					r.Pos.File, r.Host, r.Round, r.DtypeAcc = file, "host-a", round, "float32"
					r.BM, r.BK, r.BN = 32<<b, 32<<b, 32<<b
					r.BytesMoved, r.GridSteps = r.FLOPs/int64(8*(k+1)), int64(1+s*k)
					r.FLOPsComputed, r.Layers = r.FLOPs/4*5, fmt.Sprintf("a layer/%d of %d/part of size %d/2; another/1 of 1/part/1", s+1, sizes, size)
					r.RelErr, r.ErrOverBound = results.Some(1e-7*float64(size+k)), results.Some(0.01*float64(k+1))
					if (k+s)%5 == 4 && b == 2 {
						r.Status, r.Reason, r.Seconds = results.TooBig, "too big: needs 32.5 MiB of VMEM, has 16 MiB", 0
					}
					r.Method, r.Launches = results.Loop, 1
					long := r
					long.Rep, long.Launches, long.Seconds = 1, 11, r.Seconds*11
					r.Seconds += 20e-6
					long.Seconds += 20e-6
					rows = append(rows, r, long)
				}
			}
		}
	}
	for i := range rows {
		rows[i].Pos.Line = i + 2
	}
	return rows
}

// onInputs has rows for each kind of inputs, the later the slower and the more power.
func onInputs(rows []results.Record, inputs ...string) (list []results.Record) {
	for i, dist := range inputs {
		for _, r := range rows {
			r.Dist, r.Seconds = dist, r.Seconds*(1+0.05*float64(i))
			r.DeviceWatts = 500 + 40*float64(i)
			if r.Status == results.OK {
				r.Joules, r.EnergySource = results.Some(r.DeviceWatts*r.Seconds), "rapl"
			}
			list = append(list, r)
		}
	}
	return list
}

// underLoad has rows for each duty, which become slower by a fifth within their window.
func underLoad(rows []results.Record, duties ...int) (list []results.Record) {
	for _, duty := range duties {
		for _, r := range rows {
			r.Method = results.Direct
			r.Duty, r.WindowSeconds, r.RestSeconds = duty, 10, 5
			for rep := range 8 {
				one := r
				one.Rep, one.OffsetSeconds = rep, results.Some(float64(rep)*1.25)
				one.Seconds *= 1 + 0.2*float64(rep)/8*float64(duty)/100
				list = append(list, one)
			}
		}
	}
	return list
}

// TestLayout_Sweep holds every kind, at 1 to 10 kernels and 1 to 12 sizes, to: no
// text leaves the page, none lies on another.
func TestLayout_Sweep(t *testing.T) {
	for _, kernels := range []int{1, 2, 5, 10} {
		for _, sizes := range []int{1, 2, 5, 12} {
			rows := ladderOf("a.csv", kernels, sizes, 1)
			one := stats.Summarize(rows)
			two := stats.Summarize(append(ladderOf("a.csv", kernels, sizes, 1), ladderOf("b.csv", kernels, sizes, 0.9)...))
			var many []results.Record
			for host := range 2 * sizes {
				for _, r := range ladderOf(fmt.Sprint(host, ".csv"), kernels, 2, 1+float64(host)) {
					r.Host = fmt.Sprintf("student-%02d", host)
					many = append(many, r)
				}
			}
			for _, kind := range Kinds() {
				if kind == Peers || kind == Scaling || kind == Anatomy {
					continue // needs libraries, meshes or passes: has tests of its own
				}
				q := Request{Kind: kind, Dtype: "float32"}
				switch kind.Scope() {
				case PerKernel:
					q.Kernel = fmt.Sprintf("v%d_rung", kernels)
				case Whole:
					q.Dtype = ""
				}
				summaries := one
				switch kind {
				case Load:
					summaries = stats.Summarize(underLoad(rows, 25, 100))
				case Compare:
					summaries = two
				case Inputs:
					summaries = stats.Summarize(onInputs(rows, "zeros", "sparse:50", "bits:4", "uniform"))
				}
				pictures, err := Pictures(summaries, q)
				if err != nil {
					t.Fatalf("%s of %d kernels at %d sizes: %v", kind, kernels, sizes, err)
				}
				for _, p := range pictures {
					checkTexts(t, fmt.Sprintf("%s of %d kernels at %d sizes", p.Head().Name, kernels, sizes), p)
				}
			}
			if kernels == 5 {
				pictures, err := Pictures(stats.Summarize(many), Request{Kind: Ladder, Dtype: "float32"})
				if err != nil {
					t.Fatal(err)
				}
				if rows, ok := pictures[0].(*figure.Rows); !ok || len(rows.Rows) != 2*sizes {
					t.Errorf("%d machines: %d pictures, %T", 2*sizes, len(pictures), pictures[0])
				}
				checkTexts(t, fmt.Sprintf("%d machines", 2*sizes), pictures[0])
			}
		}
	}
}

// checkTexts reports texts that leave the page or lie on each other.
func checkTexts(t *testing.T, name string, p figure.Picture) {
	t.Helper()
	var page vg.Rectangle
	page.Max.X, page.Max.Y = figure.Size(p)
	words, _ := lie(p)
	if len(words) < 6 {
		t.Errorf("%s: only %d texts", name, len(words))
	}
	for i, w := range words {
		if !figure.Inside(w.box, page) {
			t.Errorf("%s: %q leaves the page: %v", name, w.text, w.box)
		}
		for _, o := range words[:i] {
			if figure.Meets(w.box, o.box) {
				t.Errorf("%s: %q and %q overlap", name, w.text, o.text)
			}
		}
	}
}
