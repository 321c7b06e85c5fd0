package inspect

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
)

const tritonTests = "../../../lower/triton/ttir/testdata/"

// copied is a kernel of the tests in a folder of its own, with what says how it is launched.
func copied(t *testing.T, name, launch string) string {
	t.Helper()
	text, err := os.ReadFile(tritonTests + name + ".ttir")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".ttir")
	put(t, file, string(text))
	if launch != "" {
		put(t, strings.TrimSuffix(file, ".ttir")+".json", launch)
	}
	return file
}

// TestTriton: kernels of Triton are predicted for GPUs, launched as the file beside them or
// the command line says.
func TestTriton(t *testing.T) {
	c, err := aot.OpenGPU(aot.Options{})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cuda") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c.Close()
	// What Triton writes there has no grid and no args, and much else.
	file := copied(t, "stays", `{"name": "stays", "num_warps": 8, "num_stages": 3, "shared": 1, "grid": [32], "args": {"M": 1024, "N": 1024, "K": 512}}`)
	code, stdout, stderr := inspect(file, "--topology", "a100,h100")
	for _, want := range []string{"stays, grid 32x1x1, 8 warps, 3 stages, on NVIDIA A100", "note: a persistent kernel", "64 × 8", "% of the bfloat16 peak of 312 TFLOP/s\n", "fastest: h100, "} {
		if code != cli.OK || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	code, stdout, stderr = inspect(file, "--topology", "h100", "--format", "csv", "--launch", "grid=64 M=2048 num_stages=2")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != cli.OK || err != nil || len(rows) != 2 {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	for name, want := range map[string]string{"chip": "h100", "kernel": "stays", "flops": "2147483648", "threads": "256", "blocks": "128", "steps": "1024", "unsupported": ""} {
		if got := rows[1][slices.Index(rows[0], name)]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	file = copied(t, "trips", `{"grid": [64], "args": {"n": 256}}`)
	if code, stdout, stderr := inspect(file); code != cli.OK || !strings.Contains(stdout, "unsupported: line ") || !strings.Contains(stdout, "how often the loop runs depends on what line ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestTriton_Hostile: what is no kernel, or no launch, is one line before any compiler sees it.
func TestTriton_Hostile(t *testing.T) {
	good := copied(t, "product", "")
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.ttir": "", "cut.ttir": string(text[:len(text)/2]), "words.ttir": "no kernel", "module.ttir": "module {\n}\n", "cut.mlir": string(text[:len(text)/3]),
	} {
		put(t, filepath.Join(dir, name), text)
	}
	huge := filepath.Join(dir, "huge.ttir")
	put(t, huge, "")
	if err := os.Truncate(huge, 200<<20); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		dir + "/empty.ttir":  "the file is empty",
		dir + "/cut.ttir":    "it is cut short",
		dir + "/cut.mlir":    "it is cut short",
		dir + "/words.ttir":  "no Triton kernel",
		dir + "/module.ttir": "no Triton kernel",
		dir + "/none.ttir":   "none.ttir: ",
		huge:                 "is longer than 67108864 bytes",
		copied(t, "product", `{"grid": [1,1,1,1]}`): "a grid of 4 dimensions",
		copied(t, "product", `{"grid": `):           "product.json: ",
		copied(t, "product", `{"num_warps": 6}`):    "num_warps is 6, want a power of two",
	} {
		if code, stdout, stderr := inspect(strings.Fields(args)...); code != cli.Failed || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
	for args, want := range map[string]string{
		good: `product needs the value of M, N, K, row_a, row_b, row_o: say it in `,
		good + " --launch M=1,N=1,K=1,row_a=1,row_b=1,row_o=1": "its grid is not known: say it in ",
		good + " --launch grid=1,Q=1":                          "product has no argument Q (it has a, b, o, M,",
		"kernel.py:matmul --topology h100":                     "as in bench --with kernel.py:FUNCTION --topology h100",
		"kernel.py":                                            "as in bench --with kernel.py:FUNCTION",
		"kernel.cubin --topology h100":                         "the .ttir file next to it",
		good + " --launch grid":                                `"grid": want NAME=VALUE`,
		good + " --launch grid=1x2x3x4":                        "want one to three sizes",
		good + " --launch num_warps=0":                         "want a number from 1 to 64",
		good + " --launch num_warps=6":                         "want a power of two",
		good + " --topology v5e":                               `unknown GPU "v5e"`,
		good + " --topology a100,a100":                         "a100 is listed twice",
		good + " --as schedule":                                "is a kernel of Triton, and can be shown as table",
		good + " --sizes 8":                                    "--sizes is for a kernel",
		good + " --backend cpu":                                "runs nowhere",
		"testdata/block.mlir --launch grid=1":                  "--launch is for a kernel of Triton",
	} {
		if code, _, stderr := inspect(strings.Fields(args)...); code != cli.Usage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("inspect %s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}
