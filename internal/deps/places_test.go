package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matladder/backend/registry"
	"matladder/kernels"
	"matladder/plots"
	"matladder/problem"
	"matladder/results"

	_ "matladder/backend/registry/builtin"
)

// words are the places, tests left out, that have each string: whole literals by their
// value, in Go files with their paths from the module's root.
func words(t *testing.T, root string) map[string][]string {
	t.Helper()
	places := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "out" || strings.HasPrefix(name, ".") && file != root || file != root && hasFile(file, "go.mod")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && !slices.Contains(places[s], rel) {
				places[s] = append(places[s], rel)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return places
}

// TestPlaces holds what CONTRIBUTING.md says of how many places know a kernel, a backend, a
// kind of picture and a column, for each that there is. What is listed here beside them
// needs the one that it names, and no other: lessons, other programs' figures.
func TestPlaces(t *testing.T) {
	const root = "../.."
	places := words(t, root)
	module := modulePath(t, root)
	needs := map[string][]string{ // packages, or files, that need one that they name
		"attention":   {"kernels/attention/"},         // rungs that are made of others
		"aot":         {"cmd/internal/compare/ab.go"}, // there nothing runs that could be compared
		"cpu":         {"cmd/internal/peers/find.go"}, // the plugin of that name
		"v1_naive":    {"backend/cpu/worker.go"},
		"v3_block":    {"tools/trust/build.go"},
		"v4_optblock": {"backend/backendtest/"},
		"v6_mx":       {"problem/problemtest/"},
		"v5_quant":    {"backend/backendtest/", "cmd/internal/tune/export.go", "problem/problemtest/"},
	}
	others := func(name string, files []string, own ...string) []string {
		own = slices.Concat(own, needs[name], []string{"workshop/"})
		return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
			return slices.ContainsFunc(own, func(p string) bool { return strings.HasPrefix(file, p) })
		})
	}

	for _, k := range kernels.All {
		folder := folderOf(t, root, k)
		if left := others(k.Name(), places[k.Name()], "kernels/"); len(left) > 0 {
			t.Errorf("kernel %s is named in %v as well", k.Name(), left)
		}
		listed := append([]string{folder + "/", "kernels/kernels.go"}, needs[k.Family().Name]...)
		if left := others(k.Name(), places[module+"/"+folder], listed...); len(left) > 0 {
			t.Errorf("kernel %s is imported by %v, besides kernels/kernels.go", k.Name(), left)
		}
	}

	for _, name := range registry.Names(0) {
		for _, file := range others(name, places[name]) {
			if strings.HasPrefix(file, "cmd/") {
				t.Errorf("backend %s is named in %s: commands have no list of their own", name, file)
			}
		}
	}

	for _, kind := range plots.Kinds() {
		var files []string
		for _, file := range places[string(kind)] {
			if path.Dir(file) == "plots" || strings.HasPrefix(file, "cmd/internal/plot/") {
				files = append(files, file)
			}
		}
		if len(files) > 2 {
			t.Errorf("kind %s is named in %v", kind, files)
		}
	}

	format, err := os.ReadFile(filepath.Join(root, "results", "FORMAT.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range results.Columns {
		if !strings.Contains(string(format), "| `"+c+"` |") {
			t.Errorf("column %s has no line in results/FORMAT.md", c)
		}
	}
}

// folderOf is a kernel's folder, from the module's root.
func folderOf(t *testing.T, root string, k kernels.Kernel) string {
	t.Helper()
	folder := "kernels/" + k.Name()
	if k.Family() != problem.MatmulFamily {
		folder = "kernels/" + k.Family().Name + "/" + k.Name()
	}
	if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(folder))); err != nil || !info.IsDir() {
		t.Fatalf("kernel %s of %s has no folder %s", k.Name(), k.Family().Name, folder)
	}
	return folder
}
