package deps

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend/cpu/cputest"
	"matladder/internal/thoroughtest"
	"matladder/results"
)

// An addition is one more of what CONTRIBUTING.md says how to add: files of its own, which lie
// in testdata/additionstest, and places in files that there are.
type addition struct {
	name    string // of its folder
	heading string // of CONTRIBUTING.md's list of places
	own     string // the folder that it is; files outside are places
	most    int    // places that it may take
	places  []place
}

// A place is a line that an addition needs in a file that there is, behind another.
type place struct{ file, behind, line string }

// additions are a kernel, a family with its first kernel, a backend, a column and a kind
// of picture.
func additions(module string) []addition {
	return []addition{
		{"kernel", "Add a kernel", "kernels/v7_again", 1, []place{
			{"kernels/kernels.go", "mx \"" + module + "/kernels/v6_mx\"\n", "\tagain \"" + module + "/kernels/v7_again\"\n"},
			{"kernels/kernels.go", " Of(mx.Kernel),", " Of(again.Kernel),"},
		}},
		{"family", "Add a problem family", "kernels/doubled", 4, []place{
			{"problem/families.go", "Register(MLPFamily)\n", "\tRegister(DoubledFamily)\n"},
			{"kernels/kernels.go", "mlppair \"" + module + "/kernels/mlp/v2_pair\"\n", "\ttwice \"" + module + "/kernels/doubled/v1_twice\"\n"},
			{"kernels/kernels.go", " Of(mlppair.Kernel),", " Of(twice.Kernel),"},
		}},
		{"backend", "Add a backend", "backend/again", 3, []place{
			{"backend/registry/builtin/builtin.go", "aheadEntry, aheadGPUEntry", ", againEntry"},
			{"internal/deps/deps_test.go", "backend/registry: internal/known backend machine\n", "backend/again: backend/cpu\n"},
			{"internal/deps/deps_test.go", "backend/registry/builtin: internal/known", " backend/again"},
		}},
		{"column", "Add a column, or a kind of picture", "", 3, []place{
			{"results/record.go", "by which outputs were damaged on purpose\n", "\tTide string `csv:\"tide\"`\n"},
			{"results/FORMAT.md", "no evidence of the kernel |\n", "| `tide` | text | | how the sea stands |\n"},
			{"harness/record.go", "rec.Cache = c.Cache\n", "\trec.Tide = \"low\"\n"},
		}},
		{"picture", "Add a column, or a kind of picture", "", 2, []place{
			{"plots/kinds.go", "Scaling   Kind = \"scaling\"\n", "\tAgain Kind = \"again\"\n"},
			{"plots/kinds.go", "way to spread a product over a mesh\n", "\t{Again, PerDtype, false, false, againPictures},\n"},
		}},
	}
}

