package plots

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"matladder/internal/goldentest"
	"matladder/results"
)

// The sample files are invented: figures of a plausible shape, not
// measurements. -update writes them anew.
const (
	sampleCPU = "testdata/sample_cpu.csv" // one run: 5 kernels, 3 dtypes, a baseline, failures
	sampleTPU = "testdata/sample_tpu.csv" // measured and predicted, square and other shapes
)

func TestSampleFiles(t *testing.T) {
	for path, rows := range map[string][]results.Record{sampleCPU: cpuSample(), sampleTPU: tpuSample()} {
		var csv bytes.Buffer
		if err := results.Write(&csv, rows); err != nil {
			t.Fatal(err)
		}
		goldentest.Assert(t, path, csv.Bytes())
	}
}

var readCPU, readTPU = reading(sampleCPU), reading(sampleTPU)

func reading(path string) func() (*results.File, error) {
	return sync.OnceValues(func() (*results.File, error) { return results.ReadFile(path) })
}

// readSample returns the rows of a sample file, which is read once.
func readSample(t *testing.T, path string) []results.Record {
	t.Helper()
	f, err := map[string]func() (*results.File, error){sampleCPU: readCPU, sampleTPU: readTPU}[path]()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Warnings() {
		t.Fatal(w)
	}
	return slices.Clone(f.Rows)
}

type sampler struct {
	rng  *rand.Rand
	base results.Record
	rows []results.Record
}

// point appends rounds of a point that runs at rate, or one row that says why
// it does not.
func (s *sampler) point(r results.Record, rounds int, rate float64, status results.Status) {
	r.FLOPs, _ = results.FLOPCount(1, r.M, r.K, r.N)
	if status != results.OK {
		r.Status, r.Reason = status, "sample of "+string(status)
		s.rows = append(s.rows, r)
		return
	}
	r.Status = results.OK
	r.ErrOverBound, r.RelErr = results.Some(0.031), results.Some(2.4e-6)
	for round := range rounds {
		r.Round = round
		for rep, launches := range launchCounts(r.Method) {
			r.Rep, r.Launches = rep, launches
			seconds := float64(r.FLOPs) / rate * (1 + 0.05*s.rng.Float64())
			if r.Mode == results.Predicted {
				seconds = float64(r.FLOPs) / rate
			}
			r.Seconds = rounded(seconds*float64(launches) + dispatch(r.Method))
			s.rows = append(s.rows, r)
		}
	}
}

func launchCounts(m results.Method) []int {
	if m == results.Loop {
		return []int{2, 12}
	}
	return []int{1}
}

func dispatch(m results.Method) float64 {
	if m == results.Loop {
		return 40e-6
	}
	return 0
}

