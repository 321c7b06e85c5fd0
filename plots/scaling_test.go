package plots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"github.com/google/go-cmp/cmp"

	"matladder/results"
)

// spreadRow is a product on a mesh whose devices each reach a share of their peak.
func spreadRow(variant, mesh string, devices, m int, share float64) results.Record {
	r := hand(results.Baseline, 1024, 1)
	r.Mode, r.Method, r.Backend, r.Plugin, r.PluginVersion = results.Predicted, results.AOT, "aot", "libtpu", "0.0.51"
	r.DtypeA, r.DtypeB, r.DtypeOut = "bfloat16", "bfloat16", "bfloat16"
	r.Variant, r.Mesh, r.Devices, r.M, r.N = variant, mesh, devices, m, 4096
	r.FLOPs, _ = results.FLOPCount(1, m, 1024, 4096)
	r.PeakFLOPs = 1e12 * float64(devices)
	r.Seconds = float64(r.FLOPs) / (share * r.PeakFLOPs)
	r.SecondsLow, r.SecondsHigh = r.Seconds*0.8, r.Seconds*1.1
	return r
}

// spreadRows are a sweep over meshes of 1, 4 and 16 devices, strong and weak. reduce
// needs too much memory on one device; the whole mesh is in both.
func spreadRows() []results.Record {
	var rows []results.Record
	for i, side := range []int{1, 2, 4} {
		devices := side * side
		for _, m := range slices.Compact([]int{16384, 1024 * devices}) {
			for j, variant := range []string{"reduce", "gather", "split"} {
				r := spreadRow(variant, fmt.Sprintf("data=%d,model=%[1]d", side), devices, m, 0.9/(1+float64((2-j)*i)*0.8))
				if variant == "reduce" && devices == 1 && m == 16384 {
					r.Status, r.Reason = results.TooBig, "memory of each device"
				}
				r.Pos.Line = len(rows) + 2
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func scalingPictureOf(t *testing.T, rows []results.Record) []figure.Picture {
	t.Helper()
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Scaling, Dtype: "bfloat16"})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// placesOf are the devices and % of the peak of a series, "-" for a missing one.
func placesOf(p figure.Panel, name string) string {
	for _, s := range p.Series {
		if strings.HasPrefix(s.Label, name+":") {
			var text []string
			for _, pt := range s.Points {
				text = append(text, fmt.Sprintf("%g %.3g", pt.X, pt.Y))
				if !(pt.Lo < pt.Y && pt.Y < pt.Hi) {
					text = append(text, "no band")
				}
			}
			return strings.Join(text, ", ")
		}
	}
	return "-"
}

func TestScaling(t *testing.T) {
	// A slower mesh of as many devices, and rows that are on no mesh.
	rows := append(spreadRows(), spreadRow("gather", "data=1,model=4", 4, 16384, 0.1), with(hand("v5_quant", 1024, 1e12), func(r *results.Record) { r.DtypeA = "bfloat16" }))
	list := scalingPictureOf(t, rows)
	if len(list) != 1 {
		t.Fatalf("%d pictures", len(list))
	}
	p := list[0].(*figure.Panels)
	strong, weak := p.Rows[0][0], p.Rows[0][1]
	got := map[string]string{}
	for _, name := range []string{"split", "gather", "scatter", "reduce"} {
		got[name] = placesOf(strong, name) + " / " + placesOf(weak, name)
	}
	want := map[string]string{
		"split":   "1 90, 4 90, 16 90 / 1 90, 4 90, 16 90",
		"gather":  "1 90, 4 50, 16 34.6 / 1 90, 4 50, 16 34.6",
		"scatter": "- / -",
		"reduce":  "4 34.6, 16 21.4 / 1 90, 4 34.6, 16 21.4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("strong / weak: -want +got:\n%s", diff)
	}
	if len(p.Rows) != 1 || strong.Mark != 100 || strong.Y.Label != "% of the peak of all devices (16: 16 TFLOP/s)" {
		t.Errorf("%d rows, a mark at %v, %q", len(p.Rows), strong.Mark, strong.Y.Label)
	}
	if s := weak.Series[0]; !strings.HasPrefix(s.Label, "split: ") || !s.Predicted {
		t.Errorf("%% of peak of %s: %+v", s.Label, s.Points)
	}
	if !strings.Contains(weak.Title, "1024 rows") || p.Name != "performance_scaling_bfloat16" {
		t.Errorf("%q, %q", weak.Title, p.Name)
	}
	words := strings.Join(append(p.Subtitle, p.Footer...), "\n")
	for _, want := range []string{"libtpu's word: ", "a model: ", "no point: reduce of 16384×1024×4096 on 1: too_big", "the fastest is shown"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
}

// TestScaling_Part: sweeps of one kind of scaling, or of two products.
func TestScaling_Part(t *testing.T) {
	var strong, weak, other []results.Record
	for _, r := range spreadRows() {
		if r.M == 16384 {
			strong = append(strong, r)
			r.N = 2048
			other = append(other, r)
		}
		if r.M == 1024*r.Devices {
			weak = append(weak, r)
		}
	}
	for name, c := range map[string]struct {
		rows  []results.Record
		notes string
	}{"strong": {strong, " no such rows"}, "weak": {weak, "no such rows "}} {
		list := scalingPictureOf(t, c.rows)
		row := list[0].(*figure.Panels).Rows[0]
		if len(list) != 1 || row[0].Note+" "+row[1].Note != c.notes {
			t.Errorf("%s: %d pictures, notes %q, %q", name, len(list), row[0].Note, row[1].Note)
		}
	}
	list := scalingPictureOf(t, append(strong, other...))
	if len(list) != 2 || list[1].Head().Name != list[0].Head().Name+"_16384-1024-2048" {
		t.Errorf("%d pictures of two products, the last %s", len(list), list[len(list)-1].Head().Name)
	}
	twin := spreadRows()
	for _, r := range spreadRows() {
		if r.Variant == "reduce" {
			r.Variant, r.Seconds = "scatter", r.Seconds*1.001
			twin = append(twin, r)
		}
	}
	if words := strings.Join(scalingPictureOf(t, twin)[0].Head().Subtitle, "\n"); !strings.Contains(words, "nearly equal, one drawn over the other: scatter and reduce") {
		t.Errorf("nothing is said of lines on each other:\n%s", words)
	}
	if _, err := Pictures(stats.Summarize(cpuSample()), Request{Kind: Scaling, Dtype: "float32"}); err == nil || !strings.Contains(err.Error(), "--mesh") {
		t.Errorf("of rows on no mesh: %v", err)
	}
}
