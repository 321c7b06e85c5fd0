package check

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matladder/problem"
	"matladder/tile"
)

func init() {
	Register(problem.GroupedFamily, Family{
		Fill: func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error {
			g := p.(problem.Grouped)
			if err := fillGrouped(ctx, t, name, g, seed, dist); err != nil || name != "w" {
				return err
			}
			return hideGroups(ctx, t, g, seed)
		},
		HasExact: func(p problem.Problem) bool { return HasExact(p.(problem.Grouped).Product(1)) },
		Reference: func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error) {
			return newGroupedReference(ctx, p.(problem.Grouped), in, seed, dist)
		},
	})
}

// offsetsOf draws how many rows each group has: each row's group is drawn by itself, as a
// router's choices look to a layer. Of three groups or more, one has none.
func offsetsOf(p problem.Grouped, seed uint64) []int {
	at, start := make([]int, p.Groups+1), startOf("offsets", seed)
	for i := range p.Rows {
		g := int(mix(start+uint64(i)) % uint64(p.Groups))
		if p.Groups > 2 && g == p.Groups/2 {
			g = 0
		}
		at[g+1]++
	}
	for g := range p.Groups {
		at[g+1] += at[g]
	}
	return at
}

// fillGrouped sets an array, or a table. Of tables those whose name ends in a number are
// lists for blocks of so many rows. Visits are each block with each group that has rows in
// it, in order: how many they are, and of each the block and the group. Tiles cut the rows
// of each group, from its first on: how many they are, and of each the first row and the
// group, its owner. Behind the last they repeat it.
func fillGrouped(ctx context.Context, t tile.Tensor, name string, p problem.Grouped, seed uint64, dist string) error {
	offsets := offsetsOf(p, seed)
	kind, number, listed := strings.Cut(name, "_")
	switch {
	case name == "offsets":
		for i, v := range offsets {
			t.Set(i, float64(v))
		}
		return nil
	case listed:
		rows, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("check: no table %q of grouped products", name)
		}
		var blocks, groups []int
		for g := range p.Groups {
			for b := offsets[g] / rows; offsets[g] < offsets[g+1] && b*rows < offsets[g+1]; b++ {
				blocks, groups = append(blocks, b), append(groups, g)
			}
		}
		var firsts, owners []int
		for g := range p.Groups {
			for first := offsets[g]; first < offsets[g+1]; first += rows {
				firsts, owners = append(firsts, first), append(owners, g)
			}
		}
		list := map[string][]int{
			"visits": {len(blocks)}, "block": blocks, "group": groups,
			"tiles": {len(firsts)}, "first": firsts, "owner": owners,
		}[kind]
		if list == nil {
			return fmt.Errorf("check: no table %q of grouped products", name)
		}
		for i := range t.Len() {
			t.Set(i, float64(list[min(i, len(list)-1)]))
		}
		return nil
	case !IsExact(dist):
		return FillPlain(ctx, t, name, p, seed, dist)
	}
	// Each group is a probe of its own.
	for g := range p.Groups {
		rows := offsets[g+1] - offsets[g]
		x, err := newPattern(p.Product(max(rows, 1)), g, seed, dist)
		switch {
		case err != nil:
		case name == "w":
			err = x.fill(ctx, t, g*p.K*p.N, "b")
		case rows > 0:
			err = x.fill(ctx, t, offsets[g]*p.K, "a")
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// hideGroups sets the matrices of groups without rows to NaN.
func hideGroups(ctx context.Context, w tile.Tensor, p problem.Grouped, seed uint64) error {
	offsets, n := offsetsOf(p, seed), p.K*p.N
	for g := range p.Groups {
		if offsets[g] < offsets[g+1] {
			continue
		}
		if err := setPart(ctx, w, g*n, (g+1)*n, func(int) float64 { return math.NaN() }); err != nil {
			return err
		}
	}
	return nil
}

// groupedReference is a reference of the product of each group that has rows.
type groupedReference struct {
	p       problem.Grouped
	offsets []int
	groups  []*Reference // nil where there are no rows
}

func newGroupedReference(ctx context.Context, p problem.Grouped, in map[string]tile.Tensor, seed uint64, dist string) (*groupedReference, error) {
	r := &groupedReference{p: p, offsets: offsetsOf(p, seed), groups: make([]*Reference, p.Groups)}
	if table := in["offsets"]; !IsExact(dist) {
		for i := range r.offsets {
			r.offsets[i] = int(table.At(i))
		}
	}
	for g := range r.groups {
		rows := r.offsets[g+1] - r.offsets[g]
		if rows == 0 {
			continue
		}
		product, err := p.Product(rows), error(nil)
		if IsExact(dist) {
			r.groups[g] = &Reference{p: product}
			err = r.groups[g].answer(ctx, g, seed, dist)
		} else {
			var ops operands
			if ops, err = operandsOf(ctx, product, r.operands(g, in)); err == nil {
				if dist == Changed {
					ops.salt = seed + uint64(g)
				}
				r.groups[g], err = newReference(ctx, ops, maxProducts/p.Groups)
			}
			if err == nil {
				r.groups[g].isConstant(dist)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// operands are a and b of the product of group g.
func (r *groupedReference) operands(g int, in map[string]tile.Tensor) map[string]tile.Tensor {
	if len(in) == 0 {
		return nil
	}
	return map[string]tile.Tensor{
		"a": rowsOf(in["x"], r.offsets[g], r.offsets[g+1], r.p.K),
		"b": rowsOf(in["w"], g*r.p.K, (g+1)*r.p.K, r.p.N),
	}
}

// rowsOf is rows from … to-1 of t, of cols elements each, in its memory.
func rowsOf(t tile.Tensor, from, to, cols int) tile.Tensor {
	bytes := cols * t.Dtype.Bits() / 8
	return tile.Tensor{Dtype: t.Dtype, Shape: []int{to - from, cols}, Data: t.Data[from*bytes : to*bytes]}
}

// ProductsOff is Verifier's.
func (r *groupedReference) ProductsOff(part float64) {
	for _, g := range r.groups {
		if g != nil {
			g.ProductsOff(part)
		}
	}
}

// Verify is Verifier's.
func (r *groupedReference) Verify(ctx context.Context, programs []*tile.Program, in, outputs map[string]tile.Tensor) (Result, error) {
	out := outputs["o"]
	if n := len(out.Shape); n != 2 || out.Shape[0] != r.p.Rows || out.Shape[1] != r.p.N || out.Dtype != r.p.Dtype {
		return Result{}, fmt.Errorf("check: output is %s%v, want %s[%d %d]", out.Dtype, out.Shape, r.p.Dtype, r.p.Rows, r.p.N)
	}
	all := Result{OK: true}
	for g, reference := range r.groups {
		if reference == nil {
			continue
		}
		part := map[string]tile.Tensor{"o": rowsOf(out, r.offsets[g], r.offsets[g+1], r.p.N)}
		one, err := reference.Verify(ctx, programs, r.operands(g, in), part)
		if err != nil {
			return Result{}, err
		}
		one.Detail = fmt.Sprintf("group %d, from row %d on: %s", g, r.offsets[g], one.Detail)
		all.join(one)
	}
	return all, nil
}
