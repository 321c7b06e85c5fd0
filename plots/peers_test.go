package plots

import (
	"slices"
	"strings"
	"testing"

	"matladder/plots/figure"
	"matladder/stats"

	"matladder/results"
)

// peerRows are two kernels, of which another is the best at each size, the
// baseline and peers: one in two versions, one without this product, and one that
// fails at a size. All rates fall and rise by round together.
func peerRows() []results.Record {
	var rows []results.Record
	add := func(m, k, n int, kernel, version, variant string, rate float64, status results.Status) {
		for round := range 6 {
			r := hand(kernel, m, 1)
			r.M, r.K, r.N, r.Round, r.Threads, r.Variant = m, k, n, round, 2, variant
			r.FLOPs, _ = results.FLOPCount(1, m, k, n)
			r.Seconds = float64(r.FLOPs) / rate * (1 + 0.05*float64(round%3))
			r.Backend = "cpu"
			switch {
			case kernel == results.Baseline:
				r.Backend = "xla-cpu"
			case version != "":
				r.Backend, r.PluginVersion = kernel, version
			}
			if r.Status = status; status != results.OK {
				r.Reason = "made up"
				rows = append(rows, r)
				return
			}
			rows = append(rows, r)
		}
	}
	for i, s := range [][3]int{{512, 512, 512}, {1024, 1024, 1024}, {1, 4096, 6144}, {127, 4099, 257}} {
		x := float64(i+1) * 1e10
		add(s[0], s[1], s[2], "v4_optblock", "", "", 10*x-1.5e10*float64(i), results.OK)
		add(s[0], s[1], s[2], "v5_quant", "", "", 9.5*x, results.OK)
		add(s[0], s[1], s[2], results.Baseline, "", "", 6*x, results.OK)
		add(s[0], s[1], s[2], "openblas", "0.3.21 SkylakeX", "", 8*x, results.OK)
		add(s[0], s[1], s[2], "onednn", "2.6.3", "", 7*x, results.OK)
		add(s[0], s[1], s[2], "onednn", "3.13.2", "", 10*x, results.OK)
		add(s[0], s[1], s[2], "blis", "0.9.0", "", x, results.Unsupported)
		status := results.OK
		if i%2 == 1 {
			status = results.Crashed
		}
		add(s[0], s[1], s[2], "mkl", "2026.2", "", 9*x, status)
	}
	for i := range rows {
		rows[i].Pos.Line = i + 2
	}
	return rows
}

