package layer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"matladder/machine/mesh"
	"matladder/model"
)

// Found is what a search went through.
type Found struct {
	Ask    Ask
	Plans  []Plan // the best of each mesh, those that fit memory first, the fastest first
	Meshes int    // that the layer can be spread over
	Ways   int    // to spread it over one of them
	Small  int    // of these ways, those that do not fit memory
	TooBig *Plan  // of those the fastest; nil if all fit
}

// Search finds, for every mesh that a layer can be spread over on a slice, how it is spread
// best: of the ways that fit memory the one with the shortest likely time, of equal ones
// the one that needs less memory. With a mesh it is this one alone, and all ways to spread
// the layer over it. Every way to lay a mesh along the dimensions of the slice is tried.
// The error says why there is none.
func Search(ctx context.Context, a Ask, only mesh.Mesh) (Found, error) {
	f := Found{Ask: a}
	if err := a.Validate(); err != nil {
		return f, err
	}
	if only != nil && only.Devices() != a.Devices() {
		return f, fmt.Errorf("mesh %s has %d devices, the slice %s of %s has %d", only, only.Devices(), a.Slice(), a.Chip.CommonName(), a.Devices())
	}
	for _, axis := range only {
		if axis.Size > 1 && !slices.Contains(a.axes(), axis.Name) {
			return f, fmt.Errorf("mesh %s: %s of %s splits nothing over axis %s", only, a.Phase, a.Layer.Title, axis.Name)
		}
	}
	slow, fast := a.Chip.Extremes()
	wanted := func(m mesh.Mesh) bool {
		if only != nil && slices.ContainsFunc(m, func(axis mesh.Axis) bool { return only.Size(axis.Name) != axis.Size }) {
			return false
		}
		return a.possible(m)
	}
	best := map[string]Plan{} // by their names
	model.Layouts(a.Chip, a.Sides, a.axes(), wanted, func(m mesh.Mesh, at model.Placement) {
		if ctx.Err() != nil {
			return
		}
		for _, p := range a.variants(m) {
			a.cost(&p, at, slow, fast)
			if old, ok := best[p.String()]; !ok || better(p, old) < 0 {
				best[p.String()] = p
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return f, err
	}
	of := map[string]Plan{}
	for _, p := range best {
		f.Ways++
		if !p.Fits {
			f.Small++
			if f.TooBig == nil || better(p, *f.TooBig) < 0 {
				f.TooBig = &p
			}
		}
		if old, ok := of[p.Mesh.String()]; !ok || better(p, old) < 0 {
			of[p.Mesh.String()] = p
		}
		if only != nil {
			f.Plans = append(f.Plans, p)
		}
	}
	f.Meshes = len(of)
	if only == nil {
		for _, p := range of {
			f.Plans = append(f.Plans, p)
		}
	}
	slices.SortFunc(f.Plans, better)
	if len(f.Plans) == 0 {
		return f, a.none(only)
	}
	return f, nil
}

// better orders plans: what fits first, then what is faster, then what needs less memory;
// names make the order of equal ones certain.
func better(p, q Plan) int {
	if p.Fits != q.Fits {
		if p.Fits {
			return -1
		}
		return 1
	}
	const same = 1e-9 // of the time
	if d := p.Time.Seconds - q.Time.Seconds; d < -same*q.Time.Seconds || d > same*q.Time.Seconds {
		return cmp.Compare(p.Time.Seconds, q.Time.Seconds)
	}
	return cmp.Or(cmp.Compare(p.Memory.Total(), q.Memory.Total()), cmp.Compare(p.String(), q.String()))
}

// none says why no mesh is possible.
func (a Ask) none(only mesh.Mesh) error {
	l := a.Layer
	rule := fmt.Sprintf("model has to divide %d heads, %d columns and a width of %d, and %d heads of keys or be divided by them; data", l.Heads, l.Hidden, l.Width, l.KVHeads)
	if l.Experts > 1 {
		rule += fmt.Sprintf(" and expert, which has to divide %d experts,", l.Experts)
	}
	rule += fmt.Sprintf(" at most %d sequences", a.Sequences)
	if only != nil {
		return fmt.Errorf("mesh %s does not suit %s: %s", only, l.Title, rule)
	}
	return fmt.Errorf("no mesh of %d devices suits %s: %s", a.Devices(), l.Title, rule)
}
