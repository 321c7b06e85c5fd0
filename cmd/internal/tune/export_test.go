package tune

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/problem"
	"matladder/tile"
)

// TestExport: a layer's products are taken from a table of a GPU that is predicted, and written with
// what they rest on; the file is read back, and a worse setting in one is found.
func TestExport(t *testing.T) {
	c, err := aot.OpenGPU(aot.Options{})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cuda") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c.Close()
	t.Chdir(t.TempDir())
	args := []string{"--topology", "h100", "--out", "t.yaml", "--moe", "2,1,1024,1024", "--tokens", "64"}
	f, err := parseFlags(args)
	if err != nil || len(f.config.Sizes) != 2 || f.config.Sizes[1] != (problem.Sizes{32, 1024, 1024, 2}) || !slices.Equal(f.config.Kernels, []int{5}) || f.config.Asked[0].A != tile.BFloat16 {
		t.Fatalf("%v %+v", err, f.config)
	}
	const table = "machine: nvidia_h100_sxm\nrows:\n  - {kernel: v5_quant, batch: 2, shape: 32x1024x2048, a: bfloat16, out: bfloat16, blocks: 32x64x64, mode: predicted, seconds: 0.0001, versions: none, date: \"2026-11-28\"}\n"
	if err := os.WriteFile("t.yaml", []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	const file = "out/vllm-moe/E=2,N=1024,device_name=NVIDIA_H100_80GB_HBM3.json"
	code, stdout, stderr := tuneWith(append(args, "--export", "vllm-moe")...)
	if want := regexp.MustCompile(`^64: \d+x\d+x\d+ group=\d+ num_stages=\d num_warps=\d, .* predicted; the default 32x128x64 group=1 num_stages=3 num_warps=4 takes \d+\.\d{3} × as long\n` + file + `: 1 setting; `); code != cli.OK || !want.MatchString(stdout) {
		t.Fatalf("%d\n%s%s", code, stdout, stderr)
	}
	evidence, err := os.ReadFile(file + ".evidence.json")
	if err != nil || !strings.Contains(string(evidence), `"mode": "predicted"`) || !strings.Contains(string(evidence), "tune --topology=h100 ") {
		t.Errorf("%v\n%s", err, evidence)
	}
	imports := append(args, "--from", "vllm-moe", "--import", file)
	if code, stdout, stderr = tuneWith(imports...); code != cli.OK || stdout != file+": 0 of 1 setting predicted slower than the default on NVIDIA H100 80GB HBM3; 0 not compared, 0 left for want of time, 0 of other devices or products\n" {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	slow := `{"64": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 16, "BLOCK_SIZE_K": 16, "GROUP_SIZE_M": 1, "num_warps": 4, "num_stages": 2}, "1": {"BLOCK_SIZE_M": 4096, "BLOCK_SIZE_N": 16, "BLOCK_SIZE_K": 16, "GROUP_SIZE_M": 1, "num_warps": 3}}`
	if err := os.WriteFile(file, []byte(slow), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = tuneWith(imports...)
	if code != cli.OK || !strings.HasPrefix(stdout, "64: theirs 16x16x16 group=1 num_stages=2 num_warps=4 takes ") || !strings.Contains(stdout, ": 1 of 2 settings predicted slower") || !strings.Contains(stdout, "; 1 not compared, ") || !strings.Contains(stderr, "num_warps = 3: must be a power of two") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = tuneWith(append(args, "--export", "triton")...); code != cli.Failed || !strings.Contains(stderr, "t.yaml has no row of v5_quant that triton has a place for") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}
