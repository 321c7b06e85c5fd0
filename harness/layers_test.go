package harness

import (
	"bytes"
	"strings"
	"testing"

	"matladder/stats"
	"matladder/stats/interval"

	"matladder/backend"
	"matladder/machine"
	"matladder/results"
)

const layered = `
layers:
  - layer: small
    parts:
      - {part: norms, family: norm, size: 8x64, dtype: "bfloat16:rms", kernels: [2], times: 2}
      - {part: down, size: 8x64x32, dtype: bfloat16, kernels: [5]}
  - layer: again
    parts:
      - {part: down, size: 8x64x32, dtype: bfloat16, kernels: [5]}
`

// TestLayers: parts of any family are planned, those of two layers once, and added up.
func TestLayers(t *testing.T) {
	c, err := Parse("layered.yaml", []byte(layered))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Plan(t.Context(), c, machine.Device{}, backend.Params{})
	if err != nil || len(s.Groups) != 2 || len(c.Families()) != 2 {
		t.Fatalf("%d groups of %d families, %v", len(s.Groups), len(c.Families()), err)
	}
	var summaries []stats.Summary
	for _, g := range s.Groups {
		x := stats.Summary{Record: results.Record{Layers: c.uses(g.Problem), Family: g.Problem.Family().Name}}
		x.Kernel, x.Device, x.Mode, x.Status = "v9", "device", results.Measured, results.OK
		x.PeakFLOPs, x.Bandwidth, x.FLOPs, x.BytesMin = 1e9, 1e9, 4e5, 1e5
		x.Time = stats.Estimate{Interval: interval.Interval{N: 1, Median: 1e-3}}
		summaries = append(summaries, x)
	}
	if want := "small/2 of 2/down/1; again/1 of 1/down/1"; summaries[1].Layers != want {
		t.Errorf("layers %q, want %q", summaries[1].Layers, want)
	}
	var b bytes.Buffer
	if err := stats.WriteLayers(&b, summaries); err != nil {
		t.Fatal(err)
	}
	// Two of the norm and one product, 1 ms each, of which 0.4 ms are the roof's.
	for _, want := range []string{"small · device", " 2.00 ms", "66.7 %", "33.3 %", "40 %", "products", " 3.00 ms", "again · device", "100.0 %"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	summaries[0].LowConfidence = true
	if err := stats.WriteLayers(&b, summaries); err != nil || !strings.Contains(b.String(), "†3.00 ms") { // a sum with a noisy figure
		t.Errorf("%v, no † before the sum in\n%s", err, b.String())
	}
}

// TestLayers_Mistakes: what is wrong is told with its line.
func TestLayers_Mistakes(t *testing.T) {
	for text, want := range map[string]string{
		"sizes: 128" + layered: "layers say what their parts are",
		strings.Replace(layered, "8x64,", "8,", 1) + "\nkernels: [1]": "layers say",
		strings.Replace(layered, "part: down, ", "", 1):               "needs the key part",
		strings.Replace(layered, "size: 8x64x32", "size: [8, 9]", 1):  "has 2 sizes",
		strings.Replace(layered, "family: norm", "family: norms", 1):  "unknown problem family",
		strings.Replace(layered, "kernels: [5]", "kernels: [9]", 1):   "unknown kernel",
		strings.Replace(layered, "layer: small", "layer: a/b", 1):     "without ; and /",
		"layers: []": "empty list",
	} {
		if _, err := Parse("layered.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q, of\n%s", err, want, text)
		}
	}
}
