// Package deps holds the import graph of the project as text and enforces it.
package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// graph says what each package may import: "a: b c" means that package a may
// import b and c, and whatever they may import. Packages of this module are
// named by folder, others by import path; the standard library is free for
// all. A name that ends in /* stands for every folder below, the name . for the root.
const graph = `
tile/internal/inflight:
internal/each:
tile: internal/each tile/internal/inflight internal/float16
tile/tiletest: tile
tile/interp: tile tile/internal/inflight
tile/groups: tile
.: internal/bfloat16 internal/float16 backend/timeline backend backend/cpu backend/registry kernels problem tile harness/tuned model/blocking
problem: internal/known tile
problem/problemtest: tile problem problem/quant problem/quant/quanttest kernels kernels/*
problem/quant: tile problem
problem/quant/quanttest: tile problem problem/quant
check: internal/bfloat16 internal/float16 tile problem problem/quant tile/interp
check/accumulator: problem tile
kernels/attention/attentiontest: kernels
kernels/rope/ropetest: kernels
kernels/*: tile problem
kernels: tile problem kernels/*
kernels/kernelstest: kernels
machine: tile internal/yamldoc gopkg.in/yaml.v3
machine/mesh: internal/known
model: internal/known tile machine machine/mesh
model/modeltest:
model/anatomy:
model/blocking: tile problem machine model
model/layer: internal/known tile model machine machine/mesh
model/traverse: tile
model/vendor: tile
backend/timeline: internal/each
backend: check tile backend/timeline machine problem
internal/ccompilertest:
tools/fakegpu: internal/ccompilertest plugins
internal/counters: internal/cgroup golang.org/x/sys/unix
lower/internal/mlir: tile
lower/internal/lowertest: backend backend/backendtest lower/internal/mlir problem tile tile/interp tile/tiletest
lower/mosaic: internal/known tile problem lower/internal/mlir
lower/stablehlo: machine/mesh tile problem problem/quant lower/internal/mlir
lower/triton: tile tile/groups lower/internal/mlir
lower/triton/ttir: lower/internal/mlir
backend/internal/hlo: internal/each google.golang.org/protobuf/encoding/protowire
backend/internal/stage: backend problem tile
backend/seeded: backend backend/internal/stage check problem tile
backend/internal/libtpu: backend backend/internal/hlo
backend/xla/aot: backend/foreign/process internal/known machine/mesh backend/timeline model model/vendor backend backend/xla/aot/schedule backend/internal/* machine internal/child internal/files internal/childlog internal/pjrtapi lower/mosaic lower/stablehlo lower/triton lower/triton/ttir plugins problem tile
backend/xla/aot/schedule: internal/each
backend/backendtest: backend backend/seeded tile/interp tile/tiletest kernels kernels/experts kernels/experts/gate kernels/kernelstest problem/problemtest
internal/dynlib: github.com/ebitengine/purego
internal/pjrtapi: internal/dynlib github.com/ebitengine/purego
backend/internal/nvml: backend internal/child internal/dynlib github.com/ebitengine/purego
backend/worker: backend backend/seeded machine internal/deadline internal/child tile
backend/xla/pjrt: machine/mesh backend backend/internal/* machine plugins internal/pjrtapi tile problem lower/mosaic lower/stablehlo lower/triton github.com/ebitengine/purego github.com/gomlx/go-xla/pjrt github.com/gomlx/compute/dtypes golang.org/x/sys/unix
backend/cpu/internal/amx: golang.org/x/sys/cpu
backend/cpu/internal/evict:
backend/cpu/internal/memory: golang.org/x/sys/unix
backend/cpu/internal/probe: backend/cpu/internal/amx golang.org/x/sys/cpu golang.org/x/sys/unix machine
backend/cpu/internal/rows: backend/cpu/internal/memory internal/bfloat16 golang.org/x/sys/cpu
backend/cpu/internal/vexp: internal/bfloat16
backend/cpu/internal/widen: backend/cpu/internal/memory internal/bfloat16 internal/float16 tile
backend/cpu/internal/timing: backend/cpu/internal/gemm backend/cpu/internal/memory backend/cpu/internal/probe tile
backend/cpu/internal/gemm/pack: backend/cpu/internal/memory tile
backend/cpu/internal/gemm: backend/cpu/internal/gemm/pack internal/bfloat16 backend/cpu/internal/amx backend/cpu/internal/probe golang.org/x/sys/cpu
backend/cpu/internal/plan: internal/words backend tile backend/cpu/internal/gemm backend/cpu/internal/memory backend/cpu/internal/rows backend/cpu/internal/vexp machine model/blocking
backend/cpu/internal/epilogue: backend/cpu/internal/plan tile internal/float16
backend/cpu/internal/passes: backend/cpu/internal/epilogue backend/cpu/internal/plan backend/cpu/internal/widen tile tile/groups model/blocking
backend/cpu/internal/exec: internal/float16 backend/internal/stage backend/cpu/internal/evict backend/cpu/internal/plan backend tile backend/timeline golang.org/x/sys/unix
backend/cpu: model/anatomy backend/cpu/internal/timing backend/timeline backend check machine internal/cgroup internal/known internal/files tile problem golang.org/x/sys/cpu backend/cpu/internal/exec backend/cpu/internal/passes
backend/registry: internal/known backend machine
backend/cpu/cputest: backend/cpu machine plugins tile
backend/registry/registrytest: backend backend/cpu backend/registry internal/subprocesstest
backend/foreign: problem
backend/foreign/library: backend backend/foreign backend/internal/stage backend/worker machine internal/child internal/dynlib internal/childlog problem tile github.com/ebitengine/purego
backend/registry/builtin: internal/known backend backend/internal/libtpu backend/foreign/library backend/worker backend/registry backend/xla/aot backend/cpu backend/xla/pjrt machine backend/internal/nvml internal/deadline lower/triton plugins tile
backend/foreign/process: internal/known backend backend/foreign backend/internal/stage machine internal/child internal/childlog problem tile
backend/foreign/program: backend backend/foreign internal/files lower/stablehlo machine problem tile
stats/twosample: internal/each stats/interval gonum.org/v1/gonum/mathext gonum.org/v1/gonum/stat/distuv
stats/interval: golang.org/x/perf/benchmath
harness/measure: stats backend backend/seeded machine problem tile internal/deadline internal/counters results
results: internal/files internal/known internal/words problem
results/bundle: internal/files
stats: model/anatomy results stats/twosample stats/interval problem golang.org/x/perf/benchfmt golang.org/x/perf/benchunit gonum.org/v1/gonum/stat
internal/words:
configs:
harness/tuned: backend configs internal/files internal/words internal/yamldoc machine problem tile gopkg.in/yaml.v3
harness: stats machine/mesh harness/measure harness/tuned internal/deadline internal/cgroup internal/yamldoc kernels backend backend/seeded check check/accumulator model machine results configs gopkg.in/yaml.v3 model/blocking
plots/figure: internal/each internal/files internal/words gonum.org/v1/plot golang.org/x/image/font
plots: plots/figure model/anatomy stats results model machine machine/mesh
cmd/bench: backend/registry/builtin cmd/internal/bench internal/cli
cmd/internal/bench: stats results/bundle backend/timeline internal/cgroup internal/cli cmd/internal/deviceflag internal/files cmd/internal/sweepflag harness/tuned harness harness/measure backend/registry/builtin backend/foreign backend/foreign/library backend/foreign/process backend/foreign/program problem backend/registry configs github.com/spf13/pflag github.com/schollz/progressbar/v3 golang.org/x/term
harness/tune: stats harness/measure backend backend/seeded kernels model machine problem tile harness/tuned model/blocking results
cmd/tune: backend/registry/builtin cmd/internal/tune internal/cli
cmd/internal/tune: stats internal/cli cmd/internal/deviceflag internal/files cmd/internal/sweepflag harness/tune harness/tuned harness backend/registry/builtin backend/registry results github.com/spf13/pflag golang.org/x/term model/blocking
cmd/compare: cmd/internal/compare internal/cli
cmd/internal/compare: stats plots plots/figure plots/report results results/bundle harness backend backend/cpu backend/seeded tile internal/cli internal/childlog internal/files github.com/spf13/pflag
cmd/inspect: backend/registry/builtin cmd/internal/inspect internal/cli
cmd/internal/inspect: model/anatomy backend/foreign/program backend/timeline internal/cli cmd/internal/deviceflag internal/files harness backend/xla/aot backend/registry/builtin backend/registry lower/mosaic lower/triton/ttir results model/traverse model machine kernels problem tile github.com/spf13/pflag
cmd/mesh: cmd/internal/mesh internal/cli
cmd/internal/mesh: internal/known internal/cli model model/layer machine/mesh github.com/spf13/pflag
cmd/peers: backend/registry/builtin cmd/internal/peers internal/cli
cmd/internal/peers: stats internal/cli internal/files cmd/internal/sweepflag harness/tuned harness backend/registry/builtin backend/registry backend/foreign/process machine kernels configs results github.com/spf13/pflag
plots/report: stats plots plots/report/echarts results model/traverse
plots/report/echarts:
cmd/plot: cmd/internal/plot internal/cli
cmd/internal/plot: stats harness internal/cli internal/files results plots plots/report model machine kernels model/traverse github.com/spf13/pflag
workshop/exercises/*: tile problem
workshop/blanks/*: tile problem
workshop/solutions/*: tile problem
workshop: internal/each kernels model/anatomy model/traverse model machine/mesh machine check problem tile tile/interp workshop/exercises/* workshop/blanks/* workshop/solutions/*
workshop/classroom: stats internal/each internal/cgroup internal/counters internal/files plots plugins results workshop golang.org/x/sys/windows
cmd/workshop: cmd/internal/workshop internal/cli
cmd/internal/workshop: internal/known stats internal/cli internal/files plots/figure results workshop workshop/classroom github.com/spf13/pflag
plugins: internal/each internal/known internal/files golang.org/x/sys/unix golang.org/x/sys/windows
plugins/probe: internal/child internal/pjrtapi
plugins/plugintest:
cmd/plugin: plugins/probe cmd/internal/plugin internal/cli
cmd/internal/plugin: internal/cli plugins plugins/probe github.com/spf13/pflag github.com/schollz/progressbar/v3
internal/cli: internal/each internal/files internal/words github.com/spf13/pflag golang.org/x/term
internal/cli/clitest:
internal/files: internal/deadline golang.org/x/sys/unix golang.org/x/sys/windows
internal/files/filestest:
internal/deadline:
internal/bfloat16:
internal/float16:
internal/cgroup:
internal/child: internal/childlog golang.org/x/sys/unix internal/each
cmd/matladder: backend/registry/builtin internal/cli internal/known plugins/probe cmd/internal/bench cmd/internal/compare cmd/internal/inspect cmd/internal/mesh cmd/internal/peers cmd/internal/plot cmd/internal/plugin cmd/internal/tune cmd/internal/workshop
cmd/internal/deviceflag: backend/registry/builtin backend/registry internal/cli github.com/spf13/pflag
cmd/internal/sweepflag: configs internal/known harness internal/cli internal/files kernels problem results tile github.com/spf13/pflag
internal/goldentest: github.com/google/go-cmp/cmp
internal/known: internal/each
internal/childlog:
internal/thoroughtest:
kernels/doublingtest: internal/subprocesstest check kernels problem tile
internal/subprocesstest:
tools/realkernels: backend backend/registry/builtin backend/xla/aot internal/cli stats
tools/pallasref: model backend backend/xla/aot backend/xla/aot/schedule internal/cli internal/files internal/childlog kernels lower/mosaic plugins problem tile github.com/spf13/pflag
tools/gpubars: stats results kernels backend/xla/aot backend/xla/pjrt internal/cli tools/fakegpu github.com/spf13/pflag
tools/hero: internal/cli internal/files kernels machine model/traverse problem results stats tile
tools/page: internal/cli internal/files
tools/offline: internal/cli plugins workshop/classroom
tools/rate: . backend backend/cpu backend/seeded kernels model/blocking problem tile
tools/slides: internal/each internal/cli workshop
tools/tuneaudit: backend backend/registry/builtin harness harness/tune internal/cli internal/files
tools/trust: stats results internal/cli backend backend/cpu backend/foreign backend/foreign/library backend/foreign/process backend/worker harness problem tile github.com/spf13/pflag
tools/faulttest: backend machine harness results tile internal/cli github.com/spf13/pflag
internal/yamldoc: gopkg.in/yaml.v3
internal/deps:
tools/asmgen:
scripts: gopkg.in/yaml.v3
`

