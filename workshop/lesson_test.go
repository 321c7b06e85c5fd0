package workshop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matladder/backend/cpu/cputest"
	"matladder/internal/goldentest"
	"matladder/internal/thoroughtest"
	"matladder/plugins"
)

// command is one line of a fenced block that begins with go run, and the output
// that the page shows below the block: that of its last command.
type command struct {
	args  []string // the first is the folder below cmd
	shown string   // lines, … for anything, alone for any lines
	at    [2]int   // where shown is in the page
}

var (
	fences = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```\n")
	spaces = regexp.MustCompile(` +`)
	elided = regexp.MustCompile(`(?m)^…$`)
)

// commands are those of a page, in order.
func commands(t *testing.T, page string) []command {
	var list []command
	after := false // whether the block before was one of commands
	for _, at := range fences.FindAllStringSubmatchIndex(page, -1) {
		kind, body := page[at[2]:at[3]], page[at[4]:at[5]]
		switch {
		case kind == "" && strings.HasPrefix(body, "go run ./cmd/"):
			for line := range strings.Lines(body) {
				line, _, _ = strings.Cut(line, " #")
				args, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/")
				if !ok {
					t.Fatalf("a command that is not go run ./cmd/…: %s", line)
				}
				list = append(list, command{args: strings.Fields(args)})
			}
			after = true
		case kind == "recorded" && after:
			list[len(list)-1].shown = header(body)
		case kind == "text" && after:
			last := &list[len(list)-1]
			last.shown, last.at, after = body, [2]int{at[4], at[5]}, false
		case kind == "text":
			t.Fatalf("output without a command:\n%s", body)
		default:
			after = false
		}
	}
	return list
}

// header is the first line of a table with any lines around it: its figures were recorded on
// another machine, perhaps of other sizes. "" is that of no table.
func header(recorded string) string {
	if line := regexp.MustCompile(`(?m)^ *kernel .*\n`).FindString(recorded); line != "" {
		return "…\n" + line + "…\n"
	}
	return ""
}

func readPage(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// lessons are the pages, by number.
func lessons(t *testing.T) []string {
	var pages []string
	for n := range All {
		pages = append(pages, readPage(t, fmt.Sprintf("lesson%d.md", n)))
	}
	if more, _ := filepath.Glob("lesson*.md"); len(more) != len(pages) {
		t.Fatalf("%d pages, %d exercises", len(more), len(pages))
	}
	return pages
}

// TestLessons_Form: each page has the same parts, names its exercise's file and
// check, and hides its answers; the first eight take 75 minutes.
func TestLessons_Form(t *testing.T) {
	total := 0
	for n, page := range lessons(t) {
		title := regexp.MustCompile(fmt.Sprintf(`^# Lesson %d: .* \((\d+) minutes\)\n`, n)).FindStringSubmatch(page)
		if title == nil {
			t.Errorf("lesson %d: the first line is %q", n, page[:strings.Index(page, "\n")])
			continue
		}
		minutes, _ := strconv.Atoi(title[1])
		if n <= 7 { // the others are for who goes on
			total += minutes
		}
		rest := page
		for _, part := range []string{"\n## Words\n", "\n## Predict\n", "\n## Run\n", "\n## Exercise\n", All[n].File(), fmt.Sprintf("\ngo run ./cmd/workshop check %d\n", n), "\n## Questions\n", "<details><summary>"} {
			at := strings.Index(rest, part)
			if at < 0 {
				t.Errorf("lesson %d: no %q, or not in its place", n, part)
				continue
			}
			rest = rest[at:]
		}
		if questions := strings.Count(page, "<details><summary>"); questions < 3 || questions != strings.Count(page, "\n</details>\n") {
			t.Errorf("lesson %d: %d questions", n, questions)
		}
	}
	if total != 75 {
		t.Errorf("the lessons take %d minutes", total)
	}
}

// TestLessons_Commands runs every command of every page, in order and in one
// folder, and compares with what the page shows. What needs libtpu runs where it
// is installed; where MATLADDER_REQUIRE names it, it must be. What measures is only listed,
// and what draws what was measured is left out, unless MATLADDER_TESTS is all.
func TestLessons_Commands(t *testing.T) {
	pages, plugin := append(lessons(t), readPage(t, "README.md")), libtpu(t)
	var tools []string
	for _, page := range pages {
		for _, c := range commands(t, page) {
			if !slices.Contains(tools, c.args[0]) && (thoroughtest.All() || !c.draws()) && (plugin == "" || !needsPlugin(c)) {
				tools = append(tools, c.args[0])
			}
		}
	}
	bin, dir := build(t, tools), t.TempDir()
	if !thoroughtest.All() {
		cputest.Use(t, 0) // nothing is measured
	}
	ran := map[string]bool{} // the README repeats some
	for n, page := range pages {
		name := fmt.Sprint("lesson", n)
		if n == len(All) {
			name = "README"
		}
		t.Run(name, func(t *testing.T) {
			var outputs []command
			for _, c := range commands(t, page) {
				line := strings.Join(c.args, " ")
				if ran[line] {
					continue
				}
				ran[line] = true
				if needsPlugin(c) && plugin != "" {
					t.Logf("not run: go run ./cmd/%s: %s", line, plugin)
					continue
				}
				if !thoroughtest.All() && c.draws() {
					t.Logf("not run without %s=all: go run ./cmd/%s", thoroughtest.Variable, line)
					continue
				}
				if !thoroughtest.All() && c.measures() {
					c.args, c.shown = append(c.args, "--list"), ""
				}
				c.shown = c.run(t, bin, dir)
				outputs = append(outputs, c)
			}
			if goldentest.Updating() {
				rewrite(t, name+".md", page, outputs)
			}
		})
	}
}

