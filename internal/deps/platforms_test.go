package deps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"matladder/internal/thoroughtest"
)

// platforms are those that the project builds on.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

// few and withAdditions have each system and each architecture beside those of most
// machines. TestAdditions checks the latter, with more in it.
var (
	few           = [][2]string{{"darwin", "arm64"}}
	withAdditions = [2]string{"windows", "amd64"}
)

// TestPlatforms: all packages and their tests are free of type errors on each platform, without
// a C compiler. That takes seconds where compiling the standard library for each takes minutes.
func TestPlatforms(t *testing.T) {
	if !thoroughtest.All() {
		platforms = few
	}
	// The go command repeats a test whose folders have changed, if the test has looked at them.
	if err := filepath.WalkDir("../..", func(string, fs.DirEntry, error) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, platform := range platforms {
		goos, goarch := platform[0], platform[1]
		if goos == runtime.GOOS && goarch == runtime.GOARCH {
			continue // this test has been compiled
		}
		t.Run(goos+"/"+goarch, func(t *testing.T) {
			t.Parallel()
			checkTypes(t, goos, goarch, "", nil)
		})
	}
}

// checkTypes reports the first type error of a platform. overlay is the file for go list's
// flag of that name, and elsewhere maps each replaced path to the file in its place.
func checkTypes(t *testing.T, goos, goarch, overlay string, elsewhere map[string]string) {
	t.Helper()
	c := checker{goarch: goarch, elsewhere: elsewhere, packages: map[string]*types.Package{"unsafe": types.Unsafe}}
	for _, p := range listed(t, goos, goarch, overlay) {
		if err := c.check(p); err != nil {
			t.Fatalf("%s: %v", p.ImportPath, err) // and so would packages that import it
		}
	}
}

// A listedPackage is a package, or its variant for tests, as go list prints it.
type listedPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // from what a file says to the package it gets
	Module          *struct{ Main bool }
}

// listed are the packages of a platform, each behind what it imports.
func listed(t *testing.T, goos, goarch, overlay string) (list []listedPackage) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-overlay="+overlay, "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// A checker checks one package after another.
type checker struct {
	goarch    string
	elsewhere map[string]string         // where files lie that have another text
	packages  map[string]*types.Package // by what the go command calls them
}

// parsed are files that several platforms have, most of the standard library, each read once.
var parsed = struct {
	sync.Mutex
	files *token.FileSet
	texts map[string]func() (*ast.File, error)
}{files: token.NewFileSet(), texts: map[string]func() (*ast.File, error){}}

// parse reads a file; of one that is not ours it drops what functions do
// and what is in tables.
func parse(path string, own bool) (*ast.File, error) {
	parsed.Lock()
	text, ok := parsed.texts[path]
	if !ok {
		text = sync.OnceValues(func() (*ast.File, error) {
			file, err := parser.ParseFile(parsed.files, path, nil, parser.SkipObjectResolution)
			if err == nil && !own {
				ast.Inspect(file, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncDecl:
						if n.Body != nil { // else it is in assembly
							n.Body = &ast.BlockStmt{}
						}
					case *ast.CompositeLit: // a table, say, whose type does not need its elements
						if list, ok := n.Type.(*ast.ArrayType); !ok || list.Len == nil || !isEllipsis(list.Len) {
							n.Elts = nil
						}
					}
					return true
				})
			}
			return file, err
		})
		parsed.texts[path] = text
	}
	parsed.Unlock()
	return text()
}

// isEllipsis reports whether an array has as many elements as are listed.
func isEllipsis(length ast.Expr) bool {
	_, ok := length.(*ast.Ellipsis)
	return ok
}

func (c *checker) check(p listedPackage) error {
	own := p.Module != nil && p.Module.Main
	if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter is the main package of a test
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		at := filepath.Join(p.Dir, name)
		if other, ok := c.elsewhere[at]; ok {
			at = other
		}
		file, err := parse(at, own)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // of a test: "path [path.test]"
	config := types.Config{
		IgnoreFuncBodies: !own,
		Sizes:            types.SizesFor("gc", c.goarch),
		Importer: importerFunc(func(name string) (*types.Package, error) {
			if mapped := p.ImportMap[name]; mapped != "" {
				name = mapped
			}
			if have := c.packages[name]; have != nil {
				return have, nil
			}
			return nil, fmt.Errorf("%s is not among what it depends on", name)
		}),
	}
	checked, err := config.Check(path, parsed.files, files, nil)
	c.packages[p.ImportPath] = checked
	if !own { // the standard library and other modules are not what is tested
		return nil
	}
	return err
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
