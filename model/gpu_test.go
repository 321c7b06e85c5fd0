package model

import (
	"bytes"
	"fmt"
	"math"
	"slices"
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

// gpuPublished is a rate on a GPU that somebody measured and published.
type gpuPublished struct {
	Chip, Source, Unit, Blocks string
	Size                       string
	TFLOPS                     float64
	Style                      string // plain, persistent, specialized

	device  machine.Device
	flops   float64
	choices []gpuChoice
}

// gpuChoice is one way to lay the product out; of several the fastest was taken.
type gpuChoice struct {
	work   GPUWork
	layout GPULayout
	bytes  int64 // that main memory moves
}

// tutorialConfigs are the block shapes among which Triton's tutorial chooses, and how
// many of its blocks share a multiprocessor of an A100, by shared memory and registers.
var tutorialConfigs = []struct {
	blocks    tile.Blocks
	occupancy int
}{
	{tile.Blocks{M: 128, N: 256, K: 64}, 1}, {tile.Blocks{M: 64, N: 256, K: 32}, 2}, {tile.Blocks{M: 128, N: 128, K: 32}, 2},
	{tile.Blocks{M: 128, N: 64, K: 32}, 3}, {tile.Blocks{M: 64, N: 128, K: 32}, 3}, {tile.Blocks{M: 128, N: 32, K: 32}, 4},
	{tile.Blocks{M: 64, N: 32, K: 32}, 5}, {tile.Blocks{M: 32, N: 64, K: 32}, 5},
}

func readGPUPublished(t *testing.T) []gpuPublished {
	t.Helper()
	rows := table(t, "gpu_published.csv")
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var all []gpuPublished
	for _, r := range rows {
		var err error
		p := gpuPublished{Chip: r[0], Source: r[1], Unit: r[2], Style: r[6]}
		if p.device, err = machine.Find(p.Chip); err != nil {
			t.Fatal(err)
		}
		if p.TFLOPS, err = strconv.ParseFloat(r[11], 64); err != nil {
			t.Fatal(err)
		}
		m, k, n := number(r[8]), number(r[9]), number(r[10])
		q := problem.New(m, k, n, tile.BFloat16)
		if r[7] == "float32" {
			q.Out = tile.Float32
		}
		p.flops, p.Size = float64(q.FLOPs()), strconv.Itoa(m)
		if m != k {
			p.Size = fmt.Sprintf("%d×%d×%d", m, k, n)
		}
		configs := tutorialConfigs
		if p.Blocks = r[3]; p.Blocks != "autotuned" {
			b := strings.Split(p.Blocks, "x")
			configs = slices.Clone(configs[:1])
			configs[0].blocks, configs[0].occupancy = tile.Blocks{M: number(b[0]), K: number(b[1]), N: number(b[2])}, number(r[4])
			p.Blocks = strings.ReplaceAll(p.Blocks, "x", "×")
		}
		for _, c := range configs {
			programs, err := kernels.All[4].Build(q, "", c.blocks)
			if err != nil {
				t.Fatal(err)
			}
			w, err := GPUWorkOf(programs[0])
			if err != nil {
				t.Fatal(err)
			}
			l := GPULayout{BlocksPerCore: c.occupancy, Group: number(r[5]), Persistent: p.Style != "plain", Specialized: p.Style == "specialized", Unit: p.Unit}
			time, err := GPUFit.On(w, p.device, l, "bfloat16", "")
			if err != nil {
				t.Fatal(err)
			}
			p.choices = append(p.choices, gpuChoice{w, l, time.Bytes})
		}
		all = append(all, p)
	}
	return all
}

// predict is the model's rate, of the fastest choice.
func (p gpuPublished) predict(m GPUModel) float64 {
	best := math.Inf(1)
	for _, c := range p.choices {
		time := m.on(c.work, p.device, c.layout, p.device.Peak["bfloat16"].Value, c.bytes, 0)
		best = min(best, time.Seconds)
	}
	if p.Blocks == "autotuned" { // timed launch by launch, the L2 cache emptied before each
		best += m.LaunchSeconds
	}
	return p.flops / best / 1e12
}

// fitGPU goes along one number after the other, in exact steps, until none gets
// better, so that every machine finds the same.
func fitGPU(t testing.TB, rows []gpuPublished) GPUModel {
	loss := func(m GPUModel) (sum float64) {
		for _, r := range rows {
			sum += math.Pow(math.Log(r.predict(m)/r.TFLOPS), 2)
		}
		return sum
	}
	at := [5]int{78, 84, 10, 20, 30} // percent, percent, 10 ns, 100 ns, 100 ns
	make := func(a [5]int) GPUModel {
		mma, wgmma := float64(a[0])/100, float64(a[1])/100
		return GPUModel{
			Rate:        map[string]float64{GPUFMA: GPUFit.Rate[GPUFMA], GPUMMA: mma, GPUWGMMA: wgmma, GPUTCGen05: wgmma, GPUMFMA: mma},
			StepSeconds: float64(a[2]) * 10e-9, BlockSeconds: float64(a[3]) * 100e-9, LaunchSeconds: float64(a[4]) * 100e-9,
		}
	}
	limits := [5]int{100, 100, 60, 80, 100}
	best := loss(make(at))
	for better := true; better; {
		better = false
		for i := range at {
			for _, by := range []int{-4, -1, 1, 4} {
				next := at
				next[i] += by
				if next[i] < 0 || next[i] > limits[i] {
					continue
				}
				if l := loss(make(next)); l < best {
					best, at, better = l, next, true
				}
			}
		}
	}
	return make(at)
}

// gpuRow is a line of a table in docs/notebook/prediction_gpu.md.
type gpuRow struct {
	gpuPublished
	Predicted, Error, LeftOut float64
}

// gpuMeasured is a time of this project's own kernel, and what the model foretold of it.
type gpuMeasured struct {
	Dtype, Blocks, Size        string
	Measured, Predicted, Error float64 // µs, percent
}

// gpuOff is how far off predictions of some dtype were.
type gpuOff struct {
	Dtype         string
	Median, Worst float64
}

func offOf(dtype string, rows []gpuMeasured) gpuOff {
	var errs []float64
	for _, r := range rows {
		if dtype == "" || r.Dtype == dtype {
			errs = append(errs, math.Abs(r.Error))
		}
	}
	slices.Sort(errs)
	return gpuOff{dtype, (errs[len(errs)/2] + errs[(len(errs)-1)/2]) / 2, errs[len(errs)-1]}
}

func readGPUMeasured(t *testing.T) (all []gpuMeasured) {
	t.Helper()
	for _, r := range table(t, "gpu_measured.csv") {
		m := gpuMeasured{Dtype: r[1], Blocks: strings.ReplaceAll(r[2], "x", "×"), Size: r[3]}
		var err error
		if m.Measured, err = strconv.ParseFloat(r[4], 64); err == nil {
			m.Predicted, err = strconv.ParseFloat(r[5], 64)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Error = 100 * (m.Predicted/m.Measured - 1)
		all = append(all, m)
	}
	return all
}

// TestPredictionGPU fits the model to published rates of Triton's own kernels, says how
// far off it is where a rate is left out, and how far off of kernels of another kind.
func TestPredictionGPU(t *testing.T) {
	all := readGPUPublished(t)
	fitted := slices.DeleteFunc(slices.Clone(all), func(p gpuPublished) bool { return p.Style != "plain" })
	m := fitGPU(t, fitted)
	rounded := func(m GPUModel) string {
		return fmt.Sprintf("%v, %.0f ns, %.1f and %.1f µs", m.Rate, m.StepSeconds*1e9, m.BlockSeconds*1e6, m.LaunchSeconds*1e6)
	}
	if rounded(m) != rounded(GPUFit) {
		t.Errorf("the fit is %+v, the model has %+v", m, GPUFit)
	}
	var data struct {
		Model               GPUModel
		Step, Block, Launch float64
		Rows, Others        []gpuRow
		Median, Worst       float64

		Ours                  []gpuMeasured
		Off                   []gpuOff
		OursMedian, OursWorst float64
	}
	data.Ours = readGPUMeasured(t)
	for _, d := range []string{"bfloat16", "int8", "float32"} {
		data.Off = append(data.Off, offOf(d, data.Ours))
	}
	together := offOf("", data.Ours)
	data.OursMedian, data.OursWorst = together.Median, together.Worst
	data.Model, data.Step, data.Block, data.Launch = m, m.StepSeconds*1e9, m.BlockSeconds*1e6, m.LaunchSeconds*1e6
	off := func(p gpuPublished, m GPUModel) float64 { return 100 * (p.predict(m)/p.TFLOPS - 1) }
	var errs []float64
	for _, p := range all {
		row := gpuRow{p, p.predict(m), off(p, m), 0}
		if p.Style != "plain" {
			data.Others = append(data.Others, row)
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(fitted), func(q gpuPublished) bool { return q.Source == p.Source && q.Size == p.Size })
		row.LeftOut = off(p, fitGPU(t, rest))
		data.Rows = append(data.Rows, row)
		errs = append(errs, math.Abs(row.LeftOut))
		data.Worst = max(data.Worst, math.Abs(row.LeftOut))
		t.Logf("%s %s: %+.1f %%, left out %+.1f %%", p.Source, p.Size, row.Error, row.LeftOut)
	}
	slices.Sort(errs)
	data.Median = errs[len(errs)/2]
	if data.Median > 10 {
		t.Errorf("the median error of rates left out is %.1f %%", data.Median)
	}
	for tmpl, written := range map[string]string{"prediction_gpu.md.tmpl": "../docs/prediction_gpu.md", "prediction_gpu_notebook.md.tmpl": "../docs/notebook/prediction_gpu.md"} {
		var page bytes.Buffer
		if err := template.Must(template.ParseFiles("testdata/"+tmpl)).Execute(&page, data); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, written, page.Bytes())
	}
}

// TestGPUModel holds the model to what must hold of any.
func TestGPUModel(t *testing.T) {
	h100, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	time := func(m, k, n int, b tile.Blocks, occupancy int) GPUTime {
		programs, err := kernels.All[4].Build(problem.New(m, k, n, tile.BFloat16), "", b)
		if err != nil {
			t.Fatal(err)
		}
		w, err := GPUWorkOf(programs[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := GPUFit.On(w, h100, GPULayout{BlocksPerCore: occupancy, Group: 8, Unit: GPUWGMMA}, "bfloat16", "")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	large := tile.Blocks{M: 128, K: 64, N: 256}
	whole, more := time(132*128, 4096, 256, large, 1), time(133*128, 4096, 256, large, 1)
	if whole.Waves != 1 || more.Cores < 1.9*whole.Cores {
		t.Errorf("one block more than multiprocessors takes %g s, not twice %g s", more.Cores, whole.Cores)
	}
	if thin := time(16, 8192, 8192, tile.Blocks{M: 16, K: 64, N: 64}, 4); thin.Bytes < 2*8192*8192 || thin.Memory <= 0 {
		t.Errorf("16 rows: %+v", thin)
	}
	square := time(8192, 8192, 8192, large, 1)
	if rate := 2 * 8192. * 8192 * 8192 / square.Seconds; rate > h100.Peak["bfloat16"].Value || square.Bytes < 3*2*8192*8192 {
		t.Errorf("8192: %g FLOP/s, %d bytes", rate, square.Bytes)
	}
	// In rows of blocks every wave reads nearly all of b; in groups a part of it.
	programs, err := kernels.All[4].Build(problem.New(8192, 8192, 8192, tile.BFloat16), "", large)
	if err != nil {
		t.Fatal(err)
	}
	w, err := GPUWorkOf(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	if rows, groups := w.memoryBytes(132, 1, 0), w.memoryBytes(132, 8, 0); groups >= rows {
		t.Errorf("groups move %d bytes, rows %d", groups, rows)
	}
}

// TestGPUCaches: eight L2 caches each read what their blocks read, which one reads once, and their bandwidth
// holds a launch back where it is low.
func TestGPUCaches(t *testing.T) {
	d, err := machine.Find("amd_mi300x")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := kernels.All[4].Build(problem.New(4096, 4096, 4096, tile.BFloat16), "", tile.Blocks{M: 128, K: 64, N: 128})
	if err != nil {
		t.Fatal(err)
	}
	w, err := GPUWorkOf(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	// 1024 blocks in one wave, in groups of 8 rows, to 8 caches in turn: each has 4 of the 32 rows, and all of b.
	panel := int64(128 * 4096 * 2)
	if one, eight := w.readBytes(1024, 8, 1), w.readBytes(1024, 8, 8); one != 64*panel || eight != 8*(4+32)*panel {
		t.Errorf("one cache reads %d panels, eight %d", one/panel, eight/panel)
	}
	l := GPULayout{BlocksPerCore: 2, Group: 8, Threads: 256, Unit: GPUMFMA}
	fast, err := GPUFit.On(w, d, l, "bfloat16", "")
	if err != nil {
		t.Fatal(err)
	}
	d.LastLevelBytesPerSecond.Value /= 100
	slow, err := GPUFit.On(w, d, l, "bfloat16", "")
	if err != nil || slow.Limit != LastLevel || slow.Seconds < 2*fast.Seconds || fast.Limit != Compute {
		t.Errorf("%+v, slow %+v, %v", fast, slow, err)
	}
	d.L2BytesPerClock.Value /= 100
	if slow, err = GPUFit.On(w, d, l, "bfloat16", ""); err != nil || slow.Cores < 2*fast.Cores {
		t.Errorf("a slow L2 cache: %+v, %v", slow, err)
	}
}
