//go:build linux && cgo

package pjrt

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/xla/aot"
	rungs "matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestGPU_Loop compiles the very program that would be timed for GPUs that are not
// there: the kernel stays in an inner loop, of which XLA knows how often it runs.
func TestGPU_Loop(t *testing.T) {
	c, err := aot.OpenGPU(aot.Options{Optimized: true})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cuda") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer c.Close()
	g, err := aot.FindGPU("h100")
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Device()
	if err != nil {
		t.Fatal(err)
	}
	p := problem.New(512, 512, 512, tile.BFloat16)
	programs := rungAt(t, 5, p, tile.Blocks{M: 128, K: 64, N: 128})
	l, err := launchOf(d, programs, backend.Params{Extra: map[string]string{"num_stages": "3"}})
	if err != nil {
		t.Fatal(err)
	}
	times, sets := together(d, flopsOf(programs)), 8
	if times < 100 {
		t.Errorf("%d launches of %g FLOPs together", times, flopsOf(programs))
	}
	for _, method := range Methods() {
		got, err := c.Compile(t.Context(), g, module(l, method, times, sets))
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if n := len(got.Kernels); n == 0 || !strings.Contains(got.Sequence, "v5_quant") {
			t.Errorf("%s: %d kernels in\n%s", method, n, got.Sequence)
		}
		if launches := strings.Count(got.Sequence, " v5_quant"); method == Loop && launches != sets+sets+sets-1 {
			t.Errorf("%d launches of %d sets in\n%s", launches, sets, got.Sequence)
		}
		if method == Loop && !bytes.Contains(got.Optimized, []byte("known_trip_count")) {
			t.Errorf("XLA does not see how often the inner loop runs:\n%s", got.Sequence)
		}
		t.Logf("%s:\n%s", method, got.Sequence)
	}
}

// TestGPU_AlongK: Hopper's products of 8 bits read both operands from shared memory, where
// loads bring them that no register waits for; the copy along k that lets them is in the
// loop that times launches.
func TestGPU_AlongK(t *testing.T) {
	c, err := aot.OpenGPU(aot.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer c.Close()
	g, err := aot.FindGPU("h200")
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Device()
	if err != nil {
		t.Fatal(err)
	}
	l, err := launchOf(d, rungAt(t, 5, problem.New(512, 512, 512, tile.Int8), tile.Blocks{M: 128, K: 64, N: 128}), backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Compile(t.Context(), g, module(l, Loop, 8, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range got.Kernels {
		if n := k.Instructions; strings.HasPrefix(k.Name, "v5_quant") && k.Disassembled && (n["LDG"] > 0 || n["LDGSTS"] == 0 || n["IGMMA"] == 0) {
			t.Errorf("%s: %v", k.Name, n)
		}
	}
	_, inner, _ := strings.Cut(got.Sequence, "body:")
	if strings.Count(inner, " turn_b") != strings.Count(inner, " v5_quant") || !strings.Contains(inner, " v5_quant") {
		t.Errorf("copies are outside of a loop:\n%s", got.Sequence)
	}
}

// TestGPU_Refused: what does not fit a multiprocessor, and what an A100 lacks, is told
// before any compiler runs.
func TestGPU_Refused(t *testing.T) {
	a100, err := machine.Find("nvidia_a100_80gb")
	if err != nil {
		t.Fatal(err)
	}
	var big *backend.TooBigError
	p := problem.New(2048, 2048, 2048, tile.BFloat16)
	if _, err := launchOf(a100, rungAt(t, 1, p, tile.Blocks{M: 2048, K: 2048, N: 2048}), backend.Params{}); !errors.As(err, &big) {
		t.Errorf("whole arrays: %v", err)
	}
	p = problem.New(256, 256, 256, tile.Float8E4M3FN)
	if _, err := launchOf(a100, rungAt(t, 5, p, tile.Blocks{M: 128, K: 128, N: 128}), backend.Params{}); !errors.Is(err, backend.ErrUnsupported) {
		t.Errorf("float8: %v", err)
	}
	if together(a100, 1e18) != 1 || together(machine.Device{Kind: machine.TPU}, 1) != 0 {
		t.Error("long launches, and those of a TPU, are not taken together")
	}
}

// rungAt builds a rung with blocks.
func rungAt(t *testing.T, number int, p problem.Matmul, b tile.Blocks) []*tile.Program {
	t.Helper()
	programs, err := rungs.All[number-1].Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}
