package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/stats"

	"matladder/machine"
	"matladder/results"

	"github.com/google/go-cmp/cmp"
)

// saw is what testdata/check.js found in the page.
type saw struct {
	Wrong              []string
	Width, ScrollWidth int
	Table              []map[string]string
	Rate, Roofline     []chart
	After              []chart // when filters were worked
	Filters            []struct {
		Filter, Value string
		Rows, Lines   int
	}
	Tip     string // of the first point of the first chart
	Again   int
	Step    string
	Players []string
	Name    string
	CSV     string
	Loaded  []string
	Pwned   bool
}

type chart struct {
	Title         string
	Canvas, Place int // widths
	Lines         []struct {
		Type      string
		Dashed    bool
		Predicted []bool
		Kernels   []string
		Rates     []float64
	}
}

// TestBrowser opens the page in Chromium as a phone and as a desktop shows it:
// nothing goes wrong or is loaded, no text runs off the side, the table and
// the charts hold what package results says, and each filter takes away what
// it names.
func TestBrowser(t *testing.T) {
	chromium := findChromium(t)
	rows := sample(t)
	t.Run("desktop", func(t *testing.T) { checkPage(t, visit(t, chromium, write(t, rows), "1400,1000", "#filters"), rows) })
	t.Run("phone", func(t *testing.T) { checkPage(t, visit(t, chromium, write(t, rows), "390,844", "#filters"), rows) })
	t.Run("disturbed", func(t *testing.T) {
		few := slices.DeleteFunc(slices.Clone(rows), func(r results.Record) bool { return r.Mode == results.Measured && r.Round > 1 })
		if !strings.Contains(strings.Join(ladderLines(stats.Best(stats.Summarize(few))), "\n"), stats.Noisy) {
			t.Fatal("no figure is marked")
		}
		checkPage(t, visit(t, chromium, write(t, few), "1400,1000", "#filters"), few)
	})
	t.Run("hostile", func(t *testing.T) {
		page := visit(t, chromium, write(t, hostile(rows)), "1400,1000", "")
		if page.Pwned || len(page.Wrong) > 0 || len(page.Loaded) > 0 || page.ScrollWidth > page.Width {
			t.Errorf("pwned: %v, loaded %q, width %d of %d, wrong: %q", page.Pwned, page.Loaded, page.ScrollWidth, page.Width, page.Wrong)
		}
		if len(page.Table) == 0 || len(page.Rate) == 0 || page.Tip == "" {
			t.Errorf("%d lines, %d charts, tooltip %q", len(page.Table), len(page.Rate), page.Tip)
		}
	})
}

func checkPage(t *testing.T, page saw, rows []results.Record) {
	if len(page.Wrong) > 0 || len(page.Loaded) > 0 || page.ScrollWidth > page.Width {
		t.Errorf("loaded %q, width %d of %d, wrong: %q", page.Loaded, page.ScrollWidth, page.Width, page.Wrong)
	}
	best := stats.Best(stats.Summarize(rows))
	if diff := cmp.Diff(ladderLines(best), tableLines(page.Table)); diff != "" {
		t.Errorf("table: -results +page\n%s", diff)
	}
	checkCharts(t, page.Rate, best)
	if len(page.Roofline) == 0 {
		t.Error("no roofline")
	}
	if len(page.Rate) > 0 && !strings.HasPrefix(page.Tip, page.Rate[0].Lines[0].Kernels[0]+" · ") {
		t.Errorf("the first point's tooltip is %q", page.Tip)
	}
	for _, c := range slices.Concat(page.Rate, page.Roofline, page.After) {
		if c.Canvas < 200 || c.Canvas != c.Place {
			t.Errorf("%s: a canvas %d wide in a place of %d", c.Title, c.Canvas, c.Place)
		}
	}
	seen := map[string]int{}
	for _, f := range page.Filters {
		seen[f.Filter]++
		want := 0
		for i := range best {
			if f.Value != "" && f.Value != valueOf(&best[i], f.Filter) {
				want++
			}
		}
		if f.Filter == "blocks" {
			want = len(stats.Summarize(rows))
		}
		if want = min(want, 400); f.Rows != want {
			t.Errorf("without %s %q: %d lines in the table, want %d", f.Filter, f.Value, f.Rows, want)
		}
		if f.Value == "" && f.Lines > 0 {
			t.Errorf("without any %s there are %d charts", f.Filter, f.Lines)
		}
	}
	for _, name := range []string{"dtype", "kernel", "size", "mode", "machine", "blocks"} {
		if seen[name] == 0 {
			t.Errorf("no filter by %s", name)
		}
	}
	if page.Again != len(best) || !strings.HasPrefix(page.Step, "2 of 3") || len(page.Players) != 1 {
		t.Errorf("%d lines in the end; player %q at step %q", page.Again, page.Players, page.Step)
	}
	var want bytes.Buffer
	if err := results.Write(&want, rows); err != nil {
		t.Fatal(err)
	}
	if page.CSV != want.String() || page.Name != "results.csv" {
		t.Errorf("the download %s is not the rows: %d bytes, want %d", page.Name, len(page.CSV), want.Len())
	}
}

