package deps

import (
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamples: every package that a program may import has an example that go test runs.
// What is found in a registry or a list of its own is not imported by name (rungs, what they
// share, exercises), nor is what is for tests.
func TestExamples(t *testing.T) {
	const root = "../.."
	for pkg := range readImports(t, root) {
		words := strings.Split(pkg, "/")
		last := words[len(words)-1]
		switch {
		case slices.Contains(words, "internal") || slices.Contains(words, "cmd") || words[0] == "tools" || strings.HasSuffix(last, "test"):
			continue
		case words[0] == "kernels" && len(words) > 1 && pkg != "kernels/sharded":
			continue
		case words[0] == "workshop" && len(words) > 1, pkg == "scripts", pkg == "plugins/probe", pkg == "plots/report/echarts":
			continue // parts of a command
		}
		if !hasExample(t, filepath.Join(root, filepath.FromSlash(pkg))) {
			t.Errorf("package %s has no example with an output", path.Clean(pkg))
		}
	}
}

// hasExample reports whether a folder has an example that is run.
func hasExample(t *testing.T, folder string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(doc.Examples(f), func(e *doc.Example) bool { return e.Output != "" }) {
			return true
		}
	}
	return false
}
