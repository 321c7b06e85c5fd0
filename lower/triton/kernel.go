package triton

import (
	"fmt"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// kernel is one program being written.
type kernel struct {
	text
	program   *tile.Program
	sums      map[*tile.Expr]bool // of products that were one
	params    Params
	overhangs *tile.OverhangInfo
	least     int // elements of a dimension of more than one
	args      map[*tile.Ref]value
	ids       map[*tile.Axis]index
	scratch   map[*tile.Ref]value // what scratch holds here; a number until it is filled
	written   bool                // whether an output may have been written by now
	alongK    map[*tile.Ref]bool  // arrays whose last two dimensions change places in memory
	reread    map[*tile.Ref]bool  // outputs whose block is loaded other than to add to it

	pos   tile.Pos // of the statement being written
	loads map[*tile.Ref]value
	memo  mlir.Memo[value]
	err   error
}

// writeKernel returns the module of one program, and how many programs its grid
// has.
func (t Target) writeKernel(p *tile.Program, params Params, alongK map[*tile.Ref]bool) (string, int64, error) {
	p, sums := t.pieces(p)
	k := &kernel{program: p, sums: sums, params: params, overhangs: p.Overhangs(), least: leastOf(p), alongK: alongK,
		args: map[*tile.Ref]value{}, ids: map[*tile.Axis]index{}, scratch: map[*tile.Ref]value{}, reread: map[*tile.Ref]bool{}}
	eachExpr(p, func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpLoad && e.Ref.Kind == tile.Out {
			k.reread[e.Ref] = true
		}
	})
	k.open()
	arguments := k.arguments()
	parallel, loops := split(p.Grid)
	programs := k.programIDs(parallel)
	for _, r := range p.RefsOf(tile.Scratch) {
		k.scratch[r] = constant(storage[r.Dtype], 0)
	}
	k.nest(loops, p.Body)
	if k.err != nil {
		return "", 0, k.err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module {\n  tt.func public @%s(%s) {\n", mlir.Symbol(p.Name), arguments)
	b.WriteString(k.close())
	b.WriteString("    tt.return\n  }\n}\n")
	return b.String(), programs, nil
}

// arguments names the refs that are arrays: pointers, in the order in which the
// custom call gives operands and results. XLA aligns its arrays to 16 bytes and
// more.
func (k *kernel) arguments() string {
	taken, parts := map[string]bool{}, []string(nil)
	for _, kind := range []tile.RefKind{tile.Table, tile.In, tile.Out} {
		for _, r := range k.program.RefsOf(kind) {
			name := mlir.Symbol(r.Name)
			for taken[name] {
				name += "_"
			}
			taken[name] = true
			arg := value{name: "%" + name, shaped: shaped{elem: "*" + storage[r.Dtype]}}
			k.args[r] = arg
			parts = append(parts, arg.name+": "+arg.shaped.String()+" {tt.divisibility = 16 : i32}")
		}
	}
	return strings.Join(parts, ", ")
}

// leastOf is the least size of a dimension: what the matrix units take at once.
func leastOf(p *tile.Program) int {
	least := 1
	eachExpr(p, func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpDot {
			least = max(least, 16, 256/max(8, min(e.Args[0].Dtype.Bits(), e.Args[1].Dtype.Bits())))
		}
	})
	return least
}

// eachExpr calls f with every expression of a program and its statement.
func eachExpr(p *tile.Program, f func(*tile.Stmt, *tile.Expr)) {
	p.Walk(func(s *tile.Stmt) {
		if s.Value != nil {
			tile.WalkExpr(s.Value, func(e *tile.Expr) { f(s, e) })
		}
	})
}

// refuse remembers the first thing that has no Triton.
func (k *kernel) refuse(op, ref, reason string) {
	if k.err == nil {
		k.err = &UnsupportedError{mlir.Refuse(k.pos, k.program.Name, op, ref, reason)}
	}
}