// measures reports whether a command does, for seconds.
func (c command) measures() bool {
	return c.args[0] == "bench" && !slices.Contains(c.args, "--dry-run")
}

// draws reports whether a command works on what others have measured, or tunes, which has
// no list of what it would do.
func (c command) draws() bool { return c.args[0] == "plot" || c.args[0] == "tune" }

func needsPlugin(c command) bool {
	return slices.Contains(c.args, "--topology") && c.args[0] != "mesh" || c.args[0] == "plugin"
}

// libtpu says why commands that need it do not run; "" if they do.
func libtpu(t *testing.T) string {
	const install = "not installed: go run ./cmd/plugin install tpu"
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "libtpu is for Linux on amd64"
	}
	if _, err := plugins.Find("tpu"); err == nil {
		return ""
	}
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "tpu") {
		t.Fatalf("tpu is %s", install)
	}
	return install
}

// build builds commands into a folder.
func build(t *testing.T, tools []string) string {
	t.Helper()
	bin := t.TempDir()
	args := []string{"build", "-ldflags=-s -w", "-o", bin + string(filepath.Separator)} // nobody debugs them
	for _, tool := range tools {
		args = append(args, "../cmd/"+tool)
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as on a laptop without a C compiler
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// notes are what stands below a table where other programs had the machine meanwhile:
// pages show none.
var notes = regexp.MustCompile(`(?m)^\n?note: .*\n`)

// few is what a table says of a kernel of which a busy machine left fewer samples than an
// interval takes: such a table may have no ratios, which pages show.
var few = regexp.MustCompile(`\bn=[1-5]\b`)

// run runs c and compares with what is shown. It returns the output.
func (c command) run(t *testing.T, bin, dir string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, c.args[0]), c.args[1:]...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	line := "go run ./cmd/" + strings.Join(c.args, " ")
	t.Logf("%5.1f s  %s", time.Since(began).Seconds(), line)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && c.args[0] == "workshop" && (c.args[1] == "check" || c.args[1] == "ready") {
		err = nil // a blank is not right yet, and a machine with tests is not quiet
	}
	out := notes.ReplaceAllString(stdout.String(), "")
	if err != nil {
		t.Errorf("%s: %v\n%s%s", line, err, out, stderr.String())
	} else if few.MatchString(out) {
		t.Logf("not compared: the machine was too busy for the samples of an interval\n%s", out)
	} else if c.shown != "" && !goldentest.Updating() && !pattern(c.shown).MatchString(squeeze(out)) {
		t.Errorf("%s prints\n%s\nthe page shows\n%s", line, out, c.shown)
	}
	return out
}

// rewrite puts outputs into a page where it shows them whole.
func rewrite(t *testing.T, name, page string, outputs []command) {
	for _, c := range slices.Backward(outputs) {
		if old := page[c.at[0]:c.at[1]]; c.at[1] > 0 && (old == "" || c.args[0] == "inspect" && !elided.MatchString(old)) {
			page = page[:c.at[0]] + c.shown + page[c.at[1]:]
		}
	}
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unit is a column's, which follows the largest figure in it and so the machine.
var unit = regexp.MustCompile(`\b[GT](FLOP/s|OP/s)`)

// pattern matches output whose columns may have other widths and another unit.
func pattern(shown string) *regexp.Regexp {
	var b strings.Builder
	for line := range strings.Lines(shown) {
		if line == "…\n" {
			b.WriteString(`(?:.*\n)*`)
			continue
		}
		line = regexp.QuoteMeta(strings.TrimSuffix(squeeze(line), "\n"))
		if strings.HasPrefix(line, "kernel ") { // a table's first line
			line = unit.ReplaceAllString(line, "[GT]$1")
		}
		b.WriteString(strings.ReplaceAll(line, "…", `.*`) + `\n`)
	}
	return regexp.MustCompile(`^` + b.String() + `$`)
}

// squeeze makes runs of spaces one space and drops those at the ends of lines.
func squeeze(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimSpace(spaces.ReplaceAllString(line, " ")) + "\n")
	}
	return strings.TrimLeft(b.String(), "\n")
}
