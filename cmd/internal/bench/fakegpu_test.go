package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/results"
	"matladder/tools/fakegpu"
)

// TestFakeGPU measures a sweep on a simulated GPU: kernels and XLA's baseline, by
// each method, wherever operands are, all verified.
func TestFakeGPU(t *testing.T) {
	usePlugin(t, "cpu")
	fakegpu.Install(t)
	for flags, operands := range map[string]string{"": "l2", "--param method=chain": "l2", "--param method=wall --param operands=any": "l2"} {
		code, rows, output := measured(t, "--backend gpu --kernel 0,5 --sizes 96 --blocks 32x32x32 --dtype float32,bfloat16,int8 --time-budget 4s "+flags)
		if code != cli.OK {
			t.Fatalf("exit %d\n%s", code, output)
		}
		for _, r := range rows {
			if r.Status != results.OK || r.Chip != "nvidia_h100_sxm" || r.Backend != "gpu" || r.Operands != operands || !r.ErrOverBound.Known {
				t.Errorf("%s: %+v", flags, r)
			}
		}
		t.Logf("%s", output)
	}
}

// TestFakeGPU_Broken: what goes wrong with a GPU is a row with the reason, or one line;
// the sweep goes on.
func TestFakeGPU_Broken(t *testing.T) {
	usePlugin(t, "cpu")
	fakegpu.Install(t)
	for _, test := range []struct {
		words    string
		code     int
		kernel   results.Status // of the fifth rung
		baseline results.Status
		reason   string
	}{
		{"full", cli.OK, results.TooBig, results.TooBig, "transfer a: RESOURCE_EXHAUSTED: Out of memory"},
		{"crash", cli.Failed, results.Crashed, results.OK, "SIGSEGV"},
		{"wrong", cli.Failed, results.Wrong, results.OK, ""},
	} {
		t.Setenv(fakegpu.Variable, test.words)
		code, rows, output := measured(t, "--backend gpu --kernel 0,5 --sizes 96 --blocks 32x32x32 --dtype float32 --time-budget 2s")
		if code != test.code {
			t.Errorf("%s: exit %d\n%s", test.words, code, output)
		}
		seen := map[string]bool{}
		for _, r := range rows {
			want := test.baseline
			if r.Kernel == "v5_quant" {
				want = test.kernel
			}
			seen[r.Kernel] = true
			if r.Status != want || want == test.kernel && !strings.Contains(r.Reason, test.reason) || strings.Contains(r.Reason, "\n") {
				t.Errorf("%s: %s is %s, not %s: %s", test.words, r.Kernel, r.Status, want, r.Reason)
			}
		}
		if len(seen) != 2 {
			t.Errorf("%s: rows of %v\n%s", test.words, seen, output)
		}
		if left := children(t); len(left) > 0 {
			t.Errorf("%s: left running: %v", test.words, left)
		}
	}
	t.Setenv(fakegpu.Variable, "old")
	var stdout, stderr bytes.Buffer
	out := filepath.Join(t.TempDir(), "rows.csv")
	code := Run(t.Context(), []string{"--backend", "gpu", "--sizes", "96", "--out", out}, &stdout, &stderr)
	if said := stderr.String(); code != cli.Failed || strings.Count(said, "\n") != 1 || !strings.Contains(said, "driver version is insufficient") || !strings.Contains(said, "--topology h100") {
		t.Errorf("an old driver: exit %d\n%s", code, said)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}

// children are processes that this one has started and that go on.
func children(t *testing.T) (list []string) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			list = append(list, string(text[:min(60, len(text))]))
		}
	}
	return list
}
