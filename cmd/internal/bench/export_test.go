package bench

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/stats"
)

// TestExport: the files of --export have what a table of the results has.
func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	var stdout, stderr bytes.Buffer
	args := "--kernel 3,4 --sizes 48 --dtype int8 --blocks 16x48x48,48x48x48 --threads 1 --time-budget 1ns --out rows.csv --export a/t.json --export t.md --export t.csv"
	if code := Run(t.Context(), strings.Fields(args), &stdout, &stderr); code != cli.OK || !strings.HasSuffix(stdout.String(), "a/t.json\nt.md\nt.csv\nrows.csv: 3 rows\n") {
		t.Fatalf("exit %d: %s%s", code, stdout.String(), stderr.String())
	}
	var rows stats.Summarizer
	if _, err := rows.AddFile(t.Context(), "rows.csv"); err != nil {
		t.Fatal(err)
	}
	for file, format := range map[string]string{"a/t.json": "json", "t.md": "md", "t.csv": "csv"} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := stats.WriteTable(&want, format, stats.Shown(format, rows.Summaries())); err != nil {
			t.Fatal(err)
		}
		if strip(string(got)) != strip(want.String()) {
			t.Errorf("%s:\n%s\nthe results give\n%s", file, got, want.String())
		}
		if format == "md" && strings.Count(string(got), "| v4_optblock |") != 1 {
			t.Errorf("%s has not the fastest blocks alone:\n%s", file, got)
		}
	}
}

// strip leaves out where a row is from.
func strip(s string) string { return strings.ReplaceAll(s, "rows.csv", "") }
