package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/internal/goldentest"
	"matladder/tile"
)

// recorded is what a page shows of the menu's programs that only compilers make.
type recorded struct {
	Date    string
	Machine string                    // whose loops these are
	Texts   []string                  // paragraphs: most loops are of several programs
	Views   map[string]map[string]run // by Sum of a program, then by view
}

// A run is a command and what it printed.
type run struct {
	Command string
	Text    []int // of Texts
}

const (
	recordedFile = "../assets/recorded.js"
	mostShown    = 60 // lines of a paragraph
)

// TestRecorded: what was recorded is of programs of the menu as they are. With -update it records
// again, which takes llvm-mca and libtpu.
func TestRecorded(t *testing.T) {
	sums := map[string]string{}
	r := recorded{Date: time.Now().Format(time.DateOnly), Views: map[string]map[string]run{}}
	dir := t.TempDir()
	for _, e := range Examples() {
		source, err := e.Source()
		if err != nil {
			t.Fatal(err)
		}
		s, err := Play(t.Context(), source, "v5e")
		if err != nil {
			t.Fatal(err)
		}
		sums[s.Sum] = e.Name
		if !goldentest.Updating() {
			continue
		}
		programs, _, err := programsOf(source)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := tile.WritePrograms(&text, programs); err != nil {
			t.Fatal(err)
		}
		name := "program.json"
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		r.Views[s.Sum] = map[string]run{
			"x86":      r.run(t, dir, name, "--as", "asm"),
			"Schedule": r.run(t, dir, name, "--topology", "v5e", "--as", "schedule"),
		}
	}
	if goldentest.Updating() && slices.ContainsFunc([]string{"x86", "Schedule"}, func(view string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(r.Views)), func(v map[string]run) bool { return v[view].Text != nil })
	}) {
		t.Fatal("nothing to record with: go run ./cmd/plugin install tpu, and install llvm")
	}
	if goldentest.Updating() {
		info, err := os.ReadFile("/proc/cpuinfo")
		if err == nil {
			_, after, _ := strings.Cut(string(info), "model name\t: ")
			r.Machine, _, _ = strings.Cut(after, "\n")
		}
		text, err := json.Marshal(r)
		if err == nil {
			err = os.WriteFile(recordedFile, append([]byte("recorded="), text...), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("recorded=")), &r); err != nil {
		t.Fatal(err)
	}
	for sum := range r.Views {
		if sums[sum] == "" {
			t.Errorf("a recorded program is no more in the menu: run the test with -update")
		}
	}
}

// run runs inspect on a file; what it refuses has no text.
func (r *recorded) run(t *testing.T, dir, name string, args ...string) run {
	stdout, _, err := goCommand(t, append([]string{"run", "-C", "../../..", "./cmd/inspect", filepath.Join(dir, name)}, args...)...)
	made := run{Command: "go run ./cmd/inspect " + name + " " + strings.Join(args, " ")}
	if err != nil {
		return made
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(stdout, dir, "")), "\n\n") {
		if lines := strings.Split(paragraph, "\n"); len(lines) > mostShown {
			paragraph = strings.Join(lines[:mostShown], "\n") + fmt.Sprintf("\n… %d lines more", len(lines)-mostShown)
		}
		at := slices.Index(r.Texts, paragraph)
		if at < 0 {
			at = len(r.Texts)
			r.Texts = append(r.Texts, paragraph)
		}
		made.Text = append(made.Text, at)
	}
	return made
}
