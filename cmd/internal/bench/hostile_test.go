package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"matladder/backend/xla/pjrt"
	"matladder/internal/cli"
	"matladder/plugins"
	"matladder/plugins/plugintest"
	"matladder/results"
)

// TestXLA_CrashesAtOpening: a plugin that dies before it has a device is no plugin that
// is not there.
func TestXLA_CrashesAtOpening(t *testing.T) {
	if err := pjrt.Available(); err != nil {
		t.Skip(err)
	}
	folder := t.TempDir()
	t.Setenv(plugins.FolderVariable, folder)
	root := filepath.Join(folder, "cpu-0.0.9")
	library := filepath.Join(root, filepath.FromSlash(plugintest.LibraryPath))
	content := plugintest.Library(runtime.GOARCH, plugintest.Crash)
	manifest, err := json.Marshal(plugins.Installed{
		Name: "cpu", Version: "0.0.9", LibraryPath: plugintest.LibraryPath, Unpinned: true,
		Files: []plugins.File{{Path: plugintest.LibraryPath, Size: int64(len(content))}},
	})
	for _, err := range []error{err, os.MkdirAll(filepath.Dir(library), 0o777), os.WriteFile(library, content, 0o666), os.WriteFile(filepath.Join(root, "plugin.json"), manifest, 0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	code, rows, said := measured(t, "--kernel 0,1 --sizes 64 --dtype float32 --time-budget 1ns")
	status := map[string]results.Status{}
	for _, r := range rows {
		status[r.Kernel] = r.Status
	}
	if code != cli.Failed || status["xla"] != results.Crashed || status["v1_naive"] != results.OK {
		t.Errorf("exit %d, %v\n%s", code, status, said)
	}
}

// TestResume_AbsurdRound: a round that no sweep reaches is a bad row, not a wait for
// ever.
func TestResume_AbsurdRound(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("--kernel 1 --sizes 64 --dtype float32 --time-budget 1ns --out rows.csv")
	var stdout, stderr bytes.Buffer
	if code := Run(context.Background(), args, &stdout, &stderr); code != cli.OK {
		t.Fatal(stderr.String())
	}
	f, err := results.ReadFile("rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile("rows.csv")
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(table) != 2 || len(f.Rows) != 1 {
		t.Fatalf("%v, %d lines", err, len(table))
	}
	table[1][slices.Index(table[0], "round")] = "9223372036854775806"
	var row bytes.Buffer
	w := csv.NewWriter(&row)
	w.Write(table[1])
	w.Flush()
	if err := os.WriteFile("rows.csv", []byte(string(text)+strings.Replace(row.String(), "1", `"1"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	stderr.Reset()
	if code := Run(context.Background(), append(args, "--resume"), &stdout, &stderr); code != cli.OK || !strings.Contains(stderr.String(), " after the last whole round, which is kept in rows.csv.dropped") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	dropped, err := results.ReadFile("rows.csv.dropped")
	if err != nil || len(dropped.Bad) != 1 || !strings.Contains(dropped.Bad[0].Error(), `rows.csv.dropped:2: column "round": 9.223372036854776e+18 is more than`) {
		t.Errorf("%+v, %v", dropped, err)
	}
}
