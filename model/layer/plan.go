package layer

import (
	"fmt"

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
func (m Memory) Total() int64 {
	return m.Weights + m.Training + m.Activations + m.Cache + m.Working
}

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
