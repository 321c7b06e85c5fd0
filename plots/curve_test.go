package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/plots/figure"
	"matladder/stats"

	"github.com/google/go-cmp/cmp"

	"matladder/results"
)

// hand makes an ok row of a square problem that runs at rate.
func hand(kernel string, size int, rate float64) results.Record {
	flops, _ := results.FLOPCount(1, size, size, size)
	return results.Record{
		Schema: results.Schema, RunID: "r1", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Device: "Chip One", Chip: "one", Kernel: kernel, Mode: results.Measured, Method: results.Direct, Status: results.OK,
		Batch: 1, M: size, K: size, N: size, DtypeA: "float32", DtypeB: "float32", DtypeOut: "float32",
		Launches: 1, Seconds: float64(flops) / rate, FLOPs: flops, PeakFLOPs: 1e12, Bandwidth: 1e11,
		Pos: results.Pos{File: "a.csv"},
	}
}

// with returns r after changes.
func with(r results.Record, change func(*results.Record)) results.Record {
	change(&r)
	return r
}

func blocks(r results.Record, bm, bk, bn int) results.Record {
	r.BM, r.BK, r.BN = bm, bk, bn
	return r
}

// lasting are n block shapes at two sizes, the larger ones faster.
func lasting(kernel string, n int) (rows []results.Record) {
	for _, size := range []int{512, 1024} {
		for i := range n {
			rows = append(rows, blocks(hand(kernel, size, float64(i+1)*1e9), 8*(i+1), 8*(i+1), 8*(i+1)))
		}
	}
	return rows
}

// charts makes the pictures of q, all of which must be charts.
func charts(rows []results.Record, q Request) ([]*figure.Chart, error) {
	pictures, err := Pictures(stats.Summarize(rows), q)
	var list []*figure.Chart
	for _, p := range pictures {
		list = append(list, p.(*figure.Chart))
	}
	return list, err
}

// one makes the only chart of q.
func one(t *testing.T, rows []results.Record, q Request) *figure.Chart {
	t.Helper()
	for i := range rows {
		rows[i].Pos.Line = i + 2
	}
	list, err := charts(rows, q)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%d charts", len(list))
	}
	return list[0]
}

// describe writes series one a line: label, points and failures; G is 1e9.
func describe(ch *figure.Chart) []string {
	var list []string
	for _, s := range ch.Series {
		line := s.Label + ":"
		for _, points := range s.Stretches() {
			for _, pt := range points {
				line += fmt.Sprintf(" %g=%.4gG", pt.X, pt.Y/1e9)
			}
			line += " |"
		}
		line = strings.TrimSuffix(line, " |")
		for _, f := range s.Failures {
			line += fmt.Sprintf(" %g=%s", f.X, f.Status)
		}
		list = append(list, line)
	}
	return list
}