func peerPictures(t *testing.T) []figure.Picture {
	t.Helper()
	list, err := Pictures(stats.Summarize(peerRows()), Request{Kind: Peers, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 {
		t.Fatalf("%d pictures", len(list))
	}
	return list
}

func TestPeers(t *testing.T) {
	list := peerPictures(t)
	ch, bars := list[0].(*figure.Chart), list[1].(*figure.Bars)
	if ch.Name != "performance_peers_float32_2_threads" || bars.Name != ch.Name+"_shapes" || !strings.HasPrefix(ch.Title, "Peers, 2 threads, float32") {
		t.Errorf("%s, %s: %s", ch.Name, bars.Name, ch.Title)
	}
	want := []string{"xla", "mkl 2026.2", "onednn 2.6.3", "onednn 3.13.2", "openblas 0.3.21 SkylakeX", "v4_optblock or v5_quant"}
	var labels []string
	for i, s := range ch.Series {
		labels = append(labels, s.Label)
		if s.Bold != (i == len(want)-1) {
			t.Errorf("%s: bold %v", s.Label, s.Bold)
		}
	}
	if !slices.Equal(labels, want) {
		t.Errorf("series %q, want %q", labels, want)
	}
	ours := ch.Series[len(ch.Series)-1]
	if len(ours.Points) != 2 || ours.Points[0].Y < 0.9e11 || ours.Points[1].Y < 1.7e11 { // v4, then v5
		t.Errorf("our points %+v", ours.Points)
	}
	if mkl := ch.Series[1]; len(mkl.Points) != 1 || len(mkl.Failures) != 1 || mkl.Failures[0].Status != "crashed" {
		t.Errorf("a peer that crashed: %+v", mkl)
	}
	if len(bars.Panels) != 2 || len(bars.Panels[1].Bars) != 2 {
		t.Fatalf("panels %+v", bars.Panels)
	}
	for _, b := range bars.Panels[1].Bars {
		if b.Y < 0.94 || b.Y > 0.96 || b.Hi-b.Lo > 1e-9 { // v5 over onednn 3.13.2, whatever the round
			t.Errorf("ratio %+v", b)
		}
	}
}

// TestPeers_Apart checks that no other kind shows peers.
func TestPeers_Apart(t *testing.T) {
	rows := peerRows()
	for _, p := range Pairs(stats.Summarize(rows)) {
		if strings.HasPrefix(p.Kernel, "o") || p.Kernel == "mkl" || p.Kernel == "blis" {
			t.Errorf("%s is listed as a kernel", p.Kernel)
		}
	}
	made, err := charts(rows, Request{Kind: Kernels, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range made[0].Series {
		if slices.Contains([]string{"openblas", "onednn", "mkl", "blis"}, s.Label) {
			t.Errorf("%s is in a picture of the kernels", s.Label)
		}
	}
	if _, err := Pictures(stats.Summarize(cpuSample()), Request{Kind: Peers, Dtype: "float16"}); err == nil {
		t.Error("a picture of nothing")
	}
	unsupported := with(hand(results.Baseline, 512, 1e9), func(r *results.Record) { r.Status = results.Unsupported })
	if _, err := Pictures(stats.Summarize([]results.Record{unsupported}), Request{Kind: Peers, Dtype: "float32"}); err == nil || !strings.Contains(err.Error(), "no row in float32 has a peer") {
		t.Errorf("of a baseline that is unsupported: %v", err)
	}
}

// TestPeers_Quantizations: products of the same dtypes whose numbers stand for
// others are pictures of their own.
func TestPeers_Quantizations(t *testing.T) {
	rows := peerRows()
	for _, quant := range []string{"per_channel", "per_channel+token"} {
		for _, r := range peerRows() {
			r.Quant = quant
			rows = append(rows, r)
		}
	}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Peers, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		if ch, ok := p.(*figure.Chart); ok {
			names = append(names, strings.TrimPrefix(ch.Name, "performance_peers_float32_"))
		}
	}
	want := []string{"float32_2_threads", "float32_per_channel_2_threads", "float32_per_channel-token_2_threads"}
	if len(list) != 6 || !slices.Equal(names, want) {
		t.Errorf("%d pictures: %q", len(list), names)
	}
}

// TestPeers_Heading: what a peer runs with is not said of the kernels, nor what they
// run with of it.
func TestPeers_Heading(t *testing.T) {
	rows := []results.Record{
		with(hand("v5_quant", 512, 2e9), func(r *results.Record) { r.Backend, r.ISA = "cpu", "avx2" }),
		with(hand("openblas", 512, 1e9), func(r *results.Record) {
			r.Backend, r.Plugin, r.PluginVersion = "openblas", "libopenblas.so.0", "0.3.21"
		}),
	}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Peers, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0].(*figure.Chart).Footer[0]; strings.Contains(got, "libopenblas") || !strings.Contains(got, "backend cpu") {
		t.Error(got)
	}
}

// TestPeers_Guests: functions and programs of files are named shortly, and differ in colour.
func TestPeers_Guests(t *testing.T) {
	guest := func(name string, rate float64) results.Record {
		return with(hand(name, 512, rate), func(r *results.Record) {
			r.Backend, r.Plugin, r.PluginVersion = name, "a_folder_of_mine_kernel.py", "3f2a0b1c python 3.11.7 jax 0.10.2 jaxlib 0.10.2"
		})
	}
	rows := []results.Record{hand("v5_quant", 512, 3e9), guest("mine", 1e9), guest("yours", 2e9)}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Peers, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	s := list[0].(*figure.Chart).Series
	if len(s) != 3 || s[0].Label != "mine 3f2a0b1c" || s[1].Label != "yours 3f2a0b1c" || s[0].Color == s[1].Color {
		t.Errorf("%+v", s)
	}
}
