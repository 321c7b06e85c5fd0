package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"matladder/machine"
	"matladder/model/vendor"
	"matladder/stats/interval"
)

// known are the products to take: PyTorch's linear layer calls cuBLAS, and vLLM's collector is the
// newest that has it for all GPUs; float8 and int8 are the vendor's CUTLASS.
var known = []gpu{
	{folder: "a100_sxm", device: "nvidia_a100_80gb", kind: bfloat16},
	{folder: "h100_sxm", device: "nvidia_h100_sxm", kind: bfloat16},
	{folder: "h200_sxm", device: "nvidia_h200", kind: bfloat16},
	{folder: "b200_sxm", device: "nvidia_b200", kind: bfloat16},
	{folder: "b300_sxm", device: "nvidia_b300", kind: bfloat16},
	{folder: "gb200", device: "nvidia_gb200", kind: bfloat16},
	{folder: "l40s", device: "nvidia_l40s", kind: bfloat16},
	{folder: "rtx_pro_6000_server", device: "nvidia_rtx_pro_6000_server", kind: bfloat16},
	{folder: "h100_sxm", device: "nvidia_h100_sxm", kind: float8},
	{folder: "h200_sxm", device: "nvidia_h200", kind: float8},
	{folder: "b200_sxm", device: "nvidia_b200", kind: float8},
	{folder: "b300_sxm", device: "nvidia_b300", kind: float8},
	{folder: "gb200", device: "nvidia_gb200", kind: float8},
	{folder: "l40s", device: "nvidia_l40s", kind: float8},
	{folder: "rtx_pro_6000_server", device: "nvidia_rtx_pro_6000_server", kind: float8},
	{folder: "a100_sxm", device: "nvidia_a100_80gb", kind: int8},
}

// A kind is products of one dtype, as the wheel has them.
type kind struct {
	name, dtype string // here, and in the wheel
	bytes       float64
	collector   string // whose times are taken
	library     string
	quantizes   bool // its times have the quantization of a in them, which is taken off
}

var (
	bfloat16 = kind{"bfloat16", "bfloat16", 2, "vllm", "PyTorch's linear layer (cuBLAS)", false}
	float8   = kind{"float8_e4m3fn", "fp8", 1, "vllm", "vLLM's scaled product (CUTLASS)", true}
	int8     = kind{"int8", "sq", 1, "trtllm", "TensorRT-LLM's SmoothQuant product (CUTLASS)", false}
)

const wheelData = "aiconfigurator_core/systems/data/"

// shape is m, n and k, of m×k by k×n elements.
type shape [3]int

func (s shape) flops() float64 { return 2 * float64(s[0]) * float64(s[1]) * float64(s[2]) }

// bytes are those of operands of so many bytes an element and of an output of two, each once.
func (s shape) bytes(element float64) float64 {
	m, n, k := float64(s[0]), float64(s[1]), float64(s[2])
	return element*(m*k+k*n) + 2*m*n
}

// held says whether a shape is one to hold the table to: one in five, by hash.
func (s shape) held(folder string) bool {
	h := fnv.New32a()
	fmt.Fprint(h, folder, s)
	return h.Sum32()%5 == 0
}

// class is what a shape is for.
func (s shape) class() string {
	switch {
	case s[0] == s[1] && s[1] == s[2]:
		return "square"
	case s[0] <= 16:
		return "decoding, m ≤ 16"
	case s[0] <= 128:
		return "thin, 17 ≤ m ≤ 128"
	}
	return "m > 128"
}

var classes = []string{"square", "decoding, m ≤ 16", "thin, 17 ≤ m ≤ 128", "m > 128"}

// A gpu is what the wheel has of one, and what came of it.
type gpu struct {
	folder, device string
	kind           kind
	chip           machine.Device
	seconds        map[string]map[shape]float64 // by collector
	versions       map[string]string
	dropped        map[string]map[string]int // rows that are not used, by collector and reason
	off            map[[2]int]float64        // the quantization of a by the collector that is taken, by m and k
	table          vendor.Table
	banded         int                  // times that the table's band was made from
	errors         map[string][]float64 // of interpolation at held-out shapes, by class
}