func TestCharts_Series(t *testing.T) {
	const k = "v4_optblock"
	size, best := Request{Size, "", k, "float32", nil, true}, Request{Size, "", k, "float32", nil, false}
	ladder := Request{Kernels, "", "", "float32", nil, false}
	failed := func(r results.Record, s results.Status) results.Record {
		r.Status = s
		return r
	}
	predicted := func(r results.Record) results.Record {
		r.Mode, r.Method, r.Backend = results.Predicted, results.AOT, "aot"
		return r
	}
	for _, c := range []struct {
		name string
		q    Request
		rows []results.Record
		want []string
	}{
		{"a line for each block shape, by volume, the baseline first", size, []results.Record{
			blocks(hand(k, 512, 3e9), 512, 512, 512), blocks(hand(k, 512, 2e9), 128, 128, 128), hand("xla", 512, 4e9),
			blocks(hand(k, 1024, 5e9), 512, 512, 512), blocks(hand(k, 1024, 6e9), 128, 128, 128),
			blocks(hand(k, 1024, 7e9), 512, 1024, 1024), hand("v3_block", 512, 1e9),
		}, []string{"xla: 512=4G", "128³: 512=2G 1024=6G", "512³: 512=3G 1024=5G", "512×1024×1024: 1024=7G"}},
		{"one line of the fastest shapes, the others faint, where a shape that comes once is the fastest", best, []results.Record{
			blocks(hand(k, 512, 3e9), 512, 512, 512), blocks(hand(k, 512, 2e9), 128, 128, 128), hand("xla", 512, 4e9),
			blocks(hand(k, 1024, 5e9), 512, 512, 512), blocks(hand(k, 1024, 6e9), 128, 128, 128),
			blocks(hand(k, 1024, 7e9), 512, 1024, 1024),
		}, []string{"other block shapes: 512=2G | 1024=5G | 1024=6G", "xla: 512=4G", k + ": 512=3G 1024=7G"}},
		{"a line for each of few shapes that last, another one faint, and what failed of it counted", best, []results.Record{
			blocks(hand(k, 512, 3e9), 512, 512, 512), blocks(hand(k, 512, 2e9), 128, 128, 128),
			blocks(hand(k, 1024, 5e9), 512, 512, 512), blocks(hand(k, 1024, 6e9), 128, 128, 128),
			blocks(hand(k, 1024, 4e9), 512, 1024, 1024), failed(blocks(hand(k, 512, 1), 64, 64, 64), results.Wrong),
			failed(blocks(hand(k, 512, 1), 32, 64, 64), results.Wrong),
		}, []string{"other block shapes: 1024=4G 512=2× wrong", "128³: 512=2G 1024=6G", "512³: 512=3G 1024=5G"}},
		{"at most six lines, those that are fastest where the sizes end", best, lasting(k, 8), []string{
			"other block shapes: 512=1G | 512=2G | 1024=1G | 1024=2G", "24³: 512=3G 1024=3G", "32³: 512=4G 1024=4G", "40³: 512=5G 1024=5G",
			"48³: 512=6G 1024=6G", "56³: 512=7G 1024=7G", "64³: 512=8G 1024=8G"}},
		{"blocks that follow the size are one line", size, []results.Record{
			blocks(hand(k, 256, 1e9), 128, 256, 128), blocks(hand(k, 512, 2e9), 256, 512, 256),
		}, []string{k + ": 256=1G 512=2G"}},
		{"parameters that follow the size, as tuned rows have them, too", size, []results.Record{
			blocks(hand(k, 256, 1e9), 128, 256, 128), with(blocks(hand(k, 512, 2e9), 256, 512, 256), func(r *results.Record) { r.Params = "b=pieces" }),
		}, []string{k + ": 256=1G 512=2G"}},
		{"blocks clipped to the array continue the line they come from", size, []results.Record{
			blocks(hand(k, 384, 1e9), 128, 128, 128), blocks(hand(k, 384, 2e9), 384, 384, 384),
			blocks(hand(k, 512, 3e9), 128, 128, 128), blocks(hand(k, 512, 4e9), 512, 512, 512),
		}, []string{"128³: 384=1G 512=3G", "512³: 384=2G 512=4G"}},
		{"a failure parts the line", size, []results.Record{
			hand(k, 256, 1e9), failed(hand(k, 512, 1e9), results.TooBig), hand(k, 1024, 2e9),
		}, []string{k + ": 256=1G | 1024=2G 512=too_big"}},
		{"a wrong round condemns the point", size, []results.Record{
			hand(k, 256, 1e9), hand(k, 512, 1e9),
			with(failed(hand(k, 512, 1e9), results.Wrong), func(r *results.Record) { r.Round = 1 }),
		}, []string{k + ": 256=1G 512=wrong"}},
		{"measured and predicted never share a line", size, []results.Record{
			hand(k, 256, 1e9), predicted(hand(k, 256, 2e9)), predicted(hand(k, 512, 3e9)),
		}, []string{k + ": 256=1G", k + " predicted: 256=2G 512=3G"}},
		{"what differs unasked is named", size, []results.Record{
			with(hand(k, 256, 1e9), func(r *results.Record) { r.ISA, r.Threads = "avx2", 2 }),
			with(hand(k, 256, 2e9), func(r *results.Record) { r.ISA, r.Threads = "avx512", 2 }),
			with(hand(k, 256, 3e9), func(r *results.Record) { r.ISA, r.Threads, r.Variant = "avx512", 2, "fused" }),
		}, []string{"avx2: 256=1G", "avx512: 256=2G", "fused avx512: 256=3G"}},
		{"parameters are part of the choice", size, []results.Record{
			with(blocks(hand(k, 256, 1e9), 128, 128, 128), func(r *results.Record) { r.Params = "vmem_limit=32MiB" }),
			with(blocks(hand(k, 256, 2e9), 128, 128, 128), func(r *results.Record) { r.Params = "vmem_limit=64MiB" }),
		}, []string{"128³ vmem_limit=32MiB: 256=1G", "128³ vmem_limit=64MiB: 256=2G"}},
		{"of one point in two files the newer is shown", size, []results.Record{
			with(hand(k, 256, 2e9), func(r *results.Record) { r.Pos.File, r.StartedAt = "b.csv", r.StartedAt.Add(time.Hour) }),
			hand(k, 256, 1e9), hand(k, 512, 1e9),
		}, []string{k + ": 256=2G 512=1G"}},
		{"a rate beyond reason is no rate", size, []results.Record{
			hand(k, 256, 1e9), with(hand(k, 1<<20, 1e9), func(r *results.Record) { r.Seconds = 1e-300 }),
		}, []string{k + ": 256=1G 1.048576e+06=no rate"}},
		{"the ladder has the best blocks of every kernel, in order", ladder, []results.Record{
			hand("v10_future", 256, 9e9), hand("xla", 256, 8e9),
			blocks(hand(k, 256, 3e9), 128, 128, 128), blocks(hand(k, 256, 4e9), 256, 256, 256),
			blocks(hand(k, 512, 6e9), 128, 128, 128), blocks(hand(k, 512, 5e9), 256, 256, 256), hand("v1_naive", 256, 1e9),
		}, []string{"xla: 256=8G", "v1_naive: 256=1G", k + ": 256=4G 512=6G", "v10_future: 256=9G"}},
		{"in a ladder, what differs between kernels is named", ladder, []results.Record{
			hand("v4_optblock", 256, 1e9),
			with(hand("v5_quant", 256, 2e9), func(r *results.Record) { r.DtypeOut = "bfloat16" }),
		}, []string{"v4_optblock float32: 256=1G", "v5_quant float32×float32→bfloat16: 256=2G"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, describe(one(t, c.rows, c.q))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCharts_Looks: the choice keeps its look from measured to predicted, and
// a kernel its colour from kind to kind.
func TestCharts_Looks(t *testing.T) {
	rows := readSample(t, sampleTPU)
	for _, q := range []Request{{Size, "", "v4_optblock", "bfloat16", nil, false}, {Kernels, "", "", "bfloat16", nil, false}, {Roofline, "", "", "bfloat16", nil, false}} {
		list, err := charts(rows, q)
		if err != nil {
			t.Fatal(err)
		}
		looks := map[string]figure.Series{}
		for _, s := range list[0].Series {
			looks[s.Label] = s
		}
		measured, predicted := looks["v4_optblock"], looks["v4_optblock predicted"]
		if measured.Shape != predicted.Shape || measured.Color != predicted.Color || !predicted.Predicted || measured.Predicted {
			t.Errorf("%s: measured %+v, predicted %+v", q.Kind, measured, predicted)
		}
		if measured.Color != figure.Blue {
			t.Errorf("%s: v4 is %v", q.Kind, measured.Color)
		}
		seen := map[int]string{}
		for _, s := range list[0].Series {
			if other, taken := seen[s.Shape]; taken && !s.Predicted {
				t.Errorf("%s: %s and %s have one marker", q.Kind, s.Label, other)
			}
			seen[s.Shape] = s.Label
		}
	}
}

// TestSlots: a rung has the same marker whichever others are shown, and no other
// kernel has it.
func TestSlots(t *testing.T) {
	all := []string{"xla", "v1_naive", "v2_parallel", "v3_smallblock", "v4_optblock", "v5_quant", "mine"}
	alone := map[string]int{}
	for _, shown := range [][]string{{"v4_optblock"}, {"v5_quant", "v4_optblock"}, {"v4_optblock", "v4_optblock", "v2_parallel"}, all, {"v1_naive", "xla"}} {
		var curves []*curve
		for i, kernel := range shown {
			c := &curve{kernel: kernel, at: map[string]*stats.Summary{"1": {Record: results.Record{Mode: results.Measured}}}}
			c.choice.params = fmt.Sprint(i)
			curves = append(curves, c)
		}
		seen := map[int]string{}
		for i, s := range slots(curves) {
			kernel := shown[i]
			if other := seen[s.shape]; other != "" {
				t.Errorf("%v: %s and %s have marker %d", shown, other, kernel, s.shape)
			}
			seen[s.shape] = kernel
			if s.index > 0 {
				continue
			}
			if old, ok := alone[kernel]; ok && old != s.shape {
				t.Errorf("%v: %s has marker %d, elsewhere %d", shown, kernel, s.shape, old)
			}
			alone[kernel] = s.shape
		}
	}
}

func TestCharts_Headings(t *testing.T) {
	rows := readSample(t, sampleCPU)
	for _, c := range []struct {
		q    Request
		want string
	}{
		{Request{Size, "", "v5_quant", "int8", nil, false}, "performance_kernel_5_int8 | v5_quant, int8×int8→int32, on Example CPU, 2 cores | measured | method direct | avx512 | 2026-11-20 | fewer than 6 | TOP/s"},
		{Request{Size, "", "xla", "float32", nil, false}, "performance_kernel_0_float32 | xla, float32 | method loop | 95 % | GFLOP/s | m = k = n"},
		{Request{Kernels, "", "", "float32", nil, false}, "performance_kernels_float32 | The kernels, float32, on | fastest block shape | xla: backend xla-cpu"},
		{Request{Roofline, "", "", "bfloat16", nil, false}, "performance_roofline_bfloat16 | Roofline at 2048, bfloat16, on | FLOP/byte"},
	} {
		ch := one(t, rows, c.q)
		text := strings.Join(append([]string{ch.Name, ch.Title, ch.X.Label, ch.Y.Label}, slices.Concat(ch.Subtitle, ch.Footer)...), "\n")
		for _, want := range strings.Split(c.want, " | ") {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: %q is not in\n%s", c.q, want, text)
			}
		}
	}
}

func TestCharts_ChipsAndShapesApart(t *testing.T) {
	rows := append(readSample(t, sampleCPU), readSample(t, sampleTPU)...)
	list, err := charts(rows, Request{Kernels, "", "", "bfloat16", nil, false})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ch := range list {
		got = append(got, ch.Name+" on "+ch.Title[strings.LastIndex(ch.Title, "on ")+3:])
	}
	want := []string{"performance_kernels_bfloat16_example-cpu on Example CPU, 2 cores",
		"performance_kernels_bfloat16_v5e on TPU v5e", "performance_kernels_bfloat16_shapes_v5e on TPU v5e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var labels []string
	for _, tick := range list[2].X.Ticks {
		labels = append(labels, tick.Label)
	}
	if diff := cmp.Diff([]string{"1×4096×4096", "128×4096×11008", "1024×4096×11008", "2048×11008×4096"}, labels); diff != "" {
		t.Errorf("shapes, -want +got:\n%s", diff)
	}
}

// TestCharts_Peak: a peak near the curves is in view, one far above is named
// only, so that the curves keep the height of the picture.
func TestCharts_Peak(t *testing.T) {
	for _, c := range []struct {
		rate, top float64
		label     string
	}{{8e11, 1.06e12, "float32 peak 1 TFLOP/s"}, {1e11, 1.06e11, "float32 peak 1000 GFLOP/s"}} {
		ch := one(t, []results.Record{hand("v1_naive", 256, c.rate)}, Request{Size, "", "v1_naive", "float32", nil, false})
		if math.Abs(ch.Y.Max/c.top-1) > 1e-9 || ch.Roofs[0].Label != c.label || ch.Y.Min != 0 {
			t.Errorf("at %g: axis to %g, roof %q", c.rate, ch.Y.Max, ch.Roofs[0].Label)
		}
	}
}

func TestCharts_Roofline(t *testing.T) {
	r := hand("v3_block", 512, 5e11)
	r.BytesMoved = r.FLOPs / 32
	ch := one(t, []results.Record{r, hand("xla", 512, 9e11)}, Request{Roofline, "", "", "float32", nil, false})
	if len(ch.Series) != 1 || ch.Series[0].Points[0].X != 32 || ch.Series[0].Points[0].Label != "v3" {
		t.Errorf("series %+v", ch.Series)
	}
	if len(ch.Roofs) != 1 {
		t.Errorf("roofs of a row that does not tell its threads: %+v", ch.Roofs)
	}
	four := one(t, []results.Record{with(r, func(r *results.Record) { r.Threads = 4 })}, Request{Roofline, "", "", "float32", nil, false})
	if len(four.Roofs) != 2 || four.Roofs[1].Peak != 2.5e11 || !four.Roofs[1].Other || four.Roofs[1].Label != "of one thread 0.25 TFLOP/s" {
		t.Errorf("roofs of four threads: %+v", four.Roofs)
	}
	if ridge, known := ch.Roofs[0].Ridge(); !known || ridge != 10 {
		t.Errorf("ridge at %v, %v", ridge, known)
	}
	for _, c := range []struct {
		change func(*results.Record)
		want   string
	}{
		{func(r *results.Record) { r.BytesMoved = 0 }, "bytes_moved"},
		{func(r *results.Record) { r.Bandwidth = 0 }, "lack peak_flops or bandwidth of Chip One"},
		{func(r *results.Record) { r.Status = results.Failed }, "a time"},
	} {
		_, err := charts([]results.Record{with(r, c.change)}, Request{Roofline, "", "", "float32", nil, false})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestCharts_NoRows(t *testing.T) {
	rows := readSample(t, sampleCPU)
	for _, c := range []struct {
		rows []results.Record
		q    Request
		want string
	}{
		{rows, Request{Size, "", "v5_quant", "int4", nil, false}, "no rows of v5_quant in int4 (there are xla, v1_naive, v2_parallel, v3_block, v4_optblock, v5_quant in bfloat16, float32, int8); make them with: go run ./cmd/bench --kernel 5 --dtype int4"},
		{rows, Request{Kernels, "", "", "int4", nil, false}, "no rows in int4 (there are xla, v1_naive, v2_parallel, v3_block, v4_optblock, v5_quant in bfloat16, float32, int8); make them with: go run ./cmd/bench --dtype int4"},
		{nil, Request{Size, "", "xla", "int8", nil, false}, "no rows of xla in int8; make them with: go run ./cmd/bench --kernel 0 --dtype int8"},
	} {
		_, err := charts(c.rows, c.q)
		var missing *NoRowsError
		if !errors.As(err, &missing) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %v", err, c.want)
		}
	}
	many := slices.Repeat(rows[:1], maxKernels+1)
	for i := range many {
		many[i].Kernel = fmt.Sprint("k", i)
	}
	if _, err := charts(many, Request{Ladder, "", "", many[0].DtypeA, nil, false}); err == nil || !strings.Contains(err.Error(), "501 kernels do not fit into the picture ladder, at most 500 do") {
		t.Errorf("too many kernels: %v", err)
	}
	if _, err := charts(rows, Request{"pie", "", "", "int8", nil, false}); err == nil || !strings.Contains(err.Error(), "size, kernels, ladder, roofline") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// TestBlocks_Clipped: a block shape that is clipped differently at each size has
// one row, by the name of what it was clipped from.
func TestBlocks_Clipped(t *testing.T) {
	const k = "v4_optblock"
	oblong := with(hand(k, 300, 2e9), func(r *results.Record) { r.M, r.N, r.FLOPs = 100, 500, 2*100*300*500 })
	list, err := Pictures(stats.Summarize([]results.Record{
		blocks(hand(k, 64, 1e9), 64, 64, 64), blocks(oblong, 100, 128, 128),
		blocks(hand(k, 256, 3e9), 128, 128, 128), blocks(hand(k, 256, 4e9), 256, 256, 256),
	}), Request{Kind: Blocks, Kernel: k, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range list[0].(*figure.HeatMap).Rows {
		line := row.Label + ":"
		for _, cell := range row.Cells {
			line += fmt.Sprintf(" %.4g", cell.Value/1e9)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"128³: 1 1.111 3", "256³: 0 0 4"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestBlocks_LowConfidence: a cell is filled whatever its figure is worth, so † says of which that
// it is not to be relied on, and the heading names them by that.
func TestBlocks_LowConfidence(t *testing.T) {
	const k = "v4_optblock"
	rows := []results.Record{blocks(hand(k, 256, 1e9), 64, 64, 64)}
	for round := range 6 {
		rows = append(rows, with(blocks(hand(k, 256, 2e9), 128, 128, 128), func(r *results.Record) { r.Round = round }))
	}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Blocks, Kernel: k, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	h := list[0].(*figure.HeatMap)
	if few, enough := h.Rows[0].Cells[0], h.Rows[1].Cells[0]; !few.LowConfidence || enough.LowConfidence {
		t.Errorf("of 1 sample and of 6: %+v", h.Rows)
	}
	if text := strings.Join(h.Footer, "\n"); !strings.Contains(text, "\n†, not to be relied on") {
		t.Errorf("the heading says\n%s", text)
	}
}

// TestBlocks_Tuned: where each size has the one block shape that was tuned for it,
// rows still are block shapes.
func TestBlocks_Tuned(t *testing.T) {
	const k = "v4_optblock"
	list, err := Pictures(stats.Summarize([]results.Record{
		blocks(hand(k, 256, 1e9), 256, 256, 64), blocks(hand(k, 512, 2e9), 128, 512, 512), blocks(hand(k, 1024, 3e9), 512, 1024, 256),
	}), Request{Kind: Blocks, Kernel: k, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range list[0].(*figure.HeatMap).Rows {
		got = append(got, row.Label)
	}
	if diff := cmp.Diff([]string{"256×256×64", "128×512×512", "512×1024×256"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLabels_Apart: no two things in a picture have one name, whichever kernels and
// machines a file has.
func TestLabels_Apart(t *testing.T) {
	var rows []results.Record
	for _, host := range []string{"a", "b"} {
		for _, k := range []string{"v1_naive", "v2_parallel"} {
			rows = append(rows, with(hand(k, 512, 1e9), func(r *results.Record) {
				r.Host, r.GridSteps, r.RelErr = host, 4, results.Some(1e-7)
				r.BytesMoved, r.Bandwidth = 1<<20, 1e10
			}))
		}
	}
	for _, kind := range []Kind{Accuracy, Waterfall, Roofline, Kernels} {
		q := Request{Kind: kind, Dtype: "float32"}
		list, err := Pictures(stats.Summarize(rows), q)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d pictures, %v", kind, len(list), err)
		}
		seen := map[string]bool{}
		switch p := list[0].(type) {
		case *figure.Breakdowns:
			for _, s := range p.Wholes {
				seen[s.Title] = true
			}
		case *figure.Chart:
			for _, s := range p.Series {
				seen[s.Label] = true
			}
		}
		if len(seen) != len(rows) {
			t.Errorf("%s: %d names of %d things: %v", kind, len(seen), len(rows), seen)
		}
	}
}

// TestCompare_All: the mean is of all points, also of those that do not fit.
func TestCompare_All(t *testing.T) {
	var rows []results.Record
	for i := range 2 * maxRows {
		for _, file := range []string{"a", "b"} {
			rate := 1e9
			if file == "b" {
				rate *= []float64{0.5, 2}[i%2]
			}
			for round := range 6 {
				r := hand("v1_naive", 64+i, rate)
				r.Round, r.Pos.File = round, file
				rows = append(rows, r)
			}
		}
	}
	list, err := Pictures(stats.Summarize(rows), Request{Kind: Compare, Dtype: "float32"})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("geometric mean of %d ratios 1 · %d SLOWER · %d FASTER", 2*maxRows, maxRows, maxRows)
	if got := list[0].(*figure.Rows).Subtitle[1]; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
