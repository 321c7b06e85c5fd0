package aot

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/kernels/kernelstest"
	"matladder/lower/triton"
	"matladder/lower/triton/ttir"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// readOwn counts a kernel of this project by its text alone.
func readOwn(t *testing.T, k triton.Kernel) (*ttir.Kernel, ttir.Launch, *ttir.Counts) {
	t.Helper()
	read, err := ttir.Parse(k.Body)
	if err != nil {
		t.Fatal(err)
	}
	l := ttir.Launch{Grid: [3]int{int(k.Programs), 1, 1}, Warps: k.Params.Warps, Stages: k.Params.Stages}
	n, err := read.Count(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return read, l, n
}

// TestForeign_Own: this project's kernels, read from their text alone, do what their
// programs do.
func TestForeign_Own(t *testing.T) {
	for name, test := range map[string]struct {
		kernel string
		p      problem.Matmul
		b      tile.Blocks
		params triton.Params
	}{
		"v5":         {"v5", problem.New(512, 1024, 768, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 128}, triton.Params{}},
		"v5 group":   {"v5", problem.New(1024, 512, 2048, tile.BFloat16), tile.Blocks{M: 64, K: 32, N: 128}, triton.Params{Group: 4}},
		"v5 float32": {"v5", problem.New(512, 1024, 768, tile.Float32), tile.Blocks{M: 64, K: 32, N: 128}, triton.Params{}},
		"v5 int8":    {"v5", problem.New(512, 1024, 768, tile.Int8), tile.Blocks{M: 128, K: 128, N: 128}, triton.Params{}},
		"v4":         {"v4", problem.New(512, 1024, 768, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 128}, triton.Params{}},
		"v3":         {"v3", problem.New(512, 1024, 768, tile.Float32), tile.Blocks{M: 128, K: 128, N: 128}, triton.Params{}},
		"v2":         {"v2", problem.New(64, 256, 64, tile.BFloat16), tile.Blocks{M: 32, K: 256, N: 32}, triton.Params{}},
		"v1":         {"v1", problem.New(64, 64, 64, tile.BFloat16), tile.Blocks{M: 64, K: 64, N: 64}, triton.Params{}},
	} {
		launch, err := triton.Lower(kernelstest.Build(t, test.kernel, test.p, test.b), triton.Options{Params: test.params})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range launch.Kernels {
			if k.Turns {
				continue
			}
			want, err := model.GPUWorkOf(k.Program)
			if err != nil {
				t.Fatal(err)
			}
			_, _, n := readOwn(t, k)
			got := workOf(n, 0)
			// Blocks that read the same in one have to read the same in the other.
			for _, id := range []int64{0, want.Programs / 2, want.Programs - 1} {
				var one, other []int64
				for at := range want.Programs {
					want.Reads(k.Params.Group, at, func(r model.GPURead) { one = append(one, r.Bytes, sameAs(want, k.Params.Group, id, r)) })
					got.Reads(0, at, func(r model.GPURead) { other = append(other, r.Bytes, sameAs(got, 0, id, r)) })
				}
				if !slices.Equal(one, other) {
					t.Errorf("%s: blocks read other parts than block %d: %v, want %v", name, id, other, one)
				}
			}
			want.Reads, got.Reads = nil, nil
			if w, g := want, got; !slices.Equal(w.Dots, g.Dots) || w.Programs != g.Programs || w.Steps != g.Steps || w.FLOPs != g.FLOPs ||
				w.StepBytes != g.StepBytes || w.OnceBytes != g.OnceBytes || w.OutBytes != g.OutBytes || w.RevisedBytes != g.RevisedBytes || w.LeastBytes != g.LeastBytes {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// sameAs is 1 where block id reads a part too.
func sameAs(w model.GPUWork, group int, id int64, part model.GPURead) (same int64) {
	w.Reads(group, id, func(r model.GPURead) {
		if r == part {
			same = 1
		}
	})
	return same
}

// TestForeign_Matrix: every rung of every family in every dtype is read, and has the
// blocks, the steps and the arrays of its program, ragged and quantized ones too.
func TestForeign_Matrix(t *testing.T) {
	target := triton.TargetOf("nvidia_h200", 227<<10)
	read := 0
	for _, c := range matrix(t, nvidiaMatrix.formats) {
		launch, err := triton.Lower(c.programs, triton.Options{Target: target})
		if err != nil {
			continue // refused before there is a text
		}
		for _, k := range launch.Kernels {
			want, err := model.GPUWorkOf(k.Program)
			if err != nil || k.Turns {
				continue
			}
			read++
			_, _, n := readOwn(t, k)
			if got := workOf(n, n.MaybeBytes); got.Programs != want.Programs || got.Steps != want.Steps || math.Abs(float64(got.LeastBytes-want.LeastBytes)) > 0.01*float64(want.LeastBytes) {
				t.Errorf("%s %s: %+v, want %+v", c.rung(), c.what(), got, want)
			}
		}
	}
	if read < 50 {
		t.Errorf("%d kernels were read", read)
	}
}

// TestForeign_Baseline: what the runner of Python files answers of a kernel is predicted as the kernel and
// its launch are.
func TestForeign_Baseline(t *testing.T) {
	openGPU(t).Close()
	b, err := OpenGPUBackend(BackendOptions{Topology: "h100", Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	text, err := os.ReadFile("../../../lower/triton/ttir/testdata/product.ttir")
	if err != nil {
		t.Fatal(err)
	}
	k, err := ttir.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	const says = `"grid": [16, 8], "num_warps": 8, "args": {"M": 1024, "N": 1024, "K": 512, "row_a": 512, "row_b": 1024, "row_o": 1024}`
	launch, err := ttir.ReadLaunch([]byte("{" + says + "}"))
	if err != nil || launch.Grid != [3]int{16, 8, 1} || launch.Warps != 8 || launch.Stages != ttir.DefaultStages || launch.Args["K"] != "512" {
		t.Fatal(launch, err)
	}
	want, err := b.Foreign(t.Context(), k, launch)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Program: `{"ttir": ` + string(quoted) + ", " + says + "}"})
	if err != nil || math.Abs(got.Elapsed.Seconds()/want.Time.Seconds-1) > 1e-3 || got.Low >= got.Elapsed || got.High <= got.Elapsed {
		t.Errorf("%+v, %v, want %v", got, err, want.Time)
	}
	for program, why := range map[string]string{"": "unsupported", "{": "unexpected end", `{"ttir": "module {}"}`: "", `{"grid": [1, 1, 1, 1]}`: "4 dimensions"} {
		if _, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Program: program}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// TestForeign_Predicted: read from their text, this project's kernels are predicted as they are from their
// programs, at the rate of other people's kernels; kernels of others are compiled and predicted.
func TestForeign_Predicted(t *testing.T) {
	openGPU(t)
	for _, gpu := range []string{"a100", "h100"} {
		b, err := OpenGPUBackend(BackendOptions{Topology: gpu, Options: Options{Parallel: 1}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		programs := kernelstest.Build(t, "v5", problem.New(2048, 2048, 2048, tile.BFloat16), tile.Blocks{M: 128, K: 64, N: 128})
		want, err := b.Steps(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		launch, _, err := b.lowered(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		k, l, _ := readOwn(t, launch.Kernels[0])
		got, err := b.Foreign(t.Context(), k, l)
		if err != nil {
			t.Fatal(err)
		}
		w := want[0]
		w.Layout.Own = false
		if w.Time, err = model.GPUFit.On(w.Work, b.device, w.Layout, "bfloat16", ""); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Time.Seconds-w.Time.Seconds) > 0.01*w.Time.Seconds || got.Time.Limit != w.Time.Limit || got.Kernel.Registers != w.Kernel.Registers || got.Kernel.SharedBytes != w.Kernel.SharedBytes {
			t.Errorf("%s: %+v, want %+v", gpu, got.GPUStep, w)
		}
		if got.Least > got.Time.Seconds || got.Most < got.Time.Seconds || got.FLOPs != 2<<33 || got.Products != "bfloat16" {
			t.Errorf("%s: %+v", gpu, got)
		}
		for file, l := range map[string]ttir.Launch{
			"product": {Grid: [3]int{32, 16, 1}, Args: map[string]string{"M": "2048", "N": "2048", "K": "2048", "row_a": "2048", "row_b": "2048", "row_o": "2048"}},
			"rows":    {Grid: [3]int{4096, 1, 1}, Args: map[string]string{"n_rows": "4096", "n": "1000", "row": "1000"}},
			"stays":   {Grid: [3]int{108, 1, 1}, Args: map[string]string{"M": "2048", "N": "2048", "K": "2048"}},
			"trips":   {Grid: [3]int{108, 1, 1}, Args: map[string]string{"n": "256"}},
		} {
			l.Warps, l.Stages = 4, 3
			text, err := os.ReadFile("../../../lower/triton/ttir/testdata/" + file + ".ttir")
			if err != nil {
				t.Fatal(err)
			}
			k, err := ttir.Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.Foreign(t.Context(), k, l)
			if file == "trips" {
				if !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "how often the loop runs") {
					t.Errorf("%s: %v", file, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s on %s: %v", file, gpu, err)
				continue
			}
			if got.Kernel.Name != k.Name || got.Kernel.Grid != l.Grid || got.Kernel.Threads < 128 || got.Kernel.Registers < 16 || got.Layout.BlocksPerCore < 1 {
				t.Errorf("%s on %s: %+v", file, gpu, got.Kernel)
			}
			peak := b.device.Peak["bfloat16"].Value
			if s := got.Time.Seconds; s < float64(got.FLOPs)/peak || s < float64(got.Work.LeastBytes)/b.device.BandwidthBytesPerSecond.Value || s > 1e-3 || got.Least > s || got.Most < s {
				t.Errorf("%s on %s: %+v, %g … %g", file, gpu, got.Time, got.Least, got.Most)
			}
		}
	}
}

// TestForeign_Measured holds bands to what an H100 took.
func TestForeign_Measured(t *testing.T) {
	text, err := os.ReadFile("../../../tools/realkernels/triton_h100.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 25 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	outside := 0
	for _, row := range rows[1:] {
		var s [3]float64
		for i, at := range []int{2, 5, 6} {
			if s[i], err = strconv.ParseFloat(row[at], 64); err != nil {
				t.Fatal(err)
			}
		}
		if measured, least, most := s[0], s[1], s[2]; measured < least || measured > most {
			outside++
			t.Logf("%s: measured %g s, predicted %g … %g", row[0], measured, least, most)
		}
	}
	if outside > 2 {
		t.Errorf("%d of %d kernels took times outside of their bands", outside, len(rows)-1)
	}
}
