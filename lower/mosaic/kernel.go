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

	semaphores map[*tile.Semaphore]argument // but the barrier, which is there without
	taken      map[string]bool              // names of arguments

	pos     tile.Pos   // of the statement being written
	begin   *tile.Stmt // the Fill that the statement being written begins with; nil for none
	pieces  int        // Options.Pieces
	masking bool       // whether Dots are masked in the copy being written
	loads   map[*tile.Ref]value
	sums    map[*tile.Ref]bool // that are never held
	held    map[*tile.Ref]held
	read    map[*tile.Ref]bool // in memory
	unread  map[*tile.Ref]bool // scratch that is not, once that is known
	memo    mlir.Memo[value]
	err     error
}

// writeKernel returns the module of one program. Its body is written twice: the first tells
// which scratch is read in memory at all, and what is not is no part of the second.
func writeKernel(p *tile.Program, pieces int) (string, error) {
	k := bodyOf(p, nil, pieces)
	unread := map[*tile.Ref]bool{}
	for _, r := range p.Refs {
		unread[r] = k.holds(r) && !k.read[r]
	}
	k = bodyOf(p, unread, pieces)
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

// bodyOf writes the body of a program, in which nothing is stored to unread scratch.
func bodyOf(p *tile.Program, unread map[*tile.Ref]bool, pieces int) *kernel {
	k := &kernel{program: p, pieces: pieces, overhangs: p.Overhangs(), refs: map[*tile.Ref]argument{}, taken: map[string]bool{}}
	k.sums, k.held, k.read, k.unread = sumsOf(p), map[*tile.Ref]held{}, map[*tile.Ref]bool{}, unread
	k.scope = scope{text: &text{depth: 2, known: map[string]value{}}, ids: map[*tile.Axis]index{}, tables: map[*tile.Ref]argument{},
		coordinates: map[*tile.Axis]argument{}, refuse: k.refuseAt}
	k.semaphores = map[*tile.Semaphore]argument{}
	k.name()
	k.body(p.Body)
	k.release()
	return k
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
	for _, a := range p.Mesh {
		k.coordinates[a] = argument{k.unique(a.Name), memory{shaped{elem: "i32", dims: []int{1}}, "smem"}}
	}
	for _, s := range p.Semaphores {
		if s.Kind != tile.CountsArrival {
			k.semaphores[s] = argument{k.unique(s.Name), memory{shaped{elem: semaphoreElem(s), dims: []int{s.Slots}}, semaphoreSpace}}
		}
	}
	for _, r := range p.Refs {
		m := memory{shaped{elem: storage[r.Dtype], dims: memoryShape(r)}, "vmem"}
		if r.Main {
			m = memory{shaped{elem: storage[r.Dtype], dims: physical(r.Array)}, "any"}
		}
		if k.inLanes(r) {
			m.dims[1] = tileColumns
		}
		if r.Kind == tile.Table {
			m = memory{shaped{elem: "i32", dims: slices.Clone(r.Array)}, "smem"}
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
	if len(p.Grid) > 0 || len(p.RefsOf(tile.Table)) > 0 || p.CopiesItself() {
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

// windowed are the refs that are blocks of arrays, inputs before outputs. Those that stay
// in main memory are not.
func windowed(p *tile.Program) []*tile.Ref {
	return slices.DeleteFunc(arrays(p), func(r *tile.Ref) bool { return r.Main })
}

// arrays are the refs whose arrays lie in main memory, inputs before outputs, and behind
// these scratch that is too large for another: a kernel has that as results nobody reads.
func arrays(p *tile.Program) []*tile.Ref { return append(p.RefsOf(tile.In), results(p)...) }

func results(p *tile.Program) []*tile.Ref {
	list := p.RefsOf(tile.Out)
	for _, r := range p.RefsOf(tile.Scratch) {
		if r.Main {
			list = append(list, r)
		}
	}
	return list
}

// own are the scratch in VMEM.
func own(p *tile.Program) []*tile.Ref {
	return slices.DeleteFunc(p.RefsOf(tile.Scratch), func(r *tile.Ref) bool { return r.Main })
}

func (a argument) typ() string {
	if a.space == "" {
		return a.elem
	}
	return a.memory.String()
}

func (k *kernel) arguments(lists ...[]*tile.Ref) []argument {
	var args []argument
	for _, list := range lists {
		for _, r := range list {
			args = append(args, k.refs[r])
		}
	}
	return args
}

// prefetched are the arguments that are there before the grid starts: coordinates of the device,
// and tables.
func (k *kernel) prefetched() []argument {
	var args []argument
	for _, a := range k.program.Mesh {
		args = append(args, k.coordinates[a])
	}
	return append(args, k.arguments(k.program.RefsOf(tile.Table))...)
}

// function writes the kernel itself.
func (k *kernel) function(t *text) {
	p := k.program
	own := slices.DeleteFunc(own(p), func(r *tile.Ref) bool { return k.unread[r] })
	args := slices.Concat(k.grid, k.prefetched(), k.arguments(arrays(p), own))
	scratch := len(own)
	for _, s := range p.Semaphores {
		if arg, ok := k.semaphores[s]; ok {
			args = append(args, arg)
			scratch++
		}
	}
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
		fmt.Sprintf("scalar_prefetch = %d : i64", len(k.prefetched())),
		fmt.Sprintf("scratch_operands = %d : i64", scratch),
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
		k.err = &UnsupportedError{mlir.Refuse(k.pos, k.program.Name, op, ref, reason)}
	}
}
