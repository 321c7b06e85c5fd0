package inspect

import (
	"os"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/aot"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// TestLowered: the texts are those that a compiler would take.
func TestLowered(t *testing.T) {
	code, stdout, stderr := inspect("v3", "--as", "mosaic")
	if code != cli.OK || !strings.Contains(stdout, "stable_mosaic.") || !strings.Contains(stdout, "v3_block") {
		t.Errorf("%d %.300s %s", code, stdout, stderr)
	}
	code, stdout, stderr = inspect("v3", "--as", "stablehlo")
	if code != cli.OK || !strings.Contains(stdout, "stablehlo.custom_call @tpu_custom_call") {
		t.Errorf("%d %.300s %s", code, stdout, stderr)
	}
}

// TestSchedule compiles for a chip with none at hand, and reads what is said of the
// small blocks of v3 and of the large ones of v5.
func TestSchedule(t *testing.T) {
	b, err := aot.OpenBackend(aot.BackendOptions{Topology: "v5e"})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	b.Close()
	for args, want := range map[string][]string{
		"v3 --dtype bfloat16 --sizes 2048 --as schedule":                        {"v3_block: 4096 grid steps", "limit: step overhead. ", "TFLOP/s, 6."},
		"v5 --dtype bfloat16 --sizes 2048 --blocks 512x1024x1024 --as schedule": {"v5_quant: 16 grid steps", "limit: compute. ", "matrix "},
		"v1 --sizes 512 --as schedule --topology v6e":                           {"v1_naive: 1 grid step,", "limit: copies that nothing hides. "},
		"v3 --dtype bfloat16 --sizes 1024 --as schedule --format csv":           {"v3_block", ",steps,512\n", ",limit,step overhead\n"},
		"v5 --dtype int8 --sizes 2048 --blocks 2048x2048x2048 --as schedule":    nil,
	} {
		code, stdout, stderr := inspect(strings.Fields(args)...)
		if want == nil {
			if code != cli.Failed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "too big: needs") {
				t.Errorf("%s: %d %s", args, code, stderr)
			}
			continue
		}
		for _, w := range want {
			if code != cli.OK || !strings.Contains(stdout, w) {
				t.Errorf("%s: no %q in\n%s%s", args, w, stdout, stderr)
			}
		}
	}
}

// TestLimit: each limit is told in words, with the figures that show it.
func TestLimit(t *testing.T) {
	d, ok := machine.Lookup("v5e")
	if !ok {
		t.Fatal("no v5e")
	}
	p := problem.New(512, 512, 512, tile.BFloat16)
	r := report{options: &options{subject: subjectOf(kernels.All[4], p), device: d, kernel: kernels.All[4], problem: p}, backend: &aot.Backend{}}
	for limit, want := range map[model.Limit]string{
		model.Overhead: "A step costs 3.00 µs before it does anything, and computes for 2.00 µs only; there are 10 of them",
		model.Memory:   "Moving a step's blocks takes 4.00 µs, computing with them 2.00 µs: 100 FLOPs for each byte moved, and the chip needs 241",
		model.Compute:  "The products of a step take 2.00 µs at the peak; HBM is busy for 200 % of that time",
	} {
		p := aot.Explained{Schedule: &schedule.Schedule{}}
		p.Work = model.Work{Steps: 10, FLOPs: 1e6, Bytes: 1e4, Cycles: 100}
		p.Time = model.Time{Steps: 10, Step: 9e-6, Seconds: 9e-5, Compute: 2e-6, Transfer: 4e-6, Overhead: 3e-6, Edges: 1e-6, Limit: limit}
		if have := r.limit(p); !strings.Contains(have, want) {
			t.Errorf("%s: %s", limit, have)
		}
	}
}
