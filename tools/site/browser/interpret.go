package browser

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/traefik/yaegi/interp"
	"golang.org/x/tools/go/gcexportdata"

	"matladder/problem"
	"matladder/tile"
)

// A Mistake is where source is not Go, or not Go that a page can run.
type Mistake struct {
	Line, Column int
	Text         string
	Help         string // in words of package tile, for those whose cause is often one thing
}

// helps are what to do about a mistake whose text has all words.
var helps = []struct{ words, help string }{
	{"tile.Value missing method", "A number in a program is a value: tile.Number(0)."},
	{"mismatched types *tile.Axis", "A step is known only when the program runs: t.When(k.First(), func() { … })."},
	{"as tile.IndexExpr", "A number in an index map is tile.Const(0)."},
}

// paths are the packages that source may import, those that others need first. What they declare
// is in exports for go/types, and in exports.go for the interpreter.
var paths = []string{"math", reflect.TypeFor[tile.Program]().PkgPath(), reflect.TypeFor[problem.Matmul]().PkgPath()}

//go:embed exports
var exported embed.FS

type importable map[string]*types.Package

var packages = sync.OnceValue(func() importable {
	known := importable{}
	for _, at := range paths {
		text, err := exported.Open("exports/" + path.Base(at) + ".types")
		if err == nil {
			_, err = gcexportdata.Read(text, token.NewFileSet(), known, at)
		}
		if err != nil {
			panic(err) // a test reads all of them
		}
	}
	return known
})

func (known importable) Import(at string) (*types.Package, error) {
	if !slices.Contains(paths, at) {
		return nil, fmt.Errorf("a page has no package %s, only %s", at, strings.Join(paths, ", "))
	}
	return known[at], nil
}

// mostMistakes is how many mistakes of a file are shown, as many as the compiler shows.
const mostMistakes = 10

// at is the statement that runs: marks in the source set it.
var at tile.Pos

func init() { tile.Interpreted = func() tile.Pos { return at } }

// marks is the package that marked source imports.
const marks = "matladder/tools/site/browser"

// read type-checks Go source, interprets it, and returns how to find what it declares by name:
// nil for what it does not declare. file is the name that positions have.
func read(file, source string) (declared func(name string) any, mistakes []Mistake) {
	files := token.NewFileSet()
	add := func(pos token.Position, text string) {
		if len(mistakes) < mostMistakes {
			m := Mistake{Line: pos.Line, Column: pos.Column, Text: text}
			for _, h := range helps {
				if m.Help == "" && !slices.ContainsFunc(strings.Fields(h.words), func(w string) bool { return !strings.Contains(text, w) }) {
					m.Help = h.help
				}
			}
			mistakes = append(mistakes, m)
		}
	}
	parsed, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution)
	if list, ok := errors.AsType[scanner.ErrorList](err); ok {
		for _, e := range list {
			add(e.Pos, e.Msg)
		}
		return nil, mistakes
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: packages(), Sizes: types.SizesFor("gc", "amd64"), Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok && !strings.HasPrefix(e.Msg, "\t") { // more of the one before
			add(e.Fset.Position(e.Pos), e.Msg)
		}
	}}
	pkg, err := config.Check(parsed.Name.Name, files, []*ast.File{parsed}, &info)
	if err != nil {
		slices.SortStableFunc(mistakes, func(a, b Mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		return nil, mistakes
	}
	i := interp.New(interp.Options{Stdout: io.Discard, Stderr: io.Discard})
	symbols := maps.Clone(exports)
	symbols[marks+"/browser"] = map[string]reflect.Value{"At": reflect.ValueOf(func(line int) { at = tile.Pos{File: file, Line: line} })}
	eval := func(text string) (v reflect.Value, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		return i.Eval(text)
	}
	err = i.Use(symbols)
	if err == nil {
		_, err = eval(marked(source, parsed, files, info))
	}
	if err != nil {
		return nil, []Mistake{{Line: 1, Column: 1, Text: "a page cannot run this, though it is right Go: " + err.Error()}}
	}
	return func(name string) any {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Const:
			if o.Val().Kind() == constant.String {
				return constant.StringVal(o.Val())
			}
		case *types.Func, *types.Var:
			if v, err := eval(pkg.Name() + "." + name); err == nil {
				return v.Interface()
			}
		}
		return nil
	}, nil
}

// marked is source with a mark in front of each statement of a block, all on their own lines. The
// interpreter lacks ranges over integers, min and max: they become other loops and functions.
func marked(source string, f *ast.File, files *token.FileSet, info types.Info) string {
	type edit struct {
		from, to int
		text     string
	}
	offset := func(p token.Pos) int { return files.Position(p).Offset }
	edits := []edit{{offset(f.Name.End()), offset(f.Name.End()), "; import _mark " + fmt.Sprintf("%q", marks)}}
	functions := ""
	typed := func(x ast.Expr) string { // an untyped constant's is its default
		return types.TypeString(types.Default(info.Types[x].Type), (*types.Package).Name)
	}
	block := func(list []ast.Stmt) {
		for _, s := range list {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause: // statements of a switch's block, that begin no line
			default:
				edits = append(edits, edit{offset(s.Pos()), offset(s.Pos()), fmt.Sprintf("_mark.At(%d); ", files.Position(s.Pos()).Line)})
			}
		}
	}
	for n := range ast.Preorder(f) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			block(n.List)
		case *ast.CaseClause:
			block(n.Body)
		case *ast.RangeStmt:
			b, ok := info.Types[n.X].Type.Underlying().(*types.Basic)
			if !ok || b.Info()&types.IsInteger == 0 {
				break
			}
			edits = append(edits, edit{offset(n.For), offset(n.X.Pos()), "for _i, _n := 0, int("}, edit{offset(n.X.End()), offset(n.X.End()), "); _i < _n; _i++"})
			if key, ok := n.Key.(*ast.Ident); ok && key.Name != "_" {
				edits = append(edits, edit{offset(n.Body.Lbrace) + 1, offset(n.Body.Lbrace) + 1, fmt.Sprintf("%s %s %s(_i); _ = %[1]s; ", key.Name, n.Tok, typed(n.X))})
			}
		case *ast.CallExpr:
			name, ok := n.Fun.(*ast.Ident)
			if than := map[string]string{"min": "<", "max": ">"}; ok && info.Types[n.Fun].IsBuiltin() && than[name.Name] != "" {
				own := fmt.Sprintf("_%s%d", name.Name, offset(name.Pos()))
				edits = append(edits, edit{offset(name.Pos()), offset(name.End()), own})
				functions += fmt.Sprintf("\nfunc %s(x %[2]s, more ...%[2]s) %[2]s {\nfor _, y := range more {\nif y %s x { x = y }\n}\nreturn x\n}", own, typed(n), than[name.Name])
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.WriteString(source[done:e.from] + e.text)
		done = e.to
	}
	return out.String() + source[done:] + functions
}