func TestGraph(t *testing.T) {
	allowed := parseGraph(t, graph)
	for pkg, imports := range readImports(t, "../..") {
		rule, ok := match(allowed, pkg)
		if !ok {
			t.Errorf("%s: not in the graph; add a line for it", pkg)
			continue
		}
		may := closure(allowed, rule)
		for _, imp := range imports {
			if !permitted(may, imp) {
				t.Errorf("%s imports %s, which the graph does not allow", pkg, imp)
			}
		}
	}
}

func parseGraph(t *testing.T, graph string) map[string][]string {
	allowed := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(graph), "\n") {
		name, list, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("graph: no colon in %q", line)
		}
		allowed[name] = strings.Fields(list)
	}
	return allowed
}

// match returns the rule of a package: its own, or the longest wildcard.
func match(allowed map[string][]string, pkg string) (string, bool) {
	if _, ok := allowed[pkg]; ok {
		return pkg, true
	}
	for dir := path.Dir(pkg); dir != "."; dir = path.Dir(dir) {
		if _, ok := allowed[dir+"/*"]; ok {
			return dir + "/*", true
		}
	}
	return "", false
}

// closure returns everything a rule leads to, itself included.
func closure(allowed map[string][]string, rule string) []string {
	seen := []string{rule}
	for i := 0; i < len(seen); i++ {
		for _, next := range allowed[seen[i]] {
			if !slices.Contains(seen, next) {
				seen = append(seen, next)
			}
		}
	}
	return seen
}

