package bench

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/backend/foreign/library"
	"matladder/backend/foreign/process"
	"matladder/internal/ccompilertest"
	"matladder/internal/cli"
	"matladder/results"
)

// TestWith: functions of a shared library have rows beside a kernel's in the same file,
// whatever becomes of them, and one that takes its process with it costs its own point.
func TestWith(t *testing.T) {
	if err := library.Available(); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	shared, out, sweep := filepath.Join(folder, "own.so"), filepath.Join(folder, "rows.csv"), filepath.Join(folder, "own.yaml")
	ccompilertest.Shared(t, shared, "../../../backend/foreign/library/testdata/own.c")
	if err := os.WriteFile(sweep, []byte("kernels: [4]\nsizes: [40x56x24]\ndtypes: [float32, int8]\nblocks: 40x56x24\nrounds: {min: 2, max: 2}\ntimeout: 2s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", sweep, "--threads", "1", "--out", out}
	for _, f := range []string{"mine=%:gemm", "%:integers:int8", "%:swapped", "%:crashes", "%:hangs"} {
		args = append(args, "--with", strings.Replace(f, "%", shared, 1))
	}
	var stdout, stderr bytes.Buffer
	if code := Run(context.Background(), args, &stdout, &stderr); code != cli.Failed {
		t.Fatalf("exit %d: %s%s", code, &stdout, &stderr)
	}
	f, err := results.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]results.Status{}
	for _, s := range stats.Summarize(f.Rows) {
		got[s.Kernel+" "+s.DtypeA] = s.Status
		if s.Kernel != "v4_optblock" && (s.Plugin != "own.so" || len(s.PluginVersion) != 8 || !s.Peer()) {
			t.Errorf("%s is of %s %s", s.Kernel, s.Plugin, s.PluginVersion)
		}
	}
	want := map[string]results.Status{
		"v4_optblock float32": results.OK, "mine float32": results.OK, "swapped float32": results.Wrong,
		"crashes float32": results.Crashed, "hangs float32": results.Timeout, "integers float32": results.Unsupported,
		"v4_optblock int8": results.OK, "mine int8": results.Unsupported, "swapped int8": results.Unsupported,
		"crashes int8": results.Unsupported, "hangs int8": results.Unsupported, "integers int8": results.OK,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v\n%s", got, want, &stderr)
	}
	stdout.Reset()
	if code := Run(context.Background(), []string{"--resume", "--list", "--out", out}, &stdout, &stderr); code != cli.OK || !strings.Contains(stdout.String(), "mine ") {
		t.Errorf("exit %d: going on does not know of them:\n%s%s", code, &stdout, &stderr)
	}
}

// TestWith_Python: functions of a Python file have rows beside a kernel's, whatever becomes
// of them.
func TestWith_Python(t *testing.T) {
	if err := process.Available(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath(cmp.Or(os.Getenv(process.PythonVariable), "python3")); err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "python") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	sweep := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(sweep, []byte("kernels: [4]\nsizes: [4x5x6]\ndtypes: [float32, int8]\nrounds: {min: 2, max: 2}\ntimeout: 3s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := "--config " + sweep + " --threads 1"
	for _, f := range []string{"mine=%:matmul", "%:wrong:float32", "%:nothing:float32", "%:refuses:float32", "%:exits:float32", "%:hangs:float32"} {
		args += " --with " + strings.Replace(f, "%", "../../../backend/foreign/process/testdata/guests/guests.py", 1)
	}
	code, rows, said := measured(t, args)
	got := map[string]results.Status{}
	for _, s := range stats.Summarize(rows) {
		got[s.Kernel+" "+s.DtypeA] = s.Status
		if s.Kernel != "v4_optblock" && (s.Plugin != "guests.py" || !strings.Contains(s.PluginVersion, " python 3.") || !s.Peer()) {
			t.Errorf("%s is of %s %s", s.Kernel, s.Plugin, s.PluginVersion)
		}
	}
	want := map[string]results.Status{
		"v4_optblock float32": results.OK, "mine float32": results.OK, "wrong float32": results.Wrong, "nothing float32": results.Failed,
		"refuses float32": results.Unsupported, "exits float32": results.Crashed, "hangs float32": results.Timeout,
		"v4_optblock int8": results.OK, "mine int8": results.Failed, // its output is float32
		"wrong int8": results.Unsupported, "nothing int8": results.Unsupported, "refuses int8": results.Unsupported, "exits int8": results.Unsupported, "hangs int8": results.Unsupported,
	}
	if code != cli.Failed || !maps.Equal(got, want) {
		t.Errorf("exit %d: %v\nwant %v\n%s", code, got, want, said)
	}
	if !strings.Contains(said, "guests.py is called as o = matmul(a, b)\n") {
		t.Error(said)
	}
}
