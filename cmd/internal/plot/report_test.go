package plot

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"matladder/internal/cli"
	"matladder/model/traverse"
)

// inPage returns the value that the page's scripts call name.
func inPage[T any](t *testing.T, page, name string) T {
	t.Helper()
	_, text, found := strings.Cut(page, name+" = ")
	var v T
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&v); err != nil || !found {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

type reportData struct {
	Sections []struct{ Dtype, Machine string }
	Kernels  []struct{ Name string }
	Size     []int
}

// TestRun_HTML: the page has the points asked for, their rows, and a traversal of
// every kernel at one problem, with the blocks of the rows.
func TestRun_HTML(t *testing.T) {
	workplace(t)
	code, stdout, stderr := plot("--html=pages/report.html", "--dtype=float32")
	if code != cli.OK || stdout != "pages/report.html\n" || stderr != "" {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	page := read(t, "pages/report.html")
	data := inPage[reportData](t, page, "DATA")
	if len(data.Kernels) != 6 || len(data.Sections) != 1 || data.Sections[0].Dtype != "float32" {
		t.Errorf("kernels %v in sections %v", data.Kernels, data.Sections)
	}
	var names []string
	for _, r := range inPage[[]*traverse.Recording](t, page, "TRAVERSALS") {
		name, rest, _ := strings.Cut(r.Title, " ")
		names = append(names, name)
		if !regexp.MustCompile(`^\d+ float32×float32→float32, blocks \d+×\d+×\d+$`).MatchString(rest) || len(r.Steps) == 0 || len(r.Steps) > shownSteps {
			t.Errorf("traversal %q of %d steps", r.Title, len(r.Steps))
		}
	}
	if got := strings.Join(names, " "); got != "v1_naive v2_parallel v3_block v4_optblock v5_quant" {
		t.Errorf("traversals of %s", got)
	}

	plot("--html=both.html", "--input=out/*.csv", "--input=tpu/*.csv", "--analyze=v4")
	data = inPage[reportData](t, read(t, "both.html"), "DATA")
	machines := map[string]bool{}
	for _, s := range data.Sections {
		machines[s.Machine] = true
	}
	if len(data.Kernels) != 1 || data.Kernels[0].Name != "v4_optblock" || len(machines) != 2 {
		t.Errorf("kernels %v on %v", data.Kernels, machines)
	}
}

func TestRun_HTML_Refuses(t *testing.T) {
	workplace(t)
	for args, want := range map[string]string{
		"--html=":                           "--html is empty",
		"--html=a.html --table=md":          "--as goes without --html",
		"--html=a.html --kind=ladder":       "--as goes without --html",
		"--html=a.html --output=x":          "--out goes without --html",
		"--html=a.html --format=svg":        "--format goes without --html",
		"--html=a.html --dtype=float8_e5m2": "no rows",
		"--html=out/20261120-101500.csv/x":  "out/20261120-101500.csv",
	} {
		code, stdout, stderr := plot(strings.Fields(args)...)
		if code == cli.OK || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", args, code, stdout, stderr)
		}
	}
}
