package mosaic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// kernel is one program being written.
type kernel struct {
	mlir.Exprs
	program     *tile.Program
	partial     *tile.PartialTiles
	grid        []value // program ids; none of a kernel without windows
	ids         map[*tile.Axis]value
	coordinates map[*tile.Axis]value // of the device, along axes of the mesh
	refs        map[*tile.Ref]value
	semaphores  map[*tile.Semaphore]value // but the barrier, which is there without

	begin   *tile.Stmt // the Fill that the statement being written begins with; nil for none
	pieces  int        // Options.Pieces
	masking bool       // whether Dots are masked in the copy being written
	loads   map[*tile.Ref]value
	sums    map[*tile.Ref]bool // that are never held
	held    map[*tile.Ref]held
	read    map[*tile.Ref]bool // in memory
	unread  map[*tile.Ref]bool // scratch that is not, once that is known
}

// writeKernel returns the module of one program. Its body is written twice: the first tells
// which scratch is read in memory at all, and what is not is no part of the second.
func writeKernel(p *tile.Program, pieces int) (string, error) {
	k, _ := bodyOf(p, nil, pieces)
	unread := map[*tile.Ref]bool{}
	for _, r := range p.Refs {
		unread[r] = k.holds(r) && !k.read[r]
	}
	k, body := bodyOf(p, unread, pieces)
	var b strings.Builder
	b.WriteString("\"builtin.module\"() ({\n")
	k.main(&b, body)
	k.transforms(&b)
	fmt.Fprintf(&b, "}) {stable_mosaic.version = %d : i64} : () -> ()\n", version)
	return b.String(), k.Err
}

// bodyOf writes the body of a program, in which nothing is stored to unread scratch.
func bodyOf(p *tile.Program, unread map[*tile.Ref]bool, pieces int) (k *kernel, body string) {
	k = &kernel{program: p, pieces: pieces, partial: p.PartialTiles(), refs: map[*tile.Ref]value{}, ids: map[*tile.Axis]value{},
		coordinates: map[*tile.Axis]value{}, semaphores: map[*tile.Semaphore]value{},
		sums: sumsOf(p), held: map[*tile.Ref]held{}, read: map[*tile.Ref]bool{}, unread: unread}
	k.Exprs = mlir.Exprs{Target: k, Stored: stored, Floats: floatOps, FalseOfNaN: true,
		Writer: mlir.Writer{Dialect: k, Scope: k, Sharing: mlir.InRegion, Refused: mlir.Refused{Maker: maker, Program: p.Name}}}
	k.name()
	return k, k.function(func() {
		k.body(p.Body)
		k.release()
		k.Do("func.return", "")
	})
}

// function is the text of a function's body.
func (k *kernel) function(body func()) string {
	k.Next = 0
	return k.Function(body)
}

// define writes a function.
func (k *kernel) define(b *strings.Builder, args []value, body, attrs string) {
	params := mlir.List(args, func(v value) string { return v.Name + ": " + spelled(v.Type) })
	fmt.Fprintf(b, "  %q() ({\n  ^bb0(%s):\n%s  }) {%s} : () -> ()\n", prefix+"func.func", params, body, attrs)
}

// name gives arguments to axes and refs. A kernel that needs windows has an axis,
// if only one of a single program; what its id is, is known.
func (k *kernel) name() {
	p := k.program
	arg := func(name string, t shaped) value { return value{Name: k.Unique(name), Type: t} }
	if len(p.Grid) == 0 && !gridless(p) {
		k.grid = []value{arg("only", scalar)}
	}
	for _, a := range p.Grid {
		k.ids[a] = arg(a.Name, scalar)
		k.grid = append(k.grid, k.ids[a])
		if a.Size == 1 {
			k.ids[a] = k.Int(0)
		}
	}
	for _, a := range p.Mesh {
		k.coordinates[a] = arg(a.Name, shaped{Elem: "i32", Dims: []int{1}, Space: "smem"})
	}
	for _, s := range p.Semaphores {
		if s.Kind != tile.CountsArrival {
			k.semaphores[s] = arg(s.Name, shaped{Elem: semaphoreElem(s), Dims: []int{s.Slots}, Space: semaphoreSpace})
		}
	}
	for _, r := range p.Refs {
		m := shaped{Elem: stored[r.Dtype], Dims: memoryShape(r), Space: "vmem"}
		switch {
		case r.Main:
			m.Dims, m.Space = mlir.Physical(r.Array), "any"
		case k.inLanes(r):
			m.Dims[1] = tileColumns
		case r.Kind == tile.Table:
			m = shaped{Elem: "i32", Dims: slices.Clone(r.Array), Space: "smem"}
		}
		k.refs[r] = arg(r.Name, m)
	}
}

