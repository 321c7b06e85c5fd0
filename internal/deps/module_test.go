package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modulePath is what go.mod says.
func modulePath(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	path, ok := strings.CutPrefix(line, "module ")
	if !ok {
		t.Fatalf("go.mod begins with %q", line)
	}
	return strings.TrimSpace(path)
}

func hasFile(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// TestModule_Renamed gives a copy of the sources another module path by the script that
// does so, and has the go command find every package under it. What a program spells of the
// path besides imports would be left behind: there must be none.
func TestModule_Renamed(t *testing.T) {
	for _, tool := range []string{"bash", "find", "sed", "xargs"} { // which the script uses
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	const root, other = "../..", "example.com/some/ladder"
	old, copied := modulePath(t, root), t.TempDir()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "out" || name == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(copied, rel), 0o777)
		case !strings.HasSuffix(name, ".go") && name != "go.mod" && name != "go.sum":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(copied, rel), text, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(root, "scripts", "rename-module"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = copied
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("bash", script, other)
	if have := modulePath(t, copied); have != other {
		t.Fatalf("the module is %s", have)
	}
	listed := run("go", "list", "-e", "-test", "-f", "{{if and (not .ForTest) .Error}}{{.ImportPath}}: {{.Error}}{{end}}", "./...")
	for line := range strings.Lines(listed) {
		if strings.Contains(line, "no matching files found") { // what is embedded stays behind
			continue
		}
		if strings.Contains(line, old+"/") || strings.Contains(line, "not in std") {
			t.Error(strings.TrimSpace(line))
		}
	}
	left(t, copied, old)
}

// left reports what is spelled of a module's path.
func left(t *testing.T, root, old string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if ast.IsGenerated(f) { // its test writes it again
			return nil
		}
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); path == old || strings.HasPrefix(path, old+"/") {
				t.Errorf("%s imports %s", files.Position(i.Pos()), path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				for _, folder := range []string{"tile", "kernels", "backend", "cmd", "internal", "harness", "problem"} {
					if strings.Contains(lit.Value, old+"/"+folder+".") || strings.HasPrefix(lit.Value[1:], old+"/"+folder) {
						t.Errorf("%s spells %s", files.Position(lit.Pos()), lit.Value)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
