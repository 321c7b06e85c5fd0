package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/backend/foreign/library"
	"matladder/internal/ccompiler"
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
	ccompiler.Shared(t, shared, "../../backend/foreign/library/testdata/own.c")
	if err := os.WriteFile(sweep, []byte("kernels: [4]\nsizes: [40x56x24]\ndtypes: [float32, int8]\nblocks: 40x56x24\nrounds: {min: 2, max: 2}\ntimeout: 2s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", sweep, "--threads", "1", "--out", out}
	for _, f := range []string{"mine=%:gemm", "%:integers:int8", "%:swapped", "%:crashes", "%:hangs"} {
		args = append(args, "--with", strings.Replace(f, "%", shared, 1))
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != cli.Failed {
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
	if code := run(context.Background(), []string{"--resume", "--list", "--out", out}, &stdout, &stderr); code != cli.OK || !strings.Contains(stdout.String(), "mine ") {
		t.Errorf("exit %d: going on does not know of them:\n%s%s", code, &stdout, &stderr)
	}
}
