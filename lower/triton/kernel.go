package triton

import (
	"fmt"
	"slices"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// kernel is one program being written.
type kernel struct {
	mlir.Exprs
	seen
	program *tile.Program
	sums    map[*tile.Expr]bool // of products that were one
	params  Params
	partial *tile.PartialTiles
	least   int // elements of a dimension of more than one
	args    map[*tile.Ref]value
	ids     map[*tile.Axis]value
	scratch map[*tile.Ref]value // what scratch holds here; a number until it is filled
	written bool                // whether an output may have been written by now
	reread  map[*tile.Ref]bool  // outputs whose block is loaded other than to add to it
	loads   map[*tile.Ref]value
}

// writeKernel returns the module of one program, and how many programs its grid has.
func (t Target) writeKernel(p *tile.Program, params Params, in seen) (module string, programs int64, err error) {
	p, sums := t.pieces(p, in.scaled)
	k := &kernel{program: p, sums: sums, params: params, partial: p.PartialTiles(), least: leastOf(p), seen: in,
		args: map[*tile.Ref]value{}, ids: map[*tile.Axis]value{}, scratch: map[*tile.Ref]value{}, reread: map[*tile.Ref]bool{}}
	k.Exprs = mlir.Exprs{Target: k, Stored: storage, Floats: floatOps, ScalarBool: true,
		Writer: mlir.Writer{Dialect: k, Scope: k, Sharing: mlir.Hoisted, Refused: mlir.Refused{Maker: maker, Program: p.Name}}}
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpLoad && e.Ref.Kind == tile.Out {
			k.reread[e.Ref] = true
		}
	})
	arguments := k.arguments()
	body := k.Function(func() {
		parallel, loops := split(p.Grid)
		programs = k.programIDs(parallel)
		for _, r := range p.RefsOf(tile.Scratch) {
			k.scratch[r] = mlir.Number(storage[r.Dtype], 0)
		}
		k.nest(loops, p.Body)
	})
	return fmt.Sprintf("module {\n  tt.func public @%s(%s) {\n%s    tt.return\n  }\n}\n", mlir.Symbol(p.Name), arguments, body), programs, k.Err
}

// arguments names the refs that are arrays: pointers, in the order in which the custom call gives
// operands and results. XLA aligns its arrays to 16 bytes and more.
func (k *kernel) arguments() string {
	p := k.program
	return mlir.List(slices.Concat(p.RefsOf(tile.Table), p.RefsOf(tile.In), p.RefsOf(tile.Out)), func(r *tile.Ref) string {
		k.args[r] = value{Name: k.Unique(r.Name), Type: shaped{Elem: "*" + storage[r.Dtype]}}
		return k.args[r].Name + ": " + spelled(k.args[r].Type) + " {tt.divisibility = 16 : i32}"
	})
}

// leastOf is the least size of a dimension: what the matrix units take at once.
func leastOf(p *tile.Program) int {
	least := 1
	p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
		if e.Op == tile.OpDot {
			least = max(least, 16, 256/max(8, min(e.Args[0].Dtype.Bits(), e.Args[1].Dtype.Bits())))
		}
	})
	return least
}

// Call writes one custom call.
func (k Kernel) Call(c mlir.Calls) {
	operands, out := make([]value, len(k.operands)), make([]shaped, len(k.results))
	for i, r := range k.operands {
		operands[i] = packed(c, r)
		if k.alongK[r] {
			operands[i] = c.Arrays[turnedName(r)]
		}
	}
	for i, r := range k.results {
		out[i] = mlir.Array(r.Dtype, r.Array...)
		switch {
		case inBytes(r):
			out[i].Elem = "i8"
		case r.Dtype.Bits() == 4: // rows of an even number
			out[i] = shaped{Elem: "i8", Dims: []int{int(tile.Elements(r.Array) / 2)}}
		}
	}
	made := c.Kernel(mlir.TritonCall, mlir.TritonConfig(k.Name, k.Body, [3]int{int(k.Programs), 1, 1}, k.Params.Stages, k.Params.Warps),
		operands, k.layouts(k.operands), out, k.layouts(k.results), k.Name)
	for i, r := range k.results {
		if c.Arrays[r.Name] = made[i]; !k.alongK[r] {
			c.Arrays[r.Name] = unpacked(c, made[i], r)
		}
	}
}

// packed is an array as a kernel takes it: four bits as bytes of two.
func packed(c mlir.Calls, r *tile.Ref) value {
	v := c.Arrays[r.Name]
	if r.Dtype.Bits() != 4 {
		return v
	}
	n := int(tile.Elements(r.Array))
	even := n + n%2
	v = c.Op(shaped{Elem: v.Elem, Dims: []int{n}}, "reshape", "", v)
	v = c.Reshape(c.Pad(v, 0, []int{even}), []int{even / 2, 2})
	return c.Op(shaped{Elem: "i8", Dims: []int{even / 2}}, "bitcast_convert", "", v)
}

// unpacked is an array as a program takes it.
func unpacked(c mlir.Calls, v value, r *tile.Ref) value {
	switch {
	case r.Dtype.Bits() != 4:
		return v
	case inBytes(r):
		return c.As(v, "i4")
	}
	pairs := shaped{Elem: "i4", Dims: append(v.Dims, 2)}
	return c.Op(mlir.Array(r.Dtype, r.Array...), "reshape", "", c.Op(pairs, "bitcast_convert", "", v))
}

// layouts are the dimensions of arrays, the fastest first.
func (k *Kernel) layouts(refs []*tile.Ref) []string {
	return each.Of(refs, func(r *tile.Ref) string {
		order := fastest(r, k.alongK[r])
		if r.Dtype.Bits() == 4 && !inBytes(r) {
			order = []int{0}
		}
		return mlir.Layout(order...)
	})
}