// memoryShape is the shape of a ref in memory: of two dimensions at least, with
// squeezed ones of size 1.
func memoryShape(r *tile.Ref) []int { return mlir.Physical(r.BlockSizes()) }

// gridless reports whether every ref shows its whole array, so that there is
// nothing to choose for a grid.
func gridless(p *tile.Program) bool {
	if len(p.Grid) > 0 || len(p.RefsOf(tile.Table)) > 0 || p.CopiesItself() {
		return false
	}
	return !slices.ContainsFunc(p.Refs, func(r *tile.Ref) bool {
		return len(r.Index) > 0 && !slices.Equal(r.BlockSizes(), r.Array)
	})
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
	return append(p.RefsOf(tile.Out), each.That(p.RefsOf(tile.Scratch), func(r *tile.Ref) bool { return r.Main })...)
}

// own are the scratch in VMEM.
func own(p *tile.Program) []*tile.Ref {
	return slices.DeleteFunc(p.RefsOf(tile.Scratch), func(r *tile.Ref) bool { return r.Main })
}

func (k *kernel) arguments(lists ...[]*tile.Ref) []value {
	return each.Of(slices.Concat(lists...), func(r *tile.Ref) value { return k.refs[r] })
}

// prefetched are the arguments that are there before the grid starts: coordinates of the device,
// and tables.
func (k *kernel) prefetched() []value {
	return append(each.Of(k.program.Mesh, func(a *tile.Axis) value { return k.coordinates[a] }), k.arguments(k.program.RefsOf(tile.Table))...)
}

// main writes the kernel itself.
func (k *kernel) main(b *strings.Builder, body string) {
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
	attrs := []string{
		"dimension_semantics = [" + k.semantics() + "]",
		"function_type = (" + types(args) + ") -> ()",
	}
	if !gridless(p) {
		attrs = append(attrs, "iteration_bounds = array<i64: "+mlir.Commas(bounds(p)...)+">")
	}
	attrs = append(attrs,
		fmt.Sprintf("scalar_prefetch = %d : i64", len(k.prefetched())),
		fmt.Sprintf("scratch_operands = %d : i64", scratch),
		fmt.Sprintf("sym_name = %q", mlir.Symbol(p.Name)),
		"tpu.core_type = #tpu.core_type<tc>")
	if !gridless(p) {
		attrs = append(attrs, "window_params = ["+k.windows()+"]")
	}
	k.define(b, args, body, strings.Join(attrs, ", "))
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
	parts := each.Of(k.program.Grid, func(a *tile.Axis) string { return "#tpu.dimension_semantics<" + a.Semantics.String() + ">" })
	if len(parts) == 0 && !gridless(k.program) {
		parts = append(parts, "#tpu.dimension_semantics<arbitrary>")
	}
	return strings.Join(parts, ", ")
}

// windows are the attributes that give each array its block and index map.
func (k *kernel) windows() string {
	return strings.Join(each.Of(arrays(k.program), func(r *tile.Ref) string {
		if r.Main {
			return "{}"
		}
		return fmt.Sprintf("{transform_indices = @%s, window_bounds = array<i64: %s>}", k.transform(r), mlir.Commas(memoryShape(r)...))
	}), ", ")
}

// transform names the index map of a ref. No kernel has a name with a dot.
func (k *kernel) transform(r *tile.Ref) string { return `"` + k.refs[r].Name[1:] + `.block"` }

// transforms writes the index maps: functions of the program ids, and of the
// tables, that return which block a program sees, in blocks.
func (k *kernel) transforms(b *strings.Builder) {
	if gridless(k.program) {
		return
	}
	args := append(slices.Clone(k.grid), k.prefetched()...)
	for _, r := range windowed(k.program) {
		k.Pos = r.Pos
		var results []value
		text := k.function(func() {
			for range len(memoryShape(r)) - len(r.Index) { // of a row: the matrix of one row
				results = append(results, k.Written(k.Int(0)))
			}
			results = append(results, each.Of(r.Index, func(x tile.IndexExpr) value { return k.Written(k.Index(x)) })...)
			k.Do("func.return", "", results...)
		})
		k.define(b, args, text, fmt.Sprintf("function_type = (%s) -> (%s), sym_name = %s", types(args), types(results), k.transform(r)))
	}
}
