// Package deps holds the import graph of the project as text and enforces it.
package deps

import (
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
)

// graph says what each package may import: "a: b c" means that package a may
// import b and c, and whatever they may import. Packages of this module are
// named by folder, others by import path; the standard library is free for
// all. A name that ends in /* stands for every folder below, the name . for the root.
const graph = `
tile/internal/inflight:
tile: tile/internal/inflight
tile/tiletest: tile
tile/interp: tile tile/internal/inflight
.: timeline backend backend/cpu backend/registry kernels problem tile tuned github.com/gomlx/compute/dtypes/float16
problem: internal/known tile
problem/problemtest: tile problem quant kernels kernels/*
quant: tile problem
check: tile problem quant tile/interp
kernels/attention/attentiontest: kernels
kernels/rope/ropetest: kernels
kernels/*: tile problem kernels/blocking
kernels/blocking: tile problem
kernels: tile problem kernels/*
kernels/kernelstest: kernels
chips: tile internal/yamlline gopkg.in/yaml.v3
mesh: internal/known
analyze: tile chips mesh
analyze/layer: internal/known analyze chips mesh
traverse: tile
timeline:
backend: check tile timeline chips problem
gomlxbackend: . problem tile github.com/gomlx/compute github.com/pkg/errors
gonumblas: . problem tile gonum.org/v1/gonum/blas
internal/cc:
internal/fakegpu: internal/cc plugins
internal/counters: golang.org/x/sys/unix
lower/internal/mlir: tile
lower/internal/lowertest: backend backend/backendtest lower/internal/mlir problem tile tile/interp tile/tiletest
lower/mosaic: internal/known tile problem lower/internal/mlir
lower/stablehlo: mesh tile problem lower/internal/mlir
lower/triton: internal/known tile lower/internal/mlir
backend/internal/hlo: google.golang.org/protobuf/encoding/protowire
backend/internal/stage: backend check tile
backend/internal/libtpu: backend backend/internal/hlo
backend/aot: internal/known mesh timeline analyze backend backend/aot/schedule backend/internal/* chips internal/child internal/dynlib internal/files internal/lastline lower/mosaic lower/stablehlo lower/triton plugins problem tile github.com/ebitengine/purego
backend/aot/schedule:
backend/backendtest: backend tile/interp tile/tiletest kernels kernels/experts kernels/experts/gate kernels/kernelstest problem/problemtest
internal/dynlib: github.com/ebitengine/purego
internal/nvml: backend internal/child internal/dynlib github.com/ebitengine/purego
backend/worker: backend chips internal/awake internal/child tile
backend/pjrt: mesh backend backend/internal/* check chips internal/dynlib tile problem lower/mosaic lower/stablehlo lower/triton github.com/ebitengine/purego github.com/gomlx/go-xla/pjrt github.com/gomlx/compute/dtypes golang.org/x/sys/unix
backend/cpu/internal/amx: golang.org/x/sys/cpu
backend/cpu/internal/evict:
backend/cpu/internal/memory: golang.org/x/sys/unix
backend/cpu/internal/probe: tile backend/cpu/internal/amx golang.org/x/sys/cpu golang.org/x/sys/unix
backend/cpu/internal/rows: backend/cpu/internal/memory
backend/cpu/internal/vexp: backend/cpu/internal/rows
backend/cpu/internal/widen:
backend/cpu/internal/gemm: backend/cpu/internal/amx backend/cpu/internal/probe golang.org/x/sys/cpu
backend/cpu/internal/gemm/asmgen:
backend/cpu/internal/plan: backend tile backend/cpu/internal/gemm backend/cpu/internal/memory backend/cpu/internal/rows backend/cpu/internal/vexp
backend/cpu/internal/epilogue: backend/cpu/internal/plan tile
backend/cpu/internal/passes: backend/cpu/internal/epilogue backend/cpu/internal/plan backend/cpu/internal/widen tile
backend/cpu/internal/exec: backend/internal/stage backend/cpu/internal/evict backend/cpu/internal/plan backend check tile timeline golang.org/x/sys/unix
backend/cpu: timeline backend backend/cpu/internal/gemm/asmgen check chips internal/cgroup internal/files tile problem golang.org/x/sys/cpu backend/cpu/internal/exec backend/cpu/internal/passes
backend/registry: backend chips
backend/registry/registrytest: backend backend/cpu backend/registry internal/ownprocess
backend/own: backend backend/internal/stage backend/worker check chips internal/dynlib problem tile github.com/ebitengine/purego
backend/builtin: backend backend/internal/libtpu backend/own backend/worker backend/registry backend/aot backend/cpu backend/pjrt chips internal/nvml internal/pluginworker lower/triton plugins tile
backend/peer: backend backend/internal/stage check chips internal/child internal/files problem tile
results/twosample: gonum.org/v1/gonum/mathext gonum.org/v1/gonum/stat/distuv
measure/interval: golang.org/x/perf/benchmath
measure: measure/interval backend chips problem internal/awake internal/counters results
results: results/twosample measure/interval internal/files problem golang.org/x/perf/benchfmt golang.org/x/perf/benchunit gonum.org/v1/gonum/stat
configs:
tuned: backend configs internal/files internal/yamlline chips problem tile gopkg.in/yaml.v3
harness: mesh measure tuned internal/awake internal/cgroup internal/yamlline kernels backend check analyze chips results configs gopkg.in/yaml.v3
plots: results analyze chips mesh internal/files gonum.org/v1/plot golang.org/x/image/font
cmd/bench: timeline internal/cgroup internal/cli internal/deviceflag internal/files internal/sweepflag tuned harness backend/builtin backend/own backend/registry configs github.com/spf13/pflag github.com/schollz/progressbar/v3 golang.org/x/term
tune: measure backend kernels analyze chips problem tile tuned
cmd/tune: internal/cli internal/deviceflag internal/files internal/sweepflag tune tuned harness backend/builtin backend/registry results github.com/spf13/pflag golang.org/x/term
cmd/compare: results internal/cli internal/lastline github.com/spf13/pflag
cmd/inspect: timeline internal/cli internal/deviceflag internal/files harness backend/aot backend/builtin backend/registry lower/mosaic results traverse analyze chips kernels problem tile golang.org/x/image/font golang.org/x/image/math github.com/spf13/pflag
cmd/mesh: internal/cli analyze analyze/layer mesh github.com/spf13/pflag
cmd/peers: internal/cli internal/files internal/pluginworker internal/sweepflag tuned harness backend/builtin backend/registry backend/peer chips kernels configs results github.com/spf13/pflag
plots/report: plots plots/report/echarts results traverse
plots/report/echarts:
cmd/plot: internal/cli internal/files results plots plots/report analyze chips kernels traverse github.com/spf13/pflag
workshop/exercises/*: tile problem
workshop/blanks/*: tile problem
workshop/solutions/*: tile problem
workshop: kernels traverse analyze mesh chips check problem tile tile/interp workshop/exercises/* workshop/blanks/* workshop/solutions/*
workshop/classroom: internal/cgroup internal/counters internal/files plots plugins results workshop golang.org/x/sys/unix golang.org/x/sys/windows
cmd/workshop: internal/cli internal/files plots results workshop workshop/classroom github.com/spf13/pflag
plugins: internal/known internal/files golang.org/x/sys/unix golang.org/x/sys/windows
plugins/probe: internal/child internal/dynlib github.com/ebitengine/purego
plugins/plugintest:
cmd/plugin: internal/cli plugins plugins/probe github.com/spf13/pflag github.com/schollz/progressbar/v3 golang.org/x/term
internal/cli: internal/files github.com/spf13/pflag golang.org/x/term
internal/files: golang.org/x/sys/unix golang.org/x/sys/windows
internal/files/filestest:
internal/awake:
internal/cgroup:
internal/child: internal/lastline
internal/pluginworker: internal/awake backend backend/pjrt backend/worker chips plugins
internal/deviceflag: backend/builtin backend/registry internal/cli github.com/spf13/pflag
internal/sweepflag: harness internal/cli internal/files results github.com/spf13/pflag
internal/golden: github.com/google/go-cmp/cmp
internal/known:
internal/lastline:
internal/madeup: internal/ownprocess check kernels problem tile
internal/ownprocess:
internal/jaxcheck: kernels problem tile tile/interp
internal/pallasref: analyze backend backend/aot backend/aot/schedule internal/cli internal/files internal/lastline kernels lower/mosaic plugins problem tile github.com/spf13/pflag
internal/gpubars: results kernels backend/aot backend/pjrt internal/cli internal/fakegpu github.com/spf13/pflag
internal/trust: results internal/cli github.com/spf13/pflag
internal/faulttest: backend chips harness results tile internal/cli github.com/spf13/pflag
internal/yamlline:
internal/deps:
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