// row is a line of the wheel's files.
type row struct {
	Framework string  `parquet:"framework"`
	Version   string  `parquet:"version"`
	Device    string  `parquet:"device"`
	Source    string  `parquet:"kernel_source"`
	Dtype     string  `parquet:"gemm_dtype"`
	M         int64   `parquet:"m"`
	N         int64   `parquet:"n"`
	K         int64   `parquet:"k"`
	Latency   float64 `parquet:"latency"` // ms
}

// read reads the products of its kind; of a collector's versions the one with most shapes.
func (g *gpu) read(archive *zip.Reader) (err error) {
	if g.chip, err = machine.Find(g.device); err != nil {
		return err
	}
	g.seconds, g.versions, g.dropped = map[string]map[shape]float64{}, map[string]string{}, map[string]map[string]int{}
	root := wheelData + g.folder + "/gemm/"
	for _, f := range archive.File {
		if !strings.HasPrefix(f.Name, root) || path.Base(f.Name) != "gemm_perf.parquet" {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(f.Name, root), "/")
		who, v := parts[0], parts[1]
		if g.kind != bfloat16 && who != g.kind.collector {
			continue // another product, or one whose quantization was not the one that was timed alone
		}
		rows, err := readRows[row](f)
		if err != nil {
			return err
		}
		times := map[shape][]float64{}
		for _, r := range rows {
			if r.Dtype == g.kind.dtype && r.Latency > 0 {
				s := shape{int(r.M), int(r.N), int(r.K)}
				times[s] = append(times[s], r.Latency/1e3)
			}
		}
		if len(times) <= len(g.seconds[who]) { // the collector's other version has more
			continue
		}
		off := map[[2]int]float64{}
		if g.kind.quantizes {
			if off, err = quantization(archive, g.folder, who, v); err != nil {
				return err
			}
		}
		g.versions[who], g.seconds[who], g.dropped[who] = v, map[shape]float64{}, map[string]int{}
		for s, all := range times {
			t, why := median(all), mostlyOff
			if part := off[[2]int{s[0], s[2]}]; part <= mostOff*t {
				t -= part
				why = g.impossible(s, t)
			}
			if why == "" {
				g.seconds[who][s] = t
			} else {
				g.dropped[who][why]++
			}
		}
		if who == g.kind.collector {
			g.off = off
			g.table = vendor.Table{Device: g.device, Dtype: g.kind.name, Library: g.kind.library, Package: "aiconfigurator-core " + version, Path: f.Name}
		}
	}
	if len(g.seconds[g.kind.collector]) == 0 {
		return fmt.Errorf("%s has no %s products of %s", root, g.kind.dtype, g.kind.collector)
	}
	return nil
}

// Why a row is not used. A small difference of two large times is off by a multiple of their errors.
const (
	mostlyOff  = "quantization"
	overPeak   = "peak"
	overMemory = "bandwidth"
	mostOff    = 2. / 3 // of a time may be taken off
)

// impossible says why no GPU of the kind multiplies s in so many seconds: its rate is above the published
// peak, or what its cache cannot hold of a and b comes faster than memory's published bandwidth. Else "".
func (g *gpu) impossible(s shape, seconds float64) string {
	inputs := g.kind.bytes * float64(s[0]+s[1]) * float64(s[2])
	switch {
	case s.flops()/seconds > g.chip.PeakAt(g.kind.name, "").Value:
		return overPeak
	case (inputs-g.chip.LastLevelCacheBytes.Value)/seconds > g.chip.BandwidthBytesPerSecond.Value:
		return overMemory
	}
	return ""
}

// readRows reads one of the wheel's tables.
func readRows[T any](f *zip.File) ([]T, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	rows, err := parquet.Read[T](bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return rows, nil
}

// quantization is how long a collector's quantization of a takes, by m and k: its scales, and its
// elements. The wheel's own reader takes both off where the input is float8 already.
func quantization(archive *zip.Reader, folder, who, version string) (map[[2]int]float64, error) {
	type timed struct {
		M       int64   `parquet:"m"`
		K       int64   `parquet:"k"`
		Latency float64 `parquet:"latency"` // ms
	}
	all := map[[2]int]float64{}
	for _, name := range []string{"computescale_perf.parquet", "scale_matrix_perf.parquet"} {
		name = wheelData + path.Join(folder, "quantize", who, version, name)
		i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the wheel has no %s", name)
		}
		rows, err := readRows[timed](archive.File[i])
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			all[[2]int{int(r.M), int(r.K)}] += r.Latency / 1e3
		}
	}
	return all, nil
}

