package inspect

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/backend/cpu/cputest"
	"matladder/backend/registry/builtin"
	"matladder/backend/registry/registrytest"
	"matladder/internal/cli"
	"matladder/internal/cli/clitest"
	"matladder/kernels/doublingtest"
)

func TestMain(m *testing.M) {
	builtin.Hook()
	registrytest.Hook()
	doublingtest.Hook()
	os.Exit(cputest.Main(m, 0, 1))
}

func inspect(args ...string) (code int, stdout, stderr string) {
	var out, wrong bytes.Buffer
	code = Run(context.Background(), args, &out, &wrong)
	return code, out.String(), wrong.String()
}

// TestManual runs every example of the documentation.
func TestManual(t *testing.T) {
	list := append(clitest.Examples(t, "inspect", 4), clitest.InManual("inspect", manual)...)
	t.Chdir(t.TempDir())
	for _, e := range list {
		code, stdout, stderr := inspect(e.Args...)
		if code != cli.OK {
			t.Errorf("exit %d", code)
		}
		e.Check(t, stdout+stderr)
	}
}

// TestMistakes: each bad input is one line that says what is wrong.
func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"":                                "want one kernel",
		"v3 v4":                           "have 2",
		"v9":                              `unknown kernel "v9"`,
		"v3 --sizes 0":                    `--sizes: size "0": must be at least 1`,
		"v3 --sizes 1x2":                  `--sizes: size "1x2": want one number, or m×k×n`,
		"v3 --sizes 512,1024":             `--sizes: "512,1024": want one, have 2`,
		"v3 --sizes 99999999999999999999": `--sizes: size "99999999999999999999": overflows`,
		"v3 --sizes 3000000":              "--sizes: size 1x3000000x3000000x3000000 overflows",
		"v3 --dtype float33":              "--dtype",
		"v3 --dtype int4":                 "v3_block",
		"v3 --blocks 1x1x1":               "--blocks is for kernels that take a choice",
		"v4 --blocks 1x1":                 "bm×bk×bn",
		"v3 --chip v9":                    `--topology: device "v9" is unknown`,
		"v3 --as movie":                   `unknown "movie"`,
		"v3 --as tile --format html":      "--as tile has no",
		"v3 --as counts --steps 3":        "--steps is for",
		"v3 --as steps --steps 0":         "at least 1",
		"v3 --as traverse --out=":         "--out is empty",
		"v3 --frobnicate":                 "frobnicate",
		"v3 --topology v9":                `--topology: device "v9" is unknown`,
		"v3 --as schedule --chip nvidia_h100_sxm":   `unknown TPU topology "nvidia_h100_sxm"`,
		"v3 --as mosaic --format svg":               "--as mosaic has no",
		"v3 --as cpu --chip v5e":                    "leave --topology out",
		"v3 --as cpu --threads -1":                  "negative",
		"v3 --as cpu --format csv":                  "--as plan has no",
		"v3 --threads 2":                            "--threads is for --as plan",
		"v3 --variant fused":                        `no "fused"`,
		"v3 --dtype float32,int8":                   "want one, have 2",
		"v5 --dtype int8:per_row":                   `"per_row"`,
		"v3 --as counts --out file/x":               "file",
		"v3 --as counts --out .":                    "cannot write .: it is a folder",
		"v3 --as steps --steps x":                   `--steps: "x" is not a whole number (inspect --help`,
		"v3 --topology=":                            "--topology is empty",
		"v3 --dtype x":                              `--dtype: dtype "x": unknown dtype ""`,
		"v4 --sizes 4096 --blocks 1x1x1 --as steps": "take too long",
		"v5 --as accumulator --topology v5e":        "leave --topology out",
		"v5 --as accumulator --backend aot":         "backend aot has none",
		"v5 --as plan --backend aot":                "backend aot has none",
		"v5 --as accumulator --sizes 3":             "at least 4 products",
		"v5 --as accumulator --sizes 4x4096x4":      "at most 2048 products",
		"softmax/v1 --as accumulator":               "is for kernels of matrix products",
		"v5 --as accumulator --dtype float32:relu":  "without activation",
	} {
		code, _, stderr := inspect(strings.Fields(args)...)
		if code == cli.OK || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("inspect %s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}

// TestCPU: every kernel has a plan, in each of its dtypes and variants.
func TestCPU(t *testing.T) {
	t.Setenv("MATLADDER_CPU", "generic")
	cputest.Use(t, 1, 3)
	for _, args := range []string{
		"v1", "v2", "v3 --dtype bfloat16", "v4 --dtype int8", "v5", "v4 --sizes 4x1000x1000 --threads 3",
		"v5 --dtype int8:per_channel+token", "v5 --dtype float8_e4m3fn:per_tensor+tensor", "v5 --dtype int8:per_channel+token+zero_a+zero_b",
		"v6 --dtype bfloat16xint4:per_block128:bias+silu",
		"v5 --dtype bfloat16xint8:per_channel+dynamic_token:gelu --variant fused",
	} {
		code, stdout, stderr := inspect(append([]string{"--sizes", "70x200x90", "--threads", "1", "--as", "cpu"}, strings.Fields(args)...)...)
		if code != cli.OK || stderr != "" || !strings.Contains(stdout, "generic is chosen by MATLADDER_CPU") || !strings.Contains(stdout, "\nmemory ") {
			t.Errorf("inspect %s --as cpu: exit %d, %q\n%s", args, code, stderr, stdout)
		}
	}
	t.Setenv("MATLADDER_CPU", "abacus")
	if code, _, stderr := inspect("v1", "--as", "cpu"); code != cli.Usage || !strings.Contains(stderr, "MATLADDER_CPU=abacus") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// TestAccumulator: v3 adds blocks of 128 in float32 and their sums in bfloat16.
func TestAccumulator(t *testing.T) {
	t.Setenv("MATLADDER_CPU", "generic")
	cputest.Use(t, 1, 3)
	code, stdout, stderr := inspect("v3", "--dtype", "bfloat16", "--sizes", "8x384x8", "--as", "accumulator")
	want := `kernel    problem                             bits                        rounding      subnormals                order
v3_block  8x384x8 bfloat16×bfloat16→bfloat16  8; 24 in sums of up to 128  nearest even  operands kept, sums kept  128 × product, 2 × sum of 128, from [0 1 2 3]
`
	if code != cli.OK || stdout != want {
		t.Errorf("exit %d, %q\n%s", code, stderr, stdout)
	}
	code, stdout, stderr = inspect("v5", "--sizes", "4", "--as", "accumulator")
	if code != cli.OK || !strings.HasSuffix(stdout, " (((0+1)+2)+3)\n") {
		t.Errorf("exit %d, %q\n%s", code, stderr, stdout)
	}
}

// TestHTML: the page holds the recording and asks the network for nothing.
func TestHTML(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.html")
	if code, _, stderr := inspect("v3", "--sizes", "300", "--as", "traverse", "--format", "html", "--out", path); code != cli.OK {
		t.Fatal(stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(`"grid_steps":27`)) || bytes.Contains(page, []byte("http:")) || bytes.Contains(page, []byte("https:")) {
		t.Error("no recording in the page, or an address")
	}
}