func valueOf(s *stats.Summary, filter string) string {
	switch filter {
	case "dtype":
		return s.Dtypes()
	case "kernel":
		return s.Kernel
	case "size":
		return s.Size()
	case "mode":
		return string(s.Mode)
	}
	return machine.CommonName(s.Device) + " · " + s.Host
}

// checkCharts compares the rates in all charts with those of the points, and
// that predictions stand apart, dashed.
func checkCharts(t *testing.T, charts []chart, best []stats.Summary) {
	t.Helper()
	var want, have []float64
	for _, s := range best {
		if s.Status == results.OK {
			want = append(want, s.Rate.Median)
		}
	}
	failed := 0
	for _, c := range charts {
		for _, line := range c.Lines {
			if line.Type == "scatter" {
				failed += len(line.Rates)
				continue
			}
			have = append(have, line.Rates...)
			if slices.Contains(line.Predicted, !line.Dashed) || len(slices.Compact(line.Kernels)) != 1 {
				t.Errorf("%s: a line of %v, predicted %v, dashed %v", c.Title, line.Kernels, line.Predicted, line.Dashed)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b) }
	if !slices.EqualFunc(have, want, near) || failed != len(best)-len(want) {
		t.Errorf("%d points and %d crosses in charts, want %d and %d\nhave %v\nwant %v", len(have), failed, len(want), len(best)-len(want), have, want)
	}
}

// shared are the columns that the page's table and package results' ladder both
// have in every section.
var shared = []string{"kernel", "blocks", "size", "median", "±", "% of peak", "% of xla", "over", "err/bound", "rel_err", "status"}

func ladderLines(best []stats.Summary) []string {
	var lines []string
	for _, section := range stats.NewLadder(best).Sections {
		for _, row := range section.Rows {
			cells := map[string]string{}
			for i, name := range section.Header {
				cells[name] = row[i]
			}
			cells["kernel"], _, _ = strings.Cut(cells["kernel"], " (")
			lines = append(lines, lineOf(cells))
		}
	}
	slices.Sort(lines)
	return lines
}

func tableLines(table []map[string]string) []string {
	var lines []string
	for _, cells := range table {
		lines = append(lines, lineOf(cells))
	}
	slices.Sort(lines)
	return lines
}

func lineOf(cells map[string]string) string {
	var parts []string
	for _, name := range shared {
		parts = append(parts, cells[name])
	}
	return strings.Join(parts, " | ")
}

// visit shows the page in a window of a size with the scripts of testdata around
// it; with the hash #filters they work the filters.
func visit(t *testing.T, chromium, page, size, hash string) saw {
	t.Helper()
	script := func(name string) string {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return "<script>" + string(text) + "</script>"
	}
	start, end := strings.Index(page, "<style>"), strings.LastIndex(page, "</body>")
	page = page[:start] + script("watch.js") + page[start:end] + script("check.js") + page[end:]
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	text := console(t, exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+profile(t), "--window-size="+size,
		"--enable-logging=stderr", "--remote-debugging-port=0", "file://"+path+hash))
	var s saw
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// profile is a folder for the browser's own files. Processes of a browser that was killed
// may write there for a moment, so what is left of it is no failure.
func profile(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// said is a line of the browser's log with a piece of what check.js saw.
var said = regexp.MustCompile(`CONSOLE.*"SAW (.*) (MORE|END)", source: `)

// console runs the browser until check.js has said all that it saw, and returns that.
// The browser stays open until then: how long it takes is up to the machine, and
// virtual time (--virtual-time-budget) would not wait for what runs beside the page,
// such as the unpacking of rows.
func console(t *testing.T, browser *exec.Cmd) string {
	t.Helper()
	log, err := browser.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	if deadline, ok := t.Deadline(); ok { // of go test -timeout, to tell what the browser said
		hung := time.AfterFunc(time.Until(deadline)-10*time.Second, func() { browser.Process.Kill() })
		defer hung.Stop()
	}
	defer func() {
		browser.Process.Kill()
		browser.Wait()
	}()
	var text, rest strings.Builder
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch piece := said.FindStringSubmatch(lines.Text()); {
		case piece == nil:
			rest.WriteString(lines.Text() + "\n")
		case piece[2] == "END":
			return text.String()
		default:
			text.WriteString(piece[1])
		}
	}
	t.Fatalf("the check did not end: %v\n%s", lines.Err(), rest.String())
	return ""
}

// findChromium returns the browser; without one the test is skipped, unless
// MATLADDER_REQUIRE names it.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "chromium") {
		t.Fatal("no chromium")
	}
	t.Skip("no chromium; install it with: apt-get install chromium")
	return ""
}
