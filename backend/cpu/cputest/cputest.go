// Package cputest gives tests a machine that has been measured, so that what they start
// does not measure it: that takes seconds each time, and as often as a busy machine is
// found faster than it was.
package cputest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"matladder/backend/cpu"
	"matladder/backend/cpu/internal/probe"
	"matladder/machine"
	"matladder/plugins"
	"matladder/tile"
)

// Main runs the tests of a package on such a machine, and returns their exit status.
func Main(m *testing.M, threads ...int) (code int) {
	dir, err := os.MkdirTemp("", "machine")
	if err == nil {
		defer os.RemoveAll(dir)
		err = record(dir, threads)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Use gives a test and the processes that it starts such a machine.
func Use(t *testing.T, threads ...int) {
	t.Helper()
	t.Setenv(variable(), os.Getenv(variable()))
	t.Setenv(plugins.FolderVariable, os.Getenv(plugins.FolderVariable))
	if err := record(t.TempDir(), threads); err != nil {
		t.Fatal(err)
	}
}

// variable names where the environment says where the user's cache is.
func variable() string {
	return cmp.Or(map[string]string{"darwin": "HOME", "windows": "LocalAppData"}[runtime.GOOS], "XDG_CACHE_HOME")
}

// record writes figures of this machine to folder and has the environment say that it is the
// user's cache, for this process and its children: made-up figures, above what any machine
// reaches, which no control finds outlived. It does so for each number of threads; 0 is the
// default number. Plugins stay where they are.
func record(folder string, threads []int) error {
	if installed, err := plugins.Folder(); err == nil {
		if err := os.Setenv(plugins.FolderVariable, installed); err != nil {
			return err
		}
	}
	if err := os.Setenv(variable(), folder); err != nil {
		return err
	}
	for _, n := range threads {
		b, err := cpu.Open(cpu.Options{Threads: n})
		if err != nil {
			return err
		}
		file := b.ProbeFile()
		if rel, err := filepath.Rel(folder, file); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("figures would be in %s, not in %s", file, folder)
		}
		var version int
		if _, err := fmt.Sscanf(filepath.Ext(file[:len(file)-len(".json")]), ".v%d", &version); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		const peak, bandwidth = 1e13, 1e12
		rates := map[tile.Dtype]machine.ProductRate{}
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			rates[d] = machine.ProductRate{Rows: 12, Columns: 32, Depth: 1, FLOPs: 2e11, Fetch: 2e10, PackA: 6e10, PackB: 6e10}
		}
		text, err := json.Marshal(map[string]any{
			"Version": version, "CPU": cmp.Or(probe.Host().Name, "unknown CPU"), "ISA": b.ISA(), "Threads": b.Threads(),
			"Peak": map[string]float64{"float32": peak, "bfloat16": peak, "int8": peak}, "Bandwidth": bandwidth,
			"Cores": &machine.Cores{
				L2: 1 << 20, L3: 1 << 25, Shared: 1e11, Memory: 4e10, Launch: 1e-6, Pair: 1e-6, Task: 2e-7,
				CoreToCore: machine.CoreToCore{Line: 1e-7, ReadOthers: 1e10, WriteOthers: 1e10}, Rates: rates,
			},
			"At": time.Now().UTC(),
		})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
