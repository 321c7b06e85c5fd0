package aot

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/kernels/kernelstest"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// openTriton returns the compiler for AMD's GPUs, or skips the test where Python has no Triton. A
// test that MATLADDER_REQUIRE names fails instead.
func openTriton(t *testing.T) *amdCompiler {
	t.Helper()
	c, err := openAMD(Options{})
	needTriton(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func needTriton(t *testing.T, err error) {
	t.Helper()
	if err != nil && slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "triton") {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
}

func openAMDBackend(t *testing.T, name string) *GPUBackend {
	t.Helper()
	b, err := OpenGPUBackend(BackendOptions{Topology: name, Cache: t.TempDir()})
	needTriton(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// TestReadAMD reads what Triton 3.9.0 wrote of a product of float32 for gfx950, shortened, with a spill
// and static shared memory put in.
func TestReadAMD(t *testing.T) {
	k, err := readAMD(testdata(t, "gfx950.s"))
	if err != nil {
		t.Fatal(err)
	}
	if k.Registers != 143 || k.Accumulators != 15 || k.SpillBytes != 8 || k.SharedBytes != 512 {
		t.Errorf("%+v", k)
	}
	if i := k.Instructions; i["v_mfma"] != 2 || i["v_mfma_f32_32x32x2_f32"] != 2 || i["s_waitcnt"] != 1 || i["s_endpgm"] != 1 || i["total"] != 6 {
		t.Errorf("%v", i)
	}
	if d, p := multiplied(k, "float8_e4m3fn", ""); d != "float32" || p != "highest" {
		t.Errorf("it multiplies %s %s", d, p)
	}
	if unit := unitOf(k); unit != model.GPUMFMA {
		t.Errorf("unit %s", unit)
	}
	for _, text := range []string{"", strings.Repeat(testdata(t, "gfx950.s"), 2)} {
		if _, err := readAMD(text); err == nil {
			t.Errorf("no error of %d bytes", len(text))
		}
	}
}

// TestAMDOccupancy: as many waves of a SIMD as LLVM says in its assembly.
func TestAMDOccupancy(t *testing.T) {
	c := openTriton(t)
	g, err := FindGPU("mi300x")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^; Occupancy: (\d+)`)
	device, err := g.Device()
	if err != nil {
		t.Fatal(err)
	}
	target := triton.TargetOf(device.Key, int64(device.FastBytes.Value))
	for _, b := range []tile.Blocks{{M: 32, K: 32, N: 32}, {M: 64, K: 64, N: 64}, {M: 128, K: 64, N: 128}, {M: 256, K: 64, N: 128}} {
		launch, err := triton.Lower(kernelstest.Build(t, "v5", problem.New(1024, 1024, 1024, tile.BFloat16), b), triton.Options{Target: target})
		if err != nil {
			t.Fatal(err)
		}
		p := launch.Kernels[0].Params
		text, err := c.CompileTriton(t.Context(), launch.Kernels[0].Body, g.Arch, p.Warps, p.Stages)
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ Text string }
		if err := json.Unmarshal([]byte(text), &made); err != nil {
			t.Fatal(err)
		}
		k, err := readAMD(made.Text)
		if err != nil {
			t.Fatal(err)
		}
		k.Threads = g.Warp // one wave
		want, _ := strconv.Atoi(said.FindStringSubmatch(made.Text)[1])
		if got := g.blocksPerCore(k); got != min(32, schedulers*want) {
			t.Errorf("%s: %d registers: %d waves, LLVM says %d of each SIMD", b, k.Registers, got, want)
		}
	}
}

// TestAMDPredicts: v5 on each GPU of AMD, with the matrix instructions of its generation, between the
// peak and a fifth of it.
func TestAMDPredicts(t *testing.T) {
	for name, opcode := range map[string]string{"mi300x": "v_mfma_f32_32x32x8_bf16", "mi325x": "v_mfma_f32_32x32x8_bf16", "mi350x": "v_mfma_f32_32x32x16_bf16", "mi355x": "v_mfma_f32_32x32x16_bf16"} {
		b := openAMDBackend(t, name)
		p := problem.New(8192, 8192, 8192, tile.BFloat16)
		steps, err := b.Steps(t.Context(), kernelstest.Build(t, "v5", p, tile.Blocks{M: 128, K: 64, N: 128}), backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		s := steps[0]
		if len(steps) != 1 || s.Kernel.Instructions[opcode] == 0 || s.Kernel.SpillBytes != 0 || s.Layout.Unit != model.GPUMFMA || s.Kernel.Threads != 64*s.Params.Warps {
			t.Errorf("%s: %+v", name, steps)
		}
		if part := float64(p.FLOPs()) / s.Time.Seconds / b.Device().Peak["bfloat16"].Value; part > 1 || part < 0.2 {
			t.Errorf("%s: %.2f of the peak", name, part)
		}
	}
}

// TestAMDWidens: a product whose dtype has no instruction is predicted at the rate of what it is widened to.
func TestAMDWidens(t *testing.T) {
	p := problem.New(4096, 4096, 4096, tile.Float8E4M3FN)
	p.Out = tile.Float32
	for name, want := range map[string]string{"mi300x": "bfloat16", "mi355x": "float8_e4m3fn"} {
		b := openAMDBackend(t, name)
		steps, err := b.Steps(t.Context(), kernelstest.Build(t, "v5", p, tile.Blocks{M: 128, K: 64, N: 128}), backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := multiplied(steps[0].Kernel, "", ""); d != want {
			t.Errorf("%s multiplies %s, want %s: %v", name, d, want, steps[0].Kernel.Instructions)
		}
	}
}

// TestAMDRefusals: what cannot be compiled is an error that says why in a line, and the next kernel
// is compiled.
func TestAMDRefusals(t *testing.T) {
	c := openTriton(t)
	g, err := FindGPU("mi300x")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"module {", "no text", "module {\n  tt.func public @f() {\n    %0 = tt.none : i32\n    tt.return\n  }\n}"} {
		_, err := c.compile(t.Context(), g, tritonText{"f", text, [3]int{1, 1, 1}, 4, 2})
		var crash *backend.CrashError
		if err == nil || strings.Contains(err.Error(), "\n") || !errors.Is(err, backend.ErrUnsupported) && !errors.As(err, &crash) {
			t.Errorf("%q: %v", text, err)
		}
	}
	k, err := c.compile(t.Context(), g, tritonText{"f", "module {\n  tt.func public @f() {\n    tt.return\n  }\n}", [3]int{1, 1, 1}, 4, 2})
	if err != nil || k.Instructions["s_endpgm"] == 0 || k.Threads != 256 {
		t.Errorf("%+v: %v", k, err)
	}
}

// TestAMDNotebook: the rows of docs/notebook/prediction_gpu.md are what is predicted, at the peak clock and at
// the one that AMD measured under such products.
func TestAMDNotebook(t *testing.T) {
	page, err := os.ReadFile("../../../docs/notebook/prediction_gpu.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mi300x", "mi355x"} {
		b := openAMDBackend(t, name)
		if _, version := b.Plugin(); !strings.Contains(string(page), "Triton "+version) {
			t.Skipf("the page has another Triton than %s", version)
		}
		rate := func(n int, clock float64) float64 {
			p := problem.New(n, n, n, tile.BFloat16)
			steps, err := b.Steps(t.Context(), kernelstest.Build(t, "v5", p, tile.Blocks{M: 128, K: 64, N: 128}), backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			slow := b.Device()
			slow.ClockHertz.Value *= clock
			peak := slow.Peak["bfloat16"]
			peak.Value *= clock
			slow.Peak = map[string]machine.Figure{"bfloat16": peak}
			time, err := model.GPUFit.On(steps[0].Work, slow, steps[0].Layout, "bfloat16", "")
			if err != nil {
				t.Fatal(err)
			}
			return float64(p.FLOPs()) / time.Seconds / 1e12
		}
		row := "| " + strings.ToUpper(name) + " | predicted |"
		for _, n := range []int{1024, 2048, 4096, 8192} {
			row += fmt.Sprintf(" %.0f |", rate(n, 1))
		}
		if name == "mi300x" {
			slow := fmt.Sprintf("%.0f TFLOP/s at 1.2 GHz", rate(8192, 1.2/2.1))
			if !strings.Contains(string(page), slow) {
				t.Errorf("the page does not say %s", slow)
			}
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("the page has no row %s", row)
		}
	}
}
