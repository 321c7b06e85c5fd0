package mosaic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// kernel is one program being written.
type kernel struct {
	scope
	program   *tile.Program
	overhangs *tile.OverhangInfo
	grid      []argument // program ids; none of a kernel without windows
	refs      map[*tile.Ref]argument
	taken     map[string]bool // names of arguments

	pos     tile.Pos   // of the statement being written
	begin   *tile.Stmt // the Fill that the statement being written begins with; nil for none
	masking bool       // whether Dots are masked in the copy being written
	loads   map[*tile.Ref]value
	memo    map[*tile.Expr]value
	err     error
}

// writeKernel returns the module of one program.
func writeKernel(p *tile.Program) (string, error) {
	k := &kernel{program: p, overhangs: p.Overhangs(), refs: map[*tile.Ref]argument{}, taken: map[string]bool{}}
	k.scope = scope{text: &text{depth: 2, known: map[string]value{}}, ids: map[*tile.Axis]index{}, tables: map[*tile.Ref]argument{}, refuse: k.refuseAt}
	k.name()
	k.body(p.Body)
	t := &text{}
	t.line(`"builtin.module"() ({`)
	t.depth++
	k.function(t)
	k.transforms(t)
	t.depth--
	t.line("}) {stable_mosaic.version = %d : i64} : () -> ()", version)
	if k.err != nil {
		return "", k.err
	}
	return t.b.String(), nil
}

// name gives arguments to axes and refs. A kernel that needs windows has an axis,
// if only one of a single program; what its id is, is known.
func (k *kernel) name() {
	p, scalar := k.program, shaped{elem: "i32"}
	if len(p.Grid) == 0 && !gridless(p) {
		k.grid = []argument{{k.unique("only"), memory{shaped: scalar}}}
	}
	for _, a := range p.Grid {
		id := index{value: value{name: k.unique(a.Name), shaped: scalar}}
		k.grid = append(k.grid, argument{id.name, memory{shaped: scalar}})
		if a.Size == 1 {
			id = knownIndex(0)
		}
		k.ids[a] = id
	}
	for _, r := range p.Refs {
		m := memory{shaped{storage[r.Dtype], memoryShape(r)}, "vmem"}
		if r.Kind == tile.Table {
			m = memory{shaped{"i32", slices.Clone(r.Array)}, "smem"}
		}
		k.refs[r] = argument{k.unique(r.Name), m}
		if r.Kind == tile.Table {
			k.tables[r] = k.refs[r]
		}
	}
}

func (k *kernel) unique(name string) string {
	name = mlir.Symbol(name)
	for k.taken[name] {
		name += "_"
	}
	k.taken[name] = true
	return "%" + name
}

// memoryShape is the shape of a ref in memory: of two dimensions at least, with
// squeezed ones of size 1.
func memoryShape(r *tile.Ref) []int {
	dims := make([]int, len(r.Block))
	for d := range dims {
		dims[d] = r.BlockSize(d)
	}
	return physical(dims)
}

// gridless reports whether every ref shows its whole array, so that there is
// nothing to choose for a grid.
func gridless(p *tile.Program) bool {
	if len(p.Grid) > 0 || len(p.RefsOf(tile.Table)) > 0 {
		return false
	}
	for _, r := range p.Refs {
		for d := range r.Index {
			if r.BlockSize(d) != r.Array[d] {
				return false
			}
		}
	}
	return true
}

// windowed are the refs that are blocks of arrays, inputs before outputs.
func windowed(p *tile.Program) []*tile.Ref { return append(p.RefsOf(tile.In), p.RefsOf(tile.Out)...) }

func (a argument) typ() string {
	if a.space == "" {
		return a.elem
	}
	return a.memory.String()
}

func (k *kernel) arguments(kinds ...tile.RefKind) []argument {
	var args []argument
	for _, kind := range kinds {
		for _, r := range k.program.RefsOf(kind) {
			args = append(args, k.refs[r])
		}
	}
	return args
}

// function writes the kernel itself.
func (k *kernel) function(t *text) {
	p := k.program
	args := append(slices.Clone(k.grid), k.arguments(tile.Table, tile.In, tile.Out, tile.Scratch)...)
	t.line("%q() ({", prefix+"func.func")
	t.line("^bb0(%s):", parameters(args))
	t.b.WriteString(k.text.b.String())
	t.line(`  "%sfunc.return"() : () -> ()`, prefix)
	attrs := []string{
		"dimension_semantics = [" + k.semantics() + "]",
		"function_type = (" + argumentTypes(args) + ") -> ()",
	}
	if !gridless(p) {
		attrs = append(attrs, "iteration_bounds = array<i64: "+commas(bounds(p))+">")
	}
	attrs = append(attrs,
		fmt.Sprintf("scalar_prefetch = %d : i64", len(p.RefsOf(tile.Table))),
		fmt.Sprintf("scratch_operands = %d : i64", len(p.RefsOf(tile.Scratch))),
		fmt.Sprintf("sym_name = %q", mlir.Symbol(p.Name)),
		"tpu.core_type = #tpu.core_type<tc>")
	if !gridless(p) {
		attrs = append(attrs, "window_params = ["+k.windows()+"]")
	}
	t.line("}) {%s} : () -> ()", strings.Join(attrs, ", "))
}

// dynamic stands for a size that the call gives.
const dynamic = math.MinInt64

func bounds(p *tile.Program) []int {
	n := []int{}
	for _, a := range p.Grid {
		if a.Bound != nil {
			n = append(n, dynamic)
		} else {
			n = append(n, a.Size)
		}
	}
	if len(n) == 0 {
		n = append(n, 1)
	}
	return n
}

func (k *kernel) semantics() string {
	var parts []string
	for _, a := range k.program.Grid {
		parts = append(parts, "#tpu.dimension_semantics<"+a.Semantics.String()+">")
	}
	if len(parts) == 0 && !gridless(k.program) {
		parts = append(parts, "#tpu.dimension_semantics<arbitrary>")
	}
	return strings.Join(parts, ", ")
}

func parameters(args []argument) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.name + ": " + a.typ()
	}
	return strings.Join(parts, ", ")
}

func argumentTypes(args []argument) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.typ()
	}
	return strings.Join(parts, ", ")
}

// refuseAt remembers the first thing that has no Mosaic.
func (k *kernel) refuseAt(op, ref, reason string) {
	if k.err == nil {
		k.err = &UnsupportedError{k.pos, k.program.Name, op, ref, reason}
	}
}
