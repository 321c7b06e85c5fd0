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

// known are the GPUs of the wheel that package machine knows, and whose collector to take: PyTorch's
// linear layer calls cuBLAS, and vLLM's collector is the newest that has it for all of them.
var known = []gpu{
	{folder: "a100_sxm", device: "nvidia_a100_80gb"},
	{folder: "h100_sxm", device: "nvidia_h100_sxm"},
	{folder: "h200_sxm", device: "nvidia_h200"},
	{folder: "b200_sxm", device: "nvidia_b200"},
}

const collector, library = "vllm", "PyTorch's linear layer (cuBLAS)"

// shape is m, n and k, of m×k by k×n elements.
type shape [3]int

func (s shape) flops() float64 { return 2 * float64(s[0]) * float64(s[1]) * float64(s[2]) }

// bytes are those of bfloat16 operands and output, each once.
func (s shape) bytes() float64 {
	m, n, k := float64(s[0]), float64(s[1]), float64(s[2])
	return 2 * (m*k + k*n + m*n)
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
	chip           machine.Device
	seconds        map[string]map[shape]float64 // by collector
	versions       map[string]string
	table          vendor.Table
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

// read reads bfloat16 products; of a collector's versions the one with most shapes.
func (g *gpu) read(archive *zip.Reader) (err error) {
	if g.chip, err = machine.Find(g.device); err != nil {
		return err
	}
	g.seconds, g.versions = map[string]map[shape]float64{}, map[string]string{}
	root := "aiconfigurator_core/systems/data/" + g.folder + "/gemm/"
	for _, f := range archive.File {
		if !strings.HasPrefix(f.Name, root) || path.Base(f.Name) != "gemm_perf.parquet" {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(f.Name, root), "/")
		who, v := parts[0], parts[1]
		r, err := f.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return err
		}
		rows, err := parquet.Read[row](bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		times := map[shape][]float64{}
		for _, r := range rows {
			if r.Dtype == "bfloat16" && r.Latency > 0 {
				s := shape{int(r.M), int(r.N), int(r.K)}
				times[s] = append(times[s], r.Latency/1e3)
			}
		}
		if len(times) < len(g.seconds[who]) { // the collector's other version has more
			continue
		}
		g.versions[who], g.seconds[who] = v, map[shape]float64{}
		for s, all := range times {
			g.seconds[who][s] = median(all)
		}
		if who == collector {
			g.table = vendor.Table{Device: g.device, Dtype: "bfloat16", Library: library, Package: "aiconfigurator-core " + version, Path: f.Name}
		}
	}
	if len(g.seconds[collector]) == 0 {
		return fmt.Errorf("%s has no bfloat16 products of %s", root, collector)
	}
	return nil
}

// judge makes the table of the rows to fit and measures its error at the others.
func (g *gpu) judge() {
	fitted, held := map[shape]float64{}, map[shape]float64{}
	var grid [3][]int
	counts := map[int]int{} // of values of m
	for s, t := range g.seconds[collector] {
		if s.held(g.folder) {
			held[s] = t
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
	g.table.M, g.table.N, g.table.K = grid[0], grid[1], grid[2]
	for _, m := range grid[0] {
		for _, n := range grid[1] {
			for _, k := range grid[2] {
				g.table.Nanoseconds = append(g.table.Nanoseconds, rounded(1e9*cell(fitted, grid, shape{m, n, k})))
			}
		}
	}
	g.errors = map[string][]float64{}
	var all []float64
	for s, t := range held {
		guess, err := g.table.Seconds(s[0], s[2], s[1])
		if err != nil {
			continue
		}
		e := math.Abs(guess/t - 1)
		g.errors[s.class()] = append(g.errors[s.class()], e)
		all = append(all, e)
	}
	g.table.MedianError, g.table.Error90 = rounded3(quantile(all, .5)), rounded3(quantile(all, .9))
}

// cell is the time at a point of the grid: as measured, or, of a held-out shape, the median of what
// its neighbours along each axis say. 0 if there are none.
func cell(fitted map[shape]float64, grid [3][]int, s shape) float64 {
	if t, ok := fitted[s]; ok {
		return t
	}
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
		return 0
	}
	return median(guesses)
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
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(g.seconds)), func(who string) bool { return who == collector })
	return append([]string{collector}, rest...)
}