func rounded(v float64) float64 {
	scale := math.Pow(10, 5-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// saturating is a rate that reaches half of most at size half.
func saturating(most, half float64, size int) float64 {
	return most * float64(size) / (float64(size) + half)
}

var samplePeaks = map[string]float64{"float32": 421e9, "bfloat16": 411e9, "int8": 1.74e12}

func cpuSample() []results.Record {
	s := &sampler{rng: rand.New(rand.NewPCG(1, 2)), base: results.Record{
		Schema: results.Schema, RunID: "20261120-101500", StartedAt: time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC),
		MatladderVersion: "0.1.0", Host: "bench-01", Backend: "cpu", Device: "Example CPU, 2 cores", Chip: "example-cpu",
		Mode: results.Measured, Method: results.Direct, Batch: 1, ISA: "avx512", Threads: 2, Devices: 1, Dist: "normal",
		Seed: results.Some[int64](1), Bandwidth: 31e9, BandwidthSource: "measured",
	}}
	for _, dtype := range []string{"float32", "bfloat16", "int8"} {
		s.base.DtypeA, s.base.DtypeB = dtype, dtype
		s.base.DtypeAcc, s.base.DtypeOut = "float32", dtype
		if dtype == "int8" {
			s.base.DtypeAcc, s.base.DtypeOut = "int32", "int32"
		}
		s.base.PeakFLOPs, s.base.PeakSource = samplePeaks[dtype], "measured"
		for size := 256; size <= 4096; size *= 2 {
			s.cpuSize(dtype, size)
		}
	}
	return s.rows
}

// blocksUpTo returns the candidate blocks clipped to size, equal ones once.
func blocksUpTo(size int) [][3]int {
	var list [][3]int
	seen := map[[3]int]bool{}
	for _, b := range [][3]int{{128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 1024, 1024}, {1024, 1024, 1024}} {
		b = [3]int{min(b[0], size), min(b[1], size), min(b[2], size)}
		if !seen[b] {
			seen[b] = true
			list = append(list, b)
		}
	}
	return list
}

func (s *sampler) cpuSize(dtype string, size int) {
	peak, rounds, width := samplePeaks[dtype], 3, map[string]int{"float32": 4, "bfloat16": 2, "int8": 1}[dtype]
	if dtype == "float32" {
		rounds = 6
	}
	at := s.base
	at.M, at.K, at.N = size, size, size
	blocked := func(kernel string, b [3]int) results.Record {
		r := at
		r.Kernel, r.BM, r.BK, r.BN = kernel, b[0], b[1], b[2]
		steps := (size / b[0]) * (size / b[1]) * (size / b[2])
		r.GridSteps = int64(steps)
		r.BytesMoved = int64(width*(steps*(b[0]*b[1]+b[1]*b[2])) + 4*size*size)
		r.BytesMin = int64(3 * width * size * size)
		r.FastBytes = int64(width * (b[0]*b[1] + b[1]*b[2] + b[0]*b[2]))
		return r
	}
	status := results.OK
	if size == 4096 {
		status = results.Timeout
	}
	s.point(blocked("v1_naive", [3]int{size, size, size}), rounds, saturating(peak*0.12, -90, size), status)
	s.point(blocked("v2_parallel", [3]int{size / 2, size, size / 2}), rounds, saturating(peak*0.3, 60, size), results.OK)
	s.point(blocked("v3_block", [3]int{128, 128, 128}), rounds, saturating(peak*0.52, 120, size), results.OK)
	for _, k := range []struct {
		name  string
		share float64
	}{{"v4_optblock", 0.86}, {"v5_quant", 0.92}} {
		for i, b := range blocksUpTo(size) {
			rate := saturating(peak*(k.share-0.30/float64(i+1)), 40+60*float64(i), size)
			status := results.OK
			switch {
			case b[0] == 1024:
				status = results.TooBig
			case dtype == "int8" && k.name == "v5_quant" && b[1] == 1024 && size == 2048:
				status = results.Wrong
			}
			s.point(blocked(k.name, b), rounds, rate, status)
		}
	}
	r := at
	r.Kernel, r.Backend, r.Method, r.ISA, r.Plugin, r.PluginVersion = results.Baseline, "xla-cpu", results.Loop, "", "xla-cpu", "0.9"
	status = results.OK
	if dtype == "int8" {
		status = results.Skipped
	}
	s.point(r, rounds, saturating(peak*0.62, 150, size), status)
}

func tpuSample() []results.Record {
	s := &sampler{rng: rand.New(rand.NewPCG(3, 4)), base: results.Record{
		Schema: results.Schema, RunID: "20261121-080000", StartedAt: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
		MatladderVersion: "0.1.0", Host: "tpu-vm-7", Backend: "tpu", Device: "TPU v5 lite", Chip: "v5e",
		Plugin: "libtpu", PluginVersion: "0.0.21",
		Mode: results.Measured, Method: results.Loop, Batch: 1, Devices: 1, Dist: "normal", Seed: results.Some[int64](1),
		DtypeA: "bfloat16", DtypeB: "bfloat16", DtypeAcc: "float32", DtypeOut: "bfloat16",
		PeakFLOPs: 197e12, PeakSource: "published", Bandwidth: 819e9, BandwidthSource: "published",
	}}
	shapes := [][3]int{{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192},
		{128, 4096, 11008}, {1024, 4096, 11008}, {2048, 11008, 4096}, {1, 4096, 4096}}
	for _, shape := range shapes {
		at := s.base
		at.M, at.K, at.N = shape[0], shape[1], shape[2]
		size := int(math.Cbrt(float64(at.M) * float64(at.K) * float64(at.N)))
		for i, kernel := range []string{"v3_block", "v4_optblock", "v5_quant", results.Baseline} {
			r := at
			r.Kernel = kernel
			if kernel != results.Baseline {
				r.BM, r.BK, r.BN = min(256<<i, at.M), min(256<<i, at.K), min(256<<i, at.N)
				r.GridSteps = int64(((at.M + r.BM - 1) / r.BM) * ((at.K + r.BK - 1) / r.BK) * ((at.N + r.BN - 1) / r.BN))
				r.BytesMoved = int64(2 * at.M * at.K * at.N * (r.BM + r.BN) / (r.BM * r.BN))
			}
			rate := saturating(197e12*[]float64{0.31, 0.78, 0.83, 0.9}[i], 700, size) * math.Min(1, float64(at.M)/128)
			s.point(r, 6, rate, results.OK)
			if kernel == results.Baseline {
				continue
			}
			r.Mode, r.Method, r.Backend, r.Plugin, r.PluginVersion = results.Predicted, results.AOT, "aot", "", ""
			s.point(r, 1, rate*1.08, results.OK)
		}
	}
	return s.rows
}
