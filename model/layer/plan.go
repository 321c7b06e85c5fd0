package layer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"matladder/machine/mesh"
	"matladder/model"
	"matladder/tile"
)

// Weights says what becomes of weights along the axes that tokens are split over.
type Weights string

// The ways.
const (
	Copied     Weights = "copied"     // every device along data has them
	Gathered   Weights = "gathered"   // spread, and gathered before they are used (FSDP, ZeRO-3)
	Stationary Weights = "stationary" // spread, and never moved: the activations are
)

// Caches says how keys and values are split over model.
type Caches string

// The ways.
const (
	ByHeads     Caches = "heads"     // by heads; where there are fewer of them, several devices have the same
	BySequences Caches = "sequences" // by heads, and by sequences where there are fewer heads
)

// A Plan is one way to spread a layer, and what is predicted of it.
type Plan struct {
	Mesh      mesh.Mesh
	Weights   Weights
	Caches    Caches
	Recompute bool // the forward pass again in the backward one, of each layer's input alone

	Memory    Memory
	Compute   model.WireTime // of a device
	Wire      model.WireTime
	Time      model.WireTime
	Bound     string // Wire, MXU or HBM: what takes the longest
	Exchanges []Exchange
	Useful    float64 // FLOPs that the layer asks for, of those at the peak of all devices in the likely time
	Fits      bool

	mxu, hbm float64 // of the compute, FLOPs at the peak and bytes at what memory gives
	tokens   int     // of a device
	at       model.Placement
}

// What bounds a plan.
const (
	BoundWire = "wire"
	BoundMXU  = "MXU"
	BoundHBM  = "HBM"
)

// An Exchange is what is sent for one reason along some axes.
type Exchange struct {
	What  string // "activations gathered and scattered along model"
	Kind  string // of the collective
	Axes  []string
	Bytes int64   // of one: the array of a group
	Times float64 // in the phase
	Wire  model.WireTime
}

// Memory is what a device needs, in bytes: for all layers of the model, but for Working.
type Memory struct {
	Weights     int64 // and embeddings
	Training    int64 // gradients, and the two moments of Adam
	Activations int64 // kept for the backward pass
	Cache       int64 // keys and values
	Working     int64 // what one layer has in hand, gathered weights included
}

// Total is their sum.
func (m Memory) Total() int64 { return m.Weights + m.Training + m.Activations + m.Cache + m.Working }

// Bytes of one element.
const (
	halfBytes     = 2 // weights, activations and gradients: bfloat16
	trainingBytes = 2 + 2*4
)

// SlowAttention is the part of the peak that a published kernel of attention reached whose
// scores the vector unit bounds: heads of 128 on v6e (openxla/tokamax, its tuning data).
const SlowAttention = 0.36

func (p Plan) String() string {
	s := fmt.Sprintf("%s, weights %s", Short(p.Mesh), p.Weights)
	if p.Caches == BySequences {
		s += ", caches by sequences"
	}
	if p.Recompute {
		s += ", recomputed"
	}
	return s
}

// possible says whether a layer can be spread so: whole heads, hidden columns and experts
// for each device. Sequences need not divide: the busiest device counts.
func (a Ask) possible(m mesh.Mesh) bool {
	l, model := a.Layer, m.Size(mesh.Model)
	groups := m.Size(mesh.Data, mesh.Expert)
	return l.Heads%model == 0 && l.Hidden%model == 0 && l.Width%model == 0 &&
		(l.KVHeads%model == 0 || model%l.KVHeads == 0) &&
		l.Experts%m.Size(mesh.Expert) == 0 &&
		groups <= a.Sequences && m.Size(mesh.Context) <= a.Length
}

// variants are the ways to spread the layer over a mesh that differ.
func (a Ask) variants(m mesh.Mesh) []Plan {
	var list []Plan
	model, spread := m.Size(mesh.Model), m.Devices()/m.Size(mesh.Model)
	for _, w := range []Weights{Copied, Gathered, Stationary} {
		if w == Gathered && spread == 1 {
			continue
		}
		if w == Stationary && (m.Size(mesh.Data) == 1 || m.Size(mesh.Context) > 1 || a.Layer.Width%(model*spread) != 0) {
			continue
		}
		for _, c := range []Caches{ByHeads, BySequences} {
			if c == BySequences && (model <= a.Layer.KVHeads || tile.Ceil(a.Sequences, m.Size(mesh.Data, mesh.Expert)) < model/a.Layer.KVHeads) {
				continue
			}
			for _, again := range []bool{false, true} {
				if again && a.Phase != Train {
					continue
				}
				list = append(list, Plan{Mesh: m, Weights: w, Caches: c, Recompute: again})
			}
		}
	}
	return list
}

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
		f.Plans = slices.Collect(maps.Values(of))
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