// judge makes the table of the rows to fit and measures its error at the others, and its band there, of
// all collectors.
func (g *gpu) judge() {
	fitted := map[shape]float64{}
	var grid [3][]int
	counts := map[int]int{} // of values of m
	for s, t := range g.seconds[g.kind.collector] {
		if s.held(g.folder) {
			continue
		}
		fitted[s] = t
		counts[s[0]]++
		for d := 1; d < 3; d++ {
			grid[d] = append(grid[d], s[d])
		}
	}
	for m := range counts { // powers of two and their halves between; others are for the test
		for low := m; low > 0; low /= 2 {
			if low == 1 || low == 3 && m > 3 {
				grid[0] = append(grid[0], m)
			}
			if low%2 == 1 {
				break
			}
		}
	}
	for d := range grid {
		slices.Sort(grid[d])
		grid[d] = slices.Compact(grid[d])
	}
	if g.kind.quantizes { // CUTLASS chooses other kernels for other m, which take up to twice as long
		g.table.Multiple = 16
	}
	g.table.M, g.table.N, g.table.K = grid[0], grid[1], grid[2]
	for _, m := range grid[0] {
		for _, n := range grid[1] {
			for _, k := range grid[2] {
				g.table.Nanoseconds = append(g.table.Nanoseconds, rounded(1e9*cell(fitted, grid, shape{m, n, k})))
			}
		}
	}
	g.errors = map[string][]float64{}
	var all, over []float64
	for who, times := range g.seconds {
		for s, t := range times {
			guess, err := g.table.Seconds(s[0], s[2], s[1])
			if err != nil || !s.held(g.folder) {
				continue
			}
			over = append(over, t/guess)
			if who == g.kind.collector {
				e := math.Abs(guess/t - 1)
				g.errors[s.class()] = append(g.errors[s.class()], e)
				all = append(all, e)
			}
		}
	}
	g.banded, g.table.MedianError = len(over), rounded3(median(all))
	g.table.Least, g.table.Most = rounded3(quantile(over, .05)), rounded3(quantile(over, .95))
}

// cell is the time at a point of the grid: as measured, or, of a held-out shape, the median of what
// its neighbours along each axis say. A time of half as much again as that was disturbed, and not
// taken either. 0 if there are none.
func cell(fitted map[shape]float64, grid [3][]int, s shape) float64 {
	measured := fitted[s]
	var guesses []float64
	for d := range s {
		at := slices.Index(grid[d], s[d])
		find := func(way int) (int, float64) {
			for i := at + way; i >= 0 && i < len(grid[d]); i += way {
				near := s
				near[d] = grid[d][i]
				if t, ok := fitted[near]; ok {
					return near[d], t
				}
			}
			return 0, 0
		}
		low, before := find(-1)
		high, after := find(1)
		if low > 0 && high > 0 {
			by := math.Log(float64(s[d])/float64(low)) / math.Log(float64(high)/float64(low))
			guesses = append(guesses, math.Exp((1-by)*math.Log(before)+by*math.Log(after)))
		}
	}
	if len(guesses) == 0 {
		return measured
	}
	if guess := median(guesses); measured == 0 || measured > 1.5*guess {
		return guess
	}
	return measured
}

// rounded keeps three digits, which is finer than two runs agree.
func rounded(ns float64) int64 {
	if ns <= 0 {
		return 0
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(ns))-2))
	return int64(math.Round(ns/unit) * unit)
}

func rounded3(x float64) float64 { return math.Round(1e3*x) / 1e3 }

func median(all []float64) float64 { return quantile(all, .5) }

// quantile is NaN of nothing.
func quantile(all []float64, share float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	return interval.Quantile(slices.Sorted(slices.Values(all)), share)
}

// collectors are those of a GPU, the one that is taken first.
func (g *gpu) collectors() []string {
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(g.seconds)), func(who string) bool { return who == g.kind.collector })
	return append([]string{g.kind.collector}, rest...)
}
