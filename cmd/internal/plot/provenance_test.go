package plot

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/results"
)

// TestProvenance: a newest file that is partial, of another machine or of damaged outputs
// is named, or left out with a line.
func TestProvenance(t *testing.T) {
	workplace(t)
	old, err := results.ReadFile("out/20261120-101500.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, change func(*results.Record)) {
		var rows []results.Record
		for _, r := range old.Rows {
			r.StartedAt, r.RunID = r.StartedAt.AddDate(0, 0, 2), name
			change(&r)
			rows = append(rows, r)
		}
		var text bytes.Buffer
		if err := results.Write(&text, rows); err != nil {
			t.Fatal(err)
		}
		write(t, name, text.String())
	}
	args := []string{"--analyze=4", "--dtype=float32", "--format=svg"}
	for _, c := range []struct {
		name   string
		make   func()
		args   []string
		stderr string // all of it
		inSVG  string
	}{
		{"as it was", func() {}, nil, "", ""},
		{"faulty", func() { file("out/new.csv", func(r *results.Record) { r.Fault, r.Status = "gain", results.Wrong }) }, nil,
			"plot: out/new.csv: points by --fault are left out (180), their outputs were damaged on purpose\n", ""},
		{"partial", func() {
			file("out/new.csv", func(*results.Record) {})
			write(t, results.NoteFile("out/new.csv"), `{"State": "begun"}`)
		}, nil, "plot: out/new.csv is partial: its sweep has not ended; to go on: bench --resume --out out/new.csv\n", "partial, as its sweep has not ended: new.csv"},
		{"whole again", func() { write(t, results.NoteFile("out/new.csv"), `{"State": "whole"}`) }, nil, "", ""},
		{"older note", func() { write(t, results.NoteFile("out/new.csv"), `{"Args": null}`) }, nil, "", ""},
		{"another machine", func() { file("out/new.csv", func(r *results.Record) { r.Host = "bench-02" }) }, nil,
			"plot: out/new.csv is of another machine, bench-02; this one is bench-01\n", ""},
		{"two machines", func() {}, []string{"--input=out/*.csv"},
			"plot: measurements of 2 machines with example-cpu are shown together: bench-01, bench-02\n", "of 2 files: 20261120-101500.csv, new.csv"},
		{"two files of one", func() { file("out/new.csv", func(*results.Record) {}) }, []string{"--input=out/*.csv"}, "", ""},
	} {
		c.make()
		code, stdout, stderr := plot(append(args, c.args...)...)
		if code != cli.OK || stderr != c.stderr {
			t.Errorf("%s: exit %d, stderr\n%swant\n%s", c.name, code, stderr, c.stderr)
		}
		picture, err := os.ReadFile(strings.TrimSpace(strings.Split(stdout, "\n")[0]))
		if err != nil || !strings.Contains(string(picture), c.inSVG) {
			t.Errorf("%s: no %q in the picture, %v", c.name, c.inSVG, err)
		}
	}
	file("faulty.csv", func(r *results.Record) { r.Fault = "gain" })
	if code, _, stderr := plot("--input=faulty.csv"); code != cli.Failed || !strings.Contains(stderr, errFaulty.Error()) {
		t.Errorf("nothing but faults: exit %d\n%s", code, stderr)
	}
	if code, stdout, _ := plot("--input=faulty.csv", "--table=text"); code != cli.OK || !strings.Contains(stdout, "fault gain") {
		t.Errorf("a table of faults: exit %d\n%s", code, stdout)
	}
}