func permitted(may []string, imp string) bool {
	for _, m := range may {
		prefix, wild := strings.CutSuffix(m, "/*")
		external := strings.Contains(strings.Split(m, "/")[0], ".")
		if imp == m || (wild || external) && strings.HasPrefix(imp, prefix+"/") {
			return true
		}
	}
	return false
}

// readImports returns the imports outside the standard library of every
// package, tests left out, as folders of the module or import paths.
func readImports(t *testing.T, root string) map[string][]string {
	module := modulePath(t, root)
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "out" || strings.HasPrefix(name, ".") && file != root) {
			return fs.SkipDir
		}
		if d.IsDir() && file != root && hasFile(file, "go.mod") { // a module of its own
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		imports[pkg] = append(imports[pkg], []string{}...)
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			own, ok := strings.CutPrefix(imp, module+"/")
			if imp == module {
				own, ok = ".", true
			}
			if ok || strings.Contains(strings.Split(imp, "/")[0], ".") {
				imports[pkg] = append(imports[pkg], own)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) == 0 {
		t.Fatalf("no packages under %s", root)
	}
	return imports
}

// TestKernels_Short holds each rung to what one reads on a screen.
func TestKernels_Short(t *testing.T) {
	files, err := filepath.Glob("../../kernels/v*/kernel.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	const most = 60
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most {
			t.Errorf("%s has %d lines, at most %d fit on a screen", file, n, most)
		}
	}
}

