package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/stats"

	"matladder/backend/cpu"
	"matladder/backend/xla/pjrt"
	"matladder/internal/cli"
	"matladder/plugins"
	"matladder/results"
)

// usePlugin makes the user's plugins visible again, and skips the test where the
// one of a name is not installed, unless MATLADDER_REQUIRE names it. A plugin uses
// the best instructions of a CPU, so that it is not held against the peak of others.
func usePlugin(t *testing.T, name string) {
	t.Helper()
	t.Setenv(plugins.FolderVariable, userPlugins)
	t.Setenv(cpu.ISAVariable, "")
	required := slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), name)
	_, err := plugins.Find(name)
	if err == nil {
		err = pjrt.Available()
	}
	if err != nil && required && pjrt.Available() == nil {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
}

func measured(t *testing.T, args string) (code int, rows []results.Record, output string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "rows.csv")
	var stdout, stderr bytes.Buffer
	code = Run(context.Background(), append(strings.Fields(args), "--out", out), &stdout, &stderr)
	output = stdout.String() + stderr.String()
	f, err := results.ReadFile(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return code, f.Rows, output
}

// TestXLA_BesideCPU measures XLA's line in the rounds of the CPU's kernels.
func TestXLA_BesideCPU(t *testing.T) {
	usePlugin(t, "cpu")
	code, rows, output := measured(t, "--kernel 0,4 --sizes 96 --dtype float32,int8 --threads 2 --time-budget 1s")
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, output)
	}
	counted := map[string]int{}
	for _, r := range rows {
		counted[fmt.Sprint(r.Backend, " ", r.Kernel, " ", r.Method, " ", r.DtypeA, " ", r.Status, " ", r.Threads)]++
		if r.Kernel == results.Baseline && (r.Chip != rows[0].Chip || r.ISA != "" || r.Plugin == "" || r.PluginVersion == "" || !r.RelErr.Known) {
			t.Errorf("XLA's row: %+v", r)
		}
	}
	for _, d := range []string{"float32", "int8"} {
		if counted["cpu v4_optblock direct "+d+" ok 2"] == 0 || counted["xla-cpu xla loop "+d+" ok 2"]%2 != 0 || counted["xla-cpu xla loop "+d+" ok 2"] == 0 {
			t.Errorf("rows: %v", counted)
		}
	}
	for _, s := range stats.Summarize(rows) {
		if s.Kernel != results.Baseline && s.PercentOfBaseline.N == 0 {
			t.Errorf("%s %s has no share of XLA's speed", s.Kernel, s.DtypeA)
		}
	}
}

// TestXLA_BesideGeneric: XLA uses what the processor has, whatever the kernels are told to
// use, and is held against the peak of that.
func TestXLA_BesideGeneric(t *testing.T) {
	usePlugin(t, "cpu")
	code, rows, output := measured(t, "--kernel 0,1 --sizes 256 --dtype float32 --param isa=generic --time-budget 1s")
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, output)
	}
	for _, r := range rows {
		if r.Status != results.OK || (r.Kernel == results.Baseline) != strings.Contains(r.PeakSource, cpu.BestISA()) && cpu.BestISA() != "generic" {
			t.Errorf("%s: %s %s, peak %s", r.Kernel, r.Status, r.Reason, r.PeakSource)
		}
	}
}

// TestXLA_Interpret runs kernels as what they mean.
func TestXLA_Interpret(t *testing.T) {
	usePlugin(t, "cpu")
	code, rows, output := measured(t, "--backend xla-cpu --kernel 0,1,3 --sizes 33x20x50 --dtype bfloat16 --time-budget 1ms --param method=wall")
	if code != cli.OK {
		t.Fatalf("exit %d\n%s", code, output)
	}
	for _, r := range rows {
		if r.Status != results.OK || r.Method != results.Wall || (r.Kernel != results.Baseline) != (r.Variant == "interpret") {
			t.Errorf("%s %q by %s: %s %s", r.Kernel, r.Variant, r.Method, r.Status, r.Reason)
		}
	}
	if len(rows) < 3 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestXLA_Missing leaves rows that say how to get the plugin, and one hint.
func TestXLA_Missing(t *testing.T) {
	code, rows, output := measured(t, "--kernel 0,1 --sizes 16,24 --dtype float32 --time-budget 1ms")
	hint := "go run ./cmd/plugin install cpu"
	if err := pjrt.Available(); err != nil {
		hint = err.Error()
	}
	if code != cli.OK || strings.Count(output, "without XLA's line: ") != 1 || !strings.Contains(output, hint) {
		t.Errorf("exit %d\n%s", code, output)
	}
	for _, r := range rows {
		if r.Kernel == results.Baseline && (r.Status != results.Skipped || !strings.Contains(r.Reason, hint)) {
			t.Errorf("%s: %s", r.Status, r.Reason)
		}
	}
}

// TestXLA_Chain times XLA's matmul by chains of launches.
func TestXLA_Chain(t *testing.T) {
	usePlugin(t, "cpu")
	code, rows, output := measured(t, "--backend xla-cpu --kernel 0,5 --sizes 64 --dtype float32 --time-budget 1ms --param method=chain")
	if code != cli.OK || len(rows) < 2 {
		t.Fatalf("exit %d\n%s", code, output)
	}
	for _, r := range rows {
		if r.Status != results.OK || r.Method != results.Chain || r.Operands != "" {
			t.Errorf("%s by %s: %s %s, operands %q", r.Kernel, r.Method, r.Status, r.Reason, r.Operands)
		}
	}
}

// TestXLA_NoSuchDevice asks for one more device than the plugin has.
func TestXLA_NoSuchDevice(t *testing.T) {
	usePlugin(t, "cpu")
	var stderr bytes.Buffer
	code := Run(context.Background(), strings.Fields("--backend xla-cpu --param device=4 --kernel 0 --sizes 8"), &stderr, &stderr)
	if got := stderr.String(); code != cli.Failed || !strings.Contains(got, "no device 4: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("exit %d: %s", code, got)
	}
}

// TestTPU_Missing asks for a device that is not there.
func TestTPU_Missing(t *testing.T) {
	says := func(t *testing.T, want ...string) {
		var stderr bytes.Buffer
		start := time.Now()
		if code := Run(context.Background(), []string{"--backend", "tpu", "--kernel", "0"}, &stderr, &stderr); code != cli.Failed {
			t.Errorf("exit %d", code)
		}
		if d := time.Since(start); d > 20*time.Second { // on a machine that does nothing else, half a second
			t.Errorf("it takes %v", d)
		}
		for _, text := range want {
			if got := stderr.String(); !strings.Contains(got, text) || strings.Count(got, "\n") != 1 {
				t.Errorf("bench --backend tpu says %q, should say %q", got, text)
			}
		}
	}
	instead := "--backend aot"
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		instead = ""
	}
	if err := pjrt.Available(); err != nil {
		says(t, err.Error(), instead)
		return
	}
	says(t, "go run ./cmd/plugin install tpu")
	if plugins.MissingDevice("tpu") == "" {
		t.Skip("this machine has a TPU")
	}
	usePlugin(t, "tpu")
	says(t, "No jellyfish device found", instead)
}
