package model

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model/vendor"
	"matladder/problem"
	"matladder/stats/interval"
	"matladder/tile"
)

// gpuRow is a launch on a GPU that somebody measured.
type gpuRow struct {
	Chip, Source, Unit, Dtype, Blocks, Size string
	Style                                   string  // own, plain, experts, persistent, specialized
	Microseconds                            float64 // measured
	Predicted, Error                        float64 // microseconds, percent

	flops   float64
	device  machine.Device
	choices [][]gpuKernel // ways to lay it out, of which the fastest was taken
	others  float64       // what was timed too, in seconds
	timed   bool          // launch by launch, each with the L2 cache emptied
	rows    int           // m of each product
	weights uint32        // a hash of experts, k and n
	part    uint32        // 0 and 1 to fit, 2 for the band, 3 to hold the band to; by hash
}

// gpuKernel is one kernel of a launch, prepared by GPUWork.at; or a copy of so many bytes.
type gpuKernel struct {
	work   GPUWork
	layout GPULayout
	peak   float64
	moved  gpuMoved
	copied int64
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

func number(t testing.TB, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// blocksOf reads bm x bk x bn.
func blocksOf(t testing.TB, s string) tile.Blocks {
	var b tile.Blocks
	if _, err := fmt.Sscanf(s, "%dx%dx%d", &b.M, &b.K, &b.N); err != nil {
		t.Fatal(s, err)
	}
	return b
}

func hashOf(of ...any) uint32 {
	h := fnv.New32a()
	fmt.Fprint(h, of...)
	return h.Sum32() >> 7
}

// newGPURow begins a row of a table.
func newGPURow(t testing.TB, r []string, chip, source, unit, dtype, blocks string) gpuRow {
	d, err := machine.Find(chip)
	if err != nil {
		t.Fatal(err)
	}
	return gpuRow{Chip: chip, Source: source, Unit: unit, Dtype: dtype, Blocks: strings.ReplaceAll(blocks, "x", "×"), device: d, part: hashOf(strings.Join(r[:len(r)-1], ",")) % 4}
}

func (r *gpuRow) kernel(t testing.TB, w GPUWork, l GPULayout, precision string) gpuKernel {
	w, peak, moved, err := w.at(r.device, l, r.Dtype, precision)
	if err != nil {
		t.Fatal(err)
	}
	return gpuKernel{w, l, peak, moved, 0}
}

// readGPURows reads published rates of Triton's tutorials and others, times of this project's kernel and of
// plain ones, and layers of experts.
func readGPURows(t *testing.T) (all []gpuRow) {
	t.Helper()
	micro := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	v5 := func(m, k, n int, dtype tile.Dtype, out tile.Dtype, precision string, b tile.Blocks) GPUWork {
		p := problem.New(m, k, n, dtype)
		if p.Out = out; precision != "" {
			p.Precision = tile.Highest
		}
		programs, err := kernels.All[4].Build(p, "", b)
		if err != nil {
			t.Fatal(err)
		}
		w, err := GPUWorkOf(programs[0])
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, r := range table(t, "gpu_published.csv") {
		p := newGPURow(t, r, r[0], r[1], r[2], "bfloat16", r[3])
		p.Style, p.timed = r[6], r[3] == "autotuned"
		m, k, n := number(t, r[8]), number(t, r[9]), number(t, r[10])
		if p.Size = strconv.Itoa(m); m != k {
			p.Size = fmt.Sprintf("%d×%d×%d", m, k, n)
		}
		p.rows, p.weights = m, hashOf(k, n)
		p.flops = 2 * float64(m) * float64(k) * float64(n)
		p.Microseconds = p.flops / micro(r[11]) / 1e6
		configs := tutorialConfigs
		if !p.timed {
			configs = slices.Clone(configs[:1])
			configs[0].blocks, configs[0].occupancy = blocksOf(t, r[3]), number(t, r[4])
		}
		out := tile.BFloat16
		if r[7] == "float32" {
			out = tile.Float32
		}
		for _, c := range configs {
			l := GPULayout{BlocksPerCore: c.occupancy, Group: number(t, r[5]), Persistent: p.Style == "persistent" || p.Style == "specialized", Specialized: p.Style == "specialized", AlongK: r[1] == "Triton tutorial 09", Unit: p.Unit}
			p.choices = append(p.choices, []gpuKernel{p.kernel(t, v5(m, k, n, tile.BFloat16, out, "", c.blocks), l, "")})
		}
		all = append(all, p)
	}
	for _, r := range table(t, "gpu_measured.csv") {
		p := newGPURow(t, r, r[0], r[1], r[3], r[4], r[6])
		p.Style, p.Size, p.Microseconds, p.timed = r[2], r[7], micro(r[12]), r[2] == "plain"
		n := number(t, r[7])
		p.rows, p.weights = n, hashOf(n, n)
		p.flops = 2 * float64(n) * float64(n) * float64(n)
		dtype, err := tile.ParseDtype(r[4])
		if err != nil {
			t.Fatal(err)
		}
		out := problem.New(n, n, n, dtype).Out
		l := GPULayout{BlocksPerCore: number(t, r[8]), Group: 8, Threads: number(t, r[9]), SpillBytes: number(t, r[10]), AlongK: r[11] != "", Own: p.Style == "own", Unit: p.Unit}
		k := []gpuKernel{p.kernel(t, v5(n, n, n, dtype, out, r[5], blocksOf(t, r[6])), l, r[5])}
		if l.AlongK {
			k = append(k, gpuKernel{copied: dtype.Bytes(int64(n) * int64(n))})
		}
		p.choices = [][]gpuKernel{k}
		all = append(all, p)
	}
	for _, r := range table(t, "gpu_triton.csv") {
		p := newGPURow(t, r, r[0], r[1], r[2], r[3], r[4])
		p.Style, p.Size, p.Microseconds = "experts", strings.NewReplacer("x", "×", "*", " of ").Replace(r[7]), micro(r[9])
		p.others = expertSeconds + micro(r[8])/1e6
		b, element := blocksOf(t, r[4]), int64(2)
		if p.Dtype != "bfloat16" {
			element = 1
		}
		var both []gpuKernel
		for product := range strings.SplitSeq(r[7], "+") {
			var experts, m, k, n int64
			if _, err := fmt.Sscanf(product, "%d*%dx%dx%d", &experts, &m, &k, &n); err != nil {
				t.Fatal(product, err)
			}
			p.rows, p.weights = int(m), p.weights*31+hashOf(experts, k, n)
			p.flops += 2 * float64(experts) * float64(m) * float64(k) * float64(n)
			w := expertWork(experts, m, k, n, b, element)
			clock := p.device.ClockHertz.Value
			if p.Unit == GPUMMA { // masks of a's rows are computed beside its products, two operations and a half an element
				w.ArithmeticSeconds += 2.5 * float64(b.M*b.K) / (64 * clock)
			}
			if element == 1 { // and each product of 128 along k is scaled, and added by itself
				w.ArithmeticSeconds += 3 * float64(b.M*b.N) / (128 * clock)
			}
			both = append(both, p.kernel(t, w, GPULayout{BlocksPerCore: number(t, r[6]), Group: number(t, r[5]), AlongK: true, Unit: p.Unit}, ""))
		}
		p.choices = [][]gpuKernel{both}
		all = append(all, p)
	}
	return all
}

// timedSeconds is a round figure for what a launch timed by itself takes beside the device's time.
const timedSeconds = 2e-6

// expertSeconds is a round figure for what a layer of experts takes beside its products and what it moves: it chooses experts,
// sorts rows by them, and starts seven kernels.
const expertSeconds = 20e-6

// expertWork is one product of each expert's rows, in blocks that go in groups of rows.
func expertWork(experts, m, k, n int64, b tile.Blocks, element int64) GPUWork {
	ceil := func(a, b int64) int64 { return (a + b - 1) / b }
	bm, bk, bn := int64(b.M), int64(b.K), int64(b.N)
	rows, columns := ceil(m, bm), ceil(n, bn)
	w := GPUWork{
		Programs: experts * rows * columns, Steps: ceil(k, bk), FLOPs: 2 * max(16, bm) * bn * bk,
		StepBytes: element * bk * (bm + bn), OutBytes: 2 * bm * bn, LeastBytes: experts * (element*k*(m+n) + 2*m*n),
		Dots: []GPUDot{{max(16, bm), bn, bk, 8 * element, 8 * element, 1}},
	}
	w.Reads = func(group int, id int64, read func(GPURead)) {
		in := int64(group) * columns
		first := id / in * int64(group)
		size := min(experts*rows-first, int64(group))
		row, column := first+id%in%size, id%in/size
		read(GPURead{0, row, element * bm * k})
		read(GPURead{1, row/rows*columns + column, element * bn * k})
	}
	return w
}

// seconds is the model's time, of the fastest choice.
func (r gpuRow) seconds(m GPUModel) float64 {
	best := math.Inf(1)
	for _, kernels := range r.choices {
		sum := r.others
		for _, k := range kernels {
			if k.copied > 0 {
				sum += m.Copy(k.copied, r.device).Seconds
			} else {
				sum += m.on(k.work, r.device, k.layout, k.peak, k.moved).Seconds
			}
		}
		best = min(best, sum)
	}
	if r.timed {
		best += timedSeconds
	}
	return best
}

// fitGPU goes along one number after the other, in exact steps, until none gets
// better, so that every machine finds the same. Sources count by the root of their rows.
func fitGPU(t testing.TB, rows []gpuRow) GPUModel {
	type knob struct {
		unit  string
		at    int
		of    func(u *GPUUnit) *float64
		scale float64
		most  int
	}
	rate, own := func(u *GPUUnit) *float64 { return &u.Rate }, func(u *GPUUnit) *float64 { return &u.OwnRate }
	along, step := func(u *GPUUnit) *float64 { return &u.AlongK }, func(u *GPUUnit) *float64 { return &u.StepSeconds }
	block := func(u *GPUUnit) *float64 { return &u.BlockSeconds }
	var knobs []knob
	for _, unit := range []string{GPUMMA, GPUWGMMA, GPUTCGen05} {
		knobs = append(knobs, knob{unit, 90, rate, .01, 130}, knob{unit, 45, along, 1, 64}, knob{unit, 10, step, 5e-9, 60}, knob{unit, 30, block, 1e-7, 60})
	}
	knobs = append(knobs, knob{GPUWGMMA, 100, own, .01, 130})
	model := func() GPUModel {
		m := GPUModel{maps.Clone(GPUFit.Units), GPUFit.LaunchSeconds}
		for _, k := range knobs {
			u := m.Units[k.unit]
			*k.of(&u) = float64(k.at) * k.scale
			if k.unit != GPUWGMMA {
				u.OwnRate = u.Rate
			}
			m.Units[k.unit] = u
		}
		return m
	}
	count := map[string]float64{}
	key := func(r gpuRow) string { return r.Chip + r.Source + r.Dtype }
	for _, r := range rows {
		count[key(r)]++
	}
	loss := func(unit string, m GPUModel) (sum float64) {
		for _, r := range rows {
			if r.Unit == unit {
				e := math.Log(r.seconds(m) * 1e6 / r.Microseconds)
				sum += math.Sqrt(e*e+.0025) / math.Sqrt(count[key(r)])
			}
		}
		return sum
	}
	for better := true; better; {
		better = false
		for i := range knobs {
			k := &knobs[i]
			best := loss(k.unit, model())
			for _, by := range []int{-8, -2, -1, 1, 2, 8} {
				if k.at+by < 0 || k.at+by > k.most || k.at+by == 0 && k.scale >= .01 {
					continue
				}
				k.at += by
				if l := loss(k.unit, model()); l < best-1e-9 {
					best, better = l, true
				} else {
					k.at -= by
				}
			}
		}
	}
	return model()
}

// gpuGroup is how far off predictions of some rows were: medians and nine of ten, in percent.
type gpuGroup struct {
	Chip, What, Dtype    string
	Rows                 int
	Median, Ninety, Bias float64
	Worst                float64
	Inside, Held         int // of those that the band is held to
}

// groupGPU groups rows that predict has predicted.
func groupGPU(m GPUModel, rows []gpuRow, of func(gpuRow) (chip, what, dtype string)) (all []gpuGroup) {
	at := map[[3]string]int{}
	errs := map[int][]float64{}
	for _, r := range rows {
		c, w, d := of(r)
		i, ok := at[[3]string{c, w, d}]
		if !ok {
			i = len(all)
			at[[3]string{c, w, d}] = i
			all = append(all, gpuGroup{Chip: c, What: w, Dtype: d})
		}
		errs[i] = append(errs[i], r.Error)
		if r.part == 3 {
			least, most := m.Band(r.Predicted, r.Unit)
			all[i].Held++
			if least <= r.Microseconds && r.Microseconds <= most {
				all[i].Inside++
			}
		}
	}
	for i, e := range errs {
		all[i].Rows, all[i].Bias = len(e), quantileOf(e, .5)
		for j := range e {
			e[j] = math.Abs(e[j])
		}
		all[i].Median, all[i].Ninety, all[i].Worst = quantileOf(e, .5), quantileOf(e, .9), slices.Max(e)
	}
	return all
}

// predict has the model's times of rows.
func predict(m GPUModel, rows []gpuRow) []gpuRow {
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		r.Predicted = 1e6 * r.seconds(m)
		r.Error = 100 * (r.Predicted/r.Microseconds - 1)
	}
	return rows
}

// apart predicts rows by models that were fitted to those of other keys alone. Rows of a unit that one
// key alone has are left out.
func apart(t *testing.T, rows []gpuRow, key func(gpuRow) string) (all []gpuRow) {
	keys := map[string]bool{}
	for _, r := range rows {
		keys[key(r)] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		var held, others []gpuRow
		fitted, needed, own := map[string]bool{}, map[string]bool{}, false
		for _, r := range rows {
			if needed[r.Unit] = needed[r.Unit] || key(r) == k; key(r) != k {
				fitted[r.Unit], own = true, own || r.Style == "own"
			}
		}
		for _, r := range rows {
			switch {
			case key(r) == k && fitted[r.Unit]:
				held = append(held, r)
			case key(r) != k && needed[r.Unit]:
				others = append(others, r)
			}
		}
		m := fitGPU(t, others)
		if u := m.Units[GPUWGMMA]; !own { // nothing tells of this project's kernel
			u.OwnRate = u.Rate
			m.Units[GPUWGMMA] = u
		}
		all = append(all, predict(m, held)...)
	}
	return all
}

// shapes are what products are, for who looks up a shape.
var shapes = []string{
	"v5, squares of 4096 and more", "v5, smaller squares", "others' plain kernels, squares of 4096 and more", "others' plain kernels, smaller squares", "others' plain kernels, 8192×512×8192",
	"layers of experts of m ≤ 16 each", "layers of experts of 17 ≤ m ≤ 128 each", "layers of experts of m > 128 each",
}

// shape is an index of shapes.
func (r gpuRow) shape() int {
	of := map[string]int{"plain": 2, "experts": 5}[r.Style]
	switch {
	case r.Style == "experts" && r.rows > 128 || r.Size == "8192×512×8192":
		return of + 2
	case r.Style == "experts" && r.rows > 16 || r.Style != "experts" && r.rows < 4096:
		return of + 1
	}
	return of
}

// besideXLA is v5 on an H200 and row xla: predicted or published, and measured (docs/notebook/gpu.md), in µs.
type besideXLA struct {
	Size                         int
	V5, Published, Measured, XLA float64
}

// Says and Was are the time of row xla over that of v5, in percent, and By is how far the first is off.
func (b besideXLA) Says() float64 { return 100 * b.Published / b.V5 }
func (b besideXLA) Was() float64  { return 100 * b.XLA / b.Measured }
func (b besideXLA) By() float64   { return 100 * (b.Says()/b.Was() - 1) }

// quantileOf is the value that a part of all lie below.
func quantileOf(all []float64, part float64) float64 {
	return interval.Quantile(slices.Sorted(slices.Values(all)), part)
}

// words are what templates call: units of time, and which chips have which unit.
var words = template.FuncMap{
	"ns":      func(s float64) float64 { return s * 1e9 },
	"us":      func(s float64) float64 { return s * 1e6 },
	"percent": func(part, of int) float64 { return 100 * float64(part) / float64(of) },
	"chips": func() map[string]string {
		return map[string]string{GPUMMA: "A100, L40S, RTX PRO 6000; small blocks on others", GPUWGMMA: "H100, H200", GPUTCGen05: "B200"}
	},
}

// bandOf is between which parts of the predicted time nine of ten rows were measured.
func bandOf(m GPUModel, unit string, rows []gpuRow) (least, most float64) {
	var parts []float64
	for _, r := range rows {
		if r.Unit == unit && r.part == 2 {
			parts = append(parts, r.Microseconds/1e6/r.seconds(m))
		}
	}
	return math.Floor(100*quantileOf(parts, .05)) / 100, math.Ceil(100*quantileOf(parts, .95)) / 100
}

// TestPredictionGPU fits the model to half of the measured launches of Triton's kernels, chosen by hash.
// It says how far off the model is at the other half, makes the bands from a quarter and holds them to the last.
func TestPredictionGPU(t *testing.T) {
	all := readGPURows(t)
	rows, others := all[:0:0], all[:0:0]
	for _, r := range all {
		if r.Style == "persistent" || r.Style == "specialized" {
			others = append(others, r)
		} else {
			rows = append(rows, r)
		}
	}
	m := fitGPU(t, slices.DeleteFunc(slices.Clone(rows), func(r gpuRow) bool { return r.part > 1 }))
	for _, unit := range []string{GPUMMA, GPUWGMMA, GPUTCGen05} {
		u := m.Units[unit]
		u.Least, u.Most = bandOf(m, unit, rows)
		m.Units[unit] = u
		if got, want := fmt.Sprintf("%.3g", u), fmt.Sprintf("%.3g", GPUFit.Units[unit]); got != want {
			t.Errorf("the fit of %s is %s, the model has %s", unit, got, want)
		}
	}
	rows, others = predict(m, rows), predict(m, others)
	held := slices.DeleteFunc(slices.Clone(rows), func(r gpuRow) bool { return r.part < 2 })
	what := map[string]string{"own": "v5", "plain": "plain products", "experts": "layers of experts"}
	var data struct {
		Model                 GPUModel
		Units, Groups, Own    []gpuGroup
		All                   gpuGroup
		Rows, Others          []gpuRow
		Fitted, Held          int
		GPUs, Weights, Shapes []gpuGroup // whole GPUs and weights held out; rows by shape
		GPU, Weight           gpuGroup   // the first two of all kinds
		Beside                []besideXLA
		H100                  struct{ Predicted, Low, High, Plain, Specialized float64 } // at 8192, TFLOP/s
		Layers                struct {
			Held, Again, LeastRows    int
			Least, Beside, MostBeside float64
		}
	}
	data.Model, data.Fitted, data.Held, data.Rows, data.Others = m, len(rows)-len(held), len(held), rows, others
	whole := func(gpuRow) (string, string, string) { return "", "all", "" }
	data.Units = groupGPU(m, held, func(r gpuRow) (string, string, string) { return "", r.Unit, "" })
	data.Groups = groupGPU(m, held, func(r gpuRow) (string, string, string) { return r.Chip, what[r.Style], r.Dtype })
	data.All = groupGPU(m, held, whole)[0]
	data.Own = groupGPU(m, slices.DeleteFunc(slices.Clone(rows), func(r gpuRow) bool { return r.Style != "own" }), func(r gpuRow) (string, string, string) { return r.Chip, "v5", r.Dtype })
	data.Shapes = groupGPU(m, held, func(r gpuRow) (string, string, string) { return "", shapes[r.shape()], "" })
	slices.SortFunc(data.Shapes, func(a, b gpuGroup) int { return slices.Index(shapes, a.What) - slices.Index(shapes, b.What) })
	chip := func(r gpuRow) string { return strings.TrimSuffix(strings.TrimSuffix(r.Chip, "_40gb"), "_80gb") }
	byGPU, byWeights := apart(t, rows, chip), apart(t, rows, func(r gpuRow) string { return strconv.Itoa(int(r.weights % 4)) })
	data.GPU, data.Weight = groupGPU(m, byGPU, whole)[0], groupGPU(m, byWeights, whole)[0]
	data.GPUs = groupGPU(m, byGPU, func(r gpuRow) (string, string, string) { return chip(r), what[r.Style], "" })
	data.Weights = groupGPU(m, byWeights, func(r gpuRow) (string, string, string) { return "", what[r.Style], "" })
	about := &data.Layers
	fitted, parts := map[string]bool{}, []float64(nil)
	key := func(r gpuRow) string { return fmt.Sprint(r.Chip, r.Dtype, r.weights) }
	for _, r := range rows {
		if r.Style == "experts" {
			fitted[key(r)] = fitted[key(r)] || r.part < 2
			parts = append(parts, 1e8*r.others/r.Microseconds)
			if about.Least == 0 || r.Microseconds < about.Least {
				about.Least = r.Microseconds
			}
			if about.LeastRows == 0 || r.rows < about.LeastRows {
				about.LeastRows = r.rows
			}
		}
	}
	for _, r := range held {
		if r.Style == "experts" {
			if about.Held++; fitted[key(r)] {
				about.Again++
			}
		}
	}
	about.Beside, about.MostBeside = quantileOf(parts, .5), slices.Max(parts)
	xla, ok := vendor.Find("nvidia_h200", tile.BFloat16)
	for i, measured := range []float64{25.8, 188, 1460} {
		n := 2048 << i
		for _, r := range rows {
			if r.Style == "own" && r.Dtype == "bfloat16" && r.Blocks == "128×64×256" && r.rows == n && (len(data.Beside) == i || r.Microseconds > data.Beside[i].Measured) {
				published, err := xla.Seconds(n, n, n)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				data.Beside = append(data.Beside[:i], besideXLA{n, r.Predicted, 1e6 * published, r.Microseconds, measured})
			}
		}
	}
	h100, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	const flops = 2 * 8192. * 8192 * 8192
	predicted := v5On(t, h100, 8192, 8192, 8192, tile.Blocks{M: 128, K: 64, N: 256}, GPULayout{BlocksPerCore: 1, Group: 8, Own: true, Unit: GPUWGMMA})
	low, _ := m.Band(predicted.Seconds, GPUWGMMA)
	_, high := m.Band(predicted.Slowest, GPUWGMMA)
	at := &data.H100
	at.Predicted, at.Low, at.High = flops/predicted.Seconds/1e12, flops/high/1e12, flops/low/1e12
	for _, r := range slices.Concat(rows, others) {
		if rate := r.flops / r.Microseconds / 1e6; r.Chip == h100.Key && r.flops == flops && r.Blocks == "128×64×256" {
			switch r.Source {
			case "triton_kernels.py":
				at.Plain = rate
			case "fast.cu 7":
				at.Specialized = rate
			}
		}
	}
	for _, rate := range []float64{783, 713, 657, at.Plain, at.Specialized} { // the first three are of docs/silicon.md
		if rate < at.Low || rate > at.High {
			t.Errorf("8192 on an H100: %.0f TFLOP/s, outside of %.0f to %.0f", rate, at.Low, at.High)
		}
	}
	for _, g := range data.Units {
		t.Logf("%+v", g)
		if g.Rows >= 30 && (g.Median > 8 || g.Inside*100 < 85*g.Held) {
			t.Errorf("%s: held-out rows are off by a median of %.1f %%, and %d of %d lie in their bands", g.What, g.Median, g.Inside, g.Held)
		}
	}
	for tmpl, written := range map[string]string{"prediction_gpu.md.tmpl": "../docs/prediction_gpu.md", "prediction_gpu_notebook.md.tmpl": "../docs/notebook/prediction_gpu.md"} {
		var page bytes.Buffer
		if err := template.Must(template.New(tmpl).Funcs(words).ParseFiles("testdata/"+tmpl)).Execute(&page, data); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, written, page.Bytes())
	}
}

// Use is what a row was used for.
func (r gpuRow) Use() string {
	return [...]string{"fit", "fit", "band", "test"}[r.part]
}

// v5On is what the model says of v5 on a device.
func v5On(t *testing.T, d machine.Device, m, k, n int, b tile.Blocks, l GPULayout) GPUTime {
	t.Helper()
	programs, err := kernels.All[4].Build(problem.New(m, k, n, tile.BFloat16), "", b)
	if err != nil {
		t.Fatal(err)
	}
	w, err := GPUWorkOf(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	got, err := GPUFit.On(w, d, l, "bfloat16", "")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestGPUModel holds the model to what must hold of any.
func TestGPUModel(t *testing.T) {
	h100, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	time := func(m, k, n int, b tile.Blocks, occupancy int) GPUTime {
		return v5On(t, h100, m, k, n, b, GPULayout{BlocksPerCore: occupancy, Group: 8, Unit: GPUWGMMA})
	}
	own := GPULayout{BlocksPerCore: 1, Group: 8, Own: true, Unit: GPUWGMMA}
	h200, err := machine.Find("nvidia_h200")
	if err != nil {
		t.Fatal(err)
	}
	far, near := v5On(t, h100, 4096, 4096, 4096, tile.Blocks{M: 128, K: 64, N: 256}, own), v5On(t, h200, 4096, 4096, 4096, tile.Blocks{M: 128, K: 64, N: 256}, own)
	if far.Slowest < 1.1*far.Seconds || near.Slowest != near.Seconds {
		t.Errorf("this project's kernel on an H100 takes %g to %g s, where it was measured %g to %g s", far.Seconds, far.Slowest, near.Seconds, near.Slowest)
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
	if one, eight := w.readBytes(1024, 8, 1, 0), w.readBytes(1024, 8, 8, 0); one != 64*panel || eight != 8*(4+32)*panel {
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