// TestKernels_Imports holds kernels to tile, problem and what is shared in their own family. A
// kernel that saw a model or a device would decide by it what only block shapes are for.
func TestKernels_Imports(t *testing.T) {
	borrowed := map[string]string{
		"kernels/attention/scores": "kernels/rope/turn", // q and k are turned as rope turns
		"kernels/v5_quant":         "kernels/scaled",
		"kernels/v6_mx":            "kernels/scaled",
	}
	for pkg, imports := range readImports(t, "../..") {
		dir, rest, _ := strings.Cut(pkg, "/")
		if dir != "kernels" || rest == "" || strings.HasSuffix(pkg, "test") {
			continue
		}
		family, _, _ := strings.Cut(rest, "/")
		for _, imp := range imports {
			if imp != "tile" && imp != "problem" && !strings.HasPrefix(imp, "kernels/"+family+"/") && imp != borrowed[pkg] {
				t.Errorf("%s imports %s: kernels see tile, problem and pieces of their own family alone", pkg, imp)
			}
		}
	}
}

// TestTile_NoClock: the language knows no clock, and no memory by its speed.
func TestTile_NoClock(t *testing.T) {
	err := filepath.WalkDir("../../tile", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && clock.MatchString(id.Name) {
				t.Errorf("%s: %s", file, id.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var clock = regexp.MustCompile(`Second|Bandwidth|L2|Cache`)

// TestPasses_Pure: what passes know of a machine is handed to them (plan.Machine), so that a
// program has one plan on machines of the same figures.
func TestPasses_Pure(t *testing.T) {
	imports := readImports(t, "../..")
	for _, pkg := range []string{"backend/cpu/internal/passes", "backend/cpu/internal/epilogue"} {
		if len(imports[pkg]) == 0 || slices.Contains(imports[pkg], "backend/cpu/internal/probe") || slices.Contains(imports[pkg], "backend/cpu/internal/timing") {
			t.Errorf("%s imports %q", pkg, imports[pkg])
		}
	}
}