// TestAdditions adds one of each where CONTRIBUTING.md says and nowhere else: all packages with
// them have no type error; with MATLADDER_TESTS=all they are built, bench measures the kernel,
// the family and the backend and writes the column, and plot draws the picture.
func TestAdditions(t *testing.T) {
	const root = "../.."
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	module, dir := modulePath(t, root), t.TempDir()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{} // texts by path, of files that are new or other than they were
	for _, a := range additions(module) {
		files := a.add(t, root, changed)
		if len(files) > a.most {
			t.Errorf("%s: %d places, %v: at most %d", a.name, len(files), files, a.most)
		}
		list := section(t, string(page), a.heading)
		for _, file := range files {
			if !strings.Contains(list, "`"+file+"`") && !strings.Contains(list, "["+file+"]") && !strings.Contains(list, "`"+path.Dir(file)+"`") && !strings.Contains(list, "`"+path.Dir(file)+"/yours.go`") {
				t.Errorf("%s: %q of CONTRIBUTING.md does not name %s", a.name, a.heading, file)
			}
		}
	}
	allowed(t, module, changed)

	overlay, elsewhere := overlaid(t, root, dir, changed)
	if !thoroughtest.All() { // to build them takes as long as the types of everything five times
		checkTypes(t, withAdditions[0], withAdditions[1], overlay, elsewhere)
		return
	}
	tools := build(t, root, dir, overlay)
	cputest.Use(t, 0, 1)
	run := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command(tools[args[0]], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q in\n%s", strings.Join(args, " "), err, want, out)
		}
	}
	run("7 beads", "bench", "--backend", "again", "--param", "beads=7", "--kernel", "7", "--sizes", "70", "--dtype", "float32", "--time-budget", "1ms", "--out", "rows.csv")
	run("v1_twice", "bench", "--family", "doubled", "--sizes", "70x80", "--threads", "1", "--time-budget", "1ms", "--out", "doubled.csv")
	run("performance_again_float32.png", "plot", "--input", "rows.csv", "--kind", "again", "--output", ".")
	for file, kernel := range map[string]string{"rows.csv": "v7_again", "doubled.csv": "v1_twice"} {
		f, err := results.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Rows) == 0 {
			t.Errorf("%s has no rows", file)
		}
		for _, r := range f.Rows {
			if tide := r.Extra["tide"]; r.Kernel != kernel || r.Status != results.OK || tide != "low" {
				t.Errorf("%s: a row of %s is %s (%s), tide %q", file, r.Kernel, r.Status, r.Reason, tide)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "performance_again_float32.png")); err != nil || info.Size() == 0 {
		t.Errorf("no picture: %v", err)
	}
}

// add puts what a has into changed, and returns the files, besides its own folder's, that it
// touches.
func (a addition) add(t *testing.T, root string, changed map[string]string) (files []string) {
	t.Helper()
	own := filepath.Join("testdata", "additionstest", a.name)
	err := filepath.WalkDir(own, func(file string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) && file == own {
			return nil // of a column there are only places
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(own, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		changed[rel] = string(text)
		if a.own == "" || !strings.HasPrefix(rel, a.own+"/") {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.places {
		text, ok := changed[p.file]
		if !ok {
			there, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
			if err != nil {
				t.Fatal(err)
			}
			text = strings.ReplaceAll(string(there), "\r\n", "\n")
		}
		before, after, found := strings.Cut(text, p.behind)
		if !found || strings.Contains(after, p.behind) {
			t.Fatalf("%s: %s has %q not once", a.name, p.file, p.behind)
		}
		changed[p.file] = before + p.behind + p.line + after
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	return files
}

// section is what a document says under a heading.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(document, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("CONTRIBUTING.md has no %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// allowed reports what changed files import and the graph, as changed, does not allow.
func allowed(t *testing.T, module string, changed map[string]string) {
	t.Helper()
	_, text, _ := strings.Cut(changed["internal/deps/deps_test.go"], "const graph = `")
	text, _, _ = strings.Cut(text, "`")
	rules := parseGraph(t, text)
	for file, text := range changed {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		rule, ok := match(rules, path.Dir(file))
		if !ok {
			t.Errorf("%s is not in the graph", path.Dir(file))
			continue
		}
		may := closure(rules, rule)
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if own, ok := strings.CutPrefix(imp, module+"/"); ok && !permitted(may, own) {
				t.Errorf("%s imports %s, which the graph does not allow", file, own)
			}
		}
	}
}

// overlaid writes sources as changed to a folder, and the file by which the go command finds
// them there; elsewhere has the same by path.
func overlaid(t *testing.T, root, dir string, changed map[string]string) (path string, elsewhere map[string]string) {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range changed {
		at := filepath.Join(dir, "sources", filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(top, filepath.FromSlash(file))] = at
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, list, 0o666); err != nil {
		t.Fatal(err)
	}
	return at, overlay.Replace
}

// build makes bench and plot of the sources that an overlay says.
func build(t *testing.T, root, dir, overlay string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", dir+string(filepath.Separator), "./cmd/bench", "./cmd/plot")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	end := ""
	if runtime.GOOS == "windows" {
		end = ".exe"
	}
	return map[string]string{"bench": filepath.Join(dir, "bench"+end), "plot": filepath.Join(dir, "plot"+end)}
}
