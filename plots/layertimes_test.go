package plots

import (
	"fmt"
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"matladder/results"
)

// layerRows are two layers that share a part: half of the time of the first is a product
// at half of its peak; of the second's parts one has no time.
func layerRows(mode results.Mode) []results.Record {
	var rows []results.Record
	for i, part := range []struct {
		layers  string
		seconds float64
		flops   int64
		bytes   int64
		status  results.Status
	}{
		{"a layer/1 of 3/norms/2; another/1 of 2/norms/2", 1e-3, 1e6, 5e7, results.OK},
		{"a layer/2 of 3/up and gate/1", 4e-3, 2e9, 1e6, results.OK},
		{"a layer/3 of 3/down/1", 2e-3, 1e9, 15e7, results.OK},
		{"another/2 of 2/experts/1", 0, 1e9, 15e7, results.TooBig},
	} {
		for _, slower := range []float64{1, 1.5} { // the faster rung is shown
			r := hand(fmt.Sprintf("v%d_rung", 1+int(2*slower)), 1024, 1)
			r.Family, r.Shape, r.M, r.K, r.N, r.Batch = "norm", fmt.Sprintf("rows=%d,cols=64", i+1), 0, 0, 0, 0
			r.Mode, r.Status, r.Layers, r.Seconds, r.FLOPs, r.BytesMin = mode, part.status, part.layers, part.seconds*slower, part.flops, part.bytes
			r.Pos.Line = len(rows) + 2
			rows = append(rows, r)
		}
	}
	return rows
}

func layerPicture(t *testing.T, mode results.Mode) figure.Picture {
	t.Helper()
	list, err := Pictures(stats.Summarize(layerRows(mode)), Request{Kind: Layers})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d pictures, %v", len(list), err)
	}
	return list[0]
}

func TestLayerPicture(t *testing.T) {
	p := layerPicture(t, results.Measured)
	words, _ := lie(p)
	var all []string
	for _, w := range words {
		all = append(all, w.text)
	}
	text := strings.Join(all, "\n")
	// norms: twice 1 ms, of which 50 MB at 100 GB/s are half; up and gate: 2 GFLOP at 1 TFLOP/s.
	for _, want := range []string{
		"a layer: †8.00 ms, †56.3 % of its roof", "time\n% of the layer\n% of its roof\nnorms ×2\n†2.00 ms\n25.0\n†50.0\nup and gate\n†4.00 ms\n50.0\n†50.0",
		"another: †2.00 ms, †50 % of its roof, without 1 part that has no time", "no time: too_big", "roof: memory", "roof: products",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := Pictures(stats.Summarize([]results.Record{hand("v1_naive", 64, 1e9)}), Request{Kind: Layers}); err == nil || !strings.Contains(err.Error(), "--config transformer") {
		t.Errorf("without layers: %v", err)
	}
}

// workRows are of rungs that compute all of what a causal row half sees, and one that leaves
// most of it out.
func workRows() (rows []results.Record) {
	for _, options := range []string{"", "causal"} {
		for i, more := range []float64{2, 2, 1.1} {
			if options == "" {
				more = 1
			}
			for size := 512; size <= 2048; size *= 2 {
				r := hand(fmt.Sprintf("v%d_rung", i+1), size, 1e11*float64(i+1)/more)
				r.Family, r.Shape, r.M, r.K, r.N, r.Batch, r.Options = "attention", fmt.Sprintf("rows=%d,keys=%[1]d", size), 0, 0, 0, 0, options
				r.FLOPsComputed, r.Pos.Line = int64(float64(r.FLOPs)*more), len(rows)+2
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// TestKernels_Ways: each way of asking has a picture of its own, in which lines are named by
// their kernels alone.
func TestKernels_Ways(t *testing.T) {
	list, err := Pictures(stats.Summarize(workRows()), Request{Kind: Kernels, Dtype: "float32"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d pictures, %v", len(list), err)
	}
	for i, want := range []string{"", "causal"} {
		ch := list[i].(*figure.Chart)
		if strings.Contains(ch.Title, "causal") != (want != "") || !strings.HasSuffix(ch.Name, want) || len(ch.Series) != 3 || ch.Series[1].Label != "v2_rung" {
			t.Errorf("%s, %s, %d lines", ch.Name, ch.Title, len(ch.Series))
		}
	}
}

func workPicture(t *testing.T) figure.Picture {
	t.Helper()
	list, err := Pictures(stats.Summarize(workRows()), Request{Kind: Work, Dtype: "float32"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d pictures, %v", len(list), err)
	}
	p := list[0].(*figure.Panels)
	if len(p.Rows) != 1 {
		t.Fatalf("%d rows of panels: of the plain way as much is computed as is asked for", len(p.Rows))
	}
	causal := p.Rows[0]
	for i, want := range []float64{2, 2, 1.1} {
		asked, computed := causal[0].Series[i].Points[2].Y, causal[1].Series[i].Points[2].Y
		if got := computed / asked; got < want*0.999 || got > want*1.001 {
			t.Errorf("v%d: computed %v times what is asked, want %v", i+1, got, want)
		}
	}
	return p
}
