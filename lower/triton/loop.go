package triton

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// unrolled is up to how many repetitions a Loop is written out.
const unrolled = 16

// nest writes the loops over axes around the body of the program. Of the innermost
// one the statements that only its first or last step runs stand before and behind
// it, so that what is left in it is the same in each step.
func (k *kernel) nest(axes []*tile.Axis, body []*tile.Stmt) {
	for len(axes) > 0 && axes[0].Size == 1 {
		k.ids[axes[0]] = k.Int(0)
		axes = axes[1:]
	}
	if len(axes) == 0 {
		k.body(body)
		return
	}
	a, inner := axes[0], slices.DeleteFunc(slices.Clone(axes[1:]), func(a *tile.Axis) bool { return a.Size == 1 })
	for _, one := range axes[1:] {
		k.ids[one] = k.Int(0)
	}
	if len(inner) > 0 {
		k.repeat(a, writtenScratch(k.program, body), func() { k.nest(inner, body) })
		return
	}
	first, each, last := peel(body, a)
	k.ids[a] = k.Int(0)
	k.body(first)
	carried := slices.DeleteFunc(writtenScratch(k.program, each), func(r *tile.Ref) bool {
		return k.Level() == 0 && !readFirst(each, r) && !readFirst(last, r)
	})
	k.repeat(a, carried, func() { k.body(each) })
	k.ids[a] = k.Int(a.Size - 1)
	k.body(last)
}

// peel parts a body: the statements at its beginning that run only in the first
// step along a, those at its end that run only in the last, and all between.
func peel(body []*tile.Stmt, a *tile.Axis) (first, each, last []*tile.Stmt) {
	from, to := 0, len(body)
	for from < to && onlyAt(body[from], a, 0) {
		from++
	}
	for to > from && onlyAt(body[to-1], a, a.Size-1) {
		to--
	}
	return body[:from], body[from:to], body[to:]
}

func onlyAt(s *tile.Stmt, a *tile.Axis, at int) bool {
	return s.Kind == tile.When && implies(s.Cond, a, at)
}

// implies reports whether c can hold only where a is at.
func implies(c tile.Cond, a *tile.Axis, at int) bool {
	switch c := c.(type) {
	case tile.AllCond:
		return slices.ContainsFunc(c, func(part tile.Cond) bool { return implies(part, a, at) })
	case tile.AnyCond:
		return !slices.ContainsFunc(c, func(part tile.Cond) bool { return !implies(part, a, at) })
	}
	const most = 1 << 16 // steps to try
	xs := tile.Compared(c)
	if a.Size > most || !tile.TableFree(xs...) || slices.ContainsFunc(tile.AxesIn(xs...), func(x *tile.Axis) bool { return x != a }) {
		return false
	}
	for i := range a.Size {
		if i != at && tile.EvalCond(c, tile.Everywhere(i)) {
			return false
		}
	}
	return true
}

// writtenScratch is the scratch that statements may write, as it was declared.
func writtenScratch(p *tile.Program, body []*tile.Stmt) []*tile.Ref {
	return each.That(p.RefsOf(tile.Scratch), func(r *tile.Ref) bool { return tile.Writes(body, r) })
}

// readFirst reports whether statements may read r before they have written it.
func readFirst(body []*tile.Stmt, r *tile.Ref) bool {
	reads, _ := access(body, r)
	return reads
}

// access follows r through statements: whether it may be read as it was before,
// and whether it is surely written.
func access(body []*tile.Stmt, r *tile.Ref) (reads, written bool) {
	for _, s := range body {
		switch s.Kind {
		case tile.When, tile.Loop:
			inside, surely := access(s.Body, r)
			if inside {
				return true, false
			}
			written = surely && s.Kind == tile.Loop
		default:
			if tile.Loads(s.Value, r) || s.Kind == tile.Accumulate && s.Ref == r {
				return true, false
			}
			written = s.Ref == r
		}
		if written {
			return false, true
		}
	}
	return false, false
}

// repeat writes a loop along an axis that carries scratch from step to step.
func (k *kernel) repeat(a *tile.Axis, carried []*tile.Ref, body func()) {
	lo, hi, by := k.Written(k.Int(0)), k.Written(k.Int(a.Size)), k.Written(k.Int(1))
	inits := k.holds(carried)
	variable := k.named(a.Name, scalar)
	args := make([]string, len(carried))
	var yields []value
	text := k.Region(func() {
		variable.Level = k.Level()
		for i, r := range carried {
			arg := k.named(r.Name, inits[i].Type)
			args[i] = arg.Name + " = " + inits[i].Name
			k.scratch[r] = arg
		}
		k.ids[a] = variable
		body()
		yields = k.holds(carried)
		k.yield(yields)
	})
	result, after := k.Results(mlir.TypesOf(yields))
	carry := ""
	if len(carried) > 0 {
		carry = fmt.Sprintf(" iter_args(%s) -> (%s)", strings.Join(args, ", "), types(yields))
	}
	k.Line("%sscf.for %s = %s to %s step %s%s : i32 {", result, variable.Name, lo.Name, hi.Name, by.Name, carry)
	k.Append(text)
	k.Line("}")
	for i, r := range carried {
		k.scratch[r] = after[i]
	}
}

// named is a new value whose name says what it is.
func (k *kernel) named(name string, to shaped) value {
	v := k.Fresh(to)
	v.Name = fmt.Sprintf("%%%s_%s", mlir.Symbol(name), v.Name[1:])
	return v
}

func (k *kernel) yield(vs []value) {
	if len(vs) > 0 {
		k.Line("scf.yield %s : %s", mlir.Names(vs), types(vs))
	}
}

// holds are the values that scratch has here.
func (k *kernel) holds(refs []*tile.Ref) []value {
	return each.Of(refs, func(r *tile.Ref) value { return k.Vector(k.scratch[r], k.scratchType(r)) })
}

// branch writes statements that run where cond holds. Scratch that they write has
// afterwards what they left, or what it had.
func (k *kernel) branch(cond value, body []*tile.Stmt) {
	changed := writtenScratch(k.program, body)
	before := k.holds(changed)
	text := k.Region(func() {
		k.body(body)
		k.yield(k.holds(changed))
	})
	result, vs := k.Results(mlir.TypesOf(before))
	if len(vs) > 0 {
		k.Line("%sscf.if %s -> (%s) {", result, cond.Name, types(vs))
	} else {
		k.Line("scf.if %s {", cond.Name)
	}
	k.Append(text)
	if len(vs) > 0 {
		k.Line("} else {")
		k.Append(k.Region(func() { k.yield(before) }))
	}
	k.Line("}")
	for i, r := range changed {
		k.scratch[r] = vs[i]
	}
}
