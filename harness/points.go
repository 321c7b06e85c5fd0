package harness

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"matladder/backend"
	"matladder/check"
	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// Sweep is a Config multiplied out for one device.
type Sweep struct {
	Config Config
	Device machine.Device
	Params backend.Params // of every compilation; rows of Config.Tuned add to them

	// Lowering says how the backend runs kernels, if not as kernels:
	// results.Interpret. It is the variant of their rows.
	Lowering string

	// Predict has the points predicted instead of measured, by a backend that is a
	// backend.Predictor.
	Predict bool

	Memory int64 // bytes that are free for arrays; 0 if unknown
	Groups []Group
}

// Group is one problem with all that is to be compared on it, or all problems of one size.
type Group struct {
	Problem problem.Problem // the first
	Points  []Point
}

// Point is one program to measure: a contender on a problem with parameters.
type Point struct {
	Contender
	Problem problem.Problem
	Inputs  string // a distribution of package check
	Duty    int    // percent of a window for which the device is busy; 0 for no window
	Variant string
	Mesh    string // of devices that the problem is spread over, by the sharding Variant; "" for one device
	Params  backend.Params
	Status  results.Status // why the point will not be measured; "" if it will
	Reason  string
}

// The sources of a block shape; tuned.Sources are the others.
const (
	FixedBlocks     = "fixed"     // the kernel has no choice
	CandidateBlocks = "candidate" // the kernel's own proposal
	GivenBlocks     = "given"     // asked for in the sweep
)

// isBaseline reports whether the point is kernel 0, which others are held against.
func (p Point) isBaseline() bool { return p.Contender == Vendor{} }

func (p Point) String() string {
	s := words.Joined(" ", fmt.Sprintf("%-12s %s", p.Contender, problem.Title(p.Problem)), p.Mesh, p.Variant, p.settings(p.Params))
	if p.Inputs != check.Uniform {
		s += words.Between(" inputs ", p.Inputs, "")
	}
	if p.Duty > 0 {
		s += fmt.Sprintf(" duty %d %%", p.Duty)
	}
	if p.Status != "" {
		s += fmt.Sprintf(" %s: %s", p.Status, p.Reason)
	}
	return s
}

// maxPoints bounds a sweep: above it the points alone would fill memory.
const maxPoints = 1_000_000

// Plan multiplies c out for a device. What a kernel does not support is a point
// with a status, not a gap. The error is that of ctx once it ends.
func Plan(ctx context.Context, c Config, d machine.Device, params backend.Params) (Sweep, error) {
	s := Sweep{Config: c, Device: d, Params: params, Memory: freeMemory(d)}
	seen := map[problem.Problem]bool{}
	total := 0
	if len(c.Duty) > 0 && !c.AllBlocks { // a window takes its time
		c.FirstBlocks = true
	}
	if len(c.Duty) > 0 && c.Cache == results.Cold {
		return Sweep{}, &ConfigError{Msg: "cold caches and a duty cannot be combined: a launch that is preceded by a pass over all memory is no load"}
	}
	for _, c := range c.sweeps() {
		for p := range problems(c) {
			if ctx.Err() != nil {
				return Sweep{}, ctx.Err()
			}
			if seen[p] {
				continue // a precision that makes no difference, or a part of two layers
			}
			seen[p] = true
			if err := p.Validate(); err != nil {
				return Sweep{}, &ConfigError{Msg: err.Error()}
			}
			each, err := spreads(p, c, d)
			if err != nil {
				return Sweep{}, err
			}
			for _, on := range each {
				g := Group{Problem: on.problem}
				for _, number := range c.Kernels {
					if on.mesh != "" {
						g.Points = append(g.Points, spreadPoints(on, number, c, d, Point{Params: params})...)
						continue
					}
					settings := c.Settings
					if number == kernels.BaselineNumber || len(settings) == 0 {
						g.Points = append(g.Points, points(p, number, c, d, params)...)
						continue
					}
					for _, setting := range settings {
						if c, params, ok := c.with(setting, p, params); ok {
							g.Points = append(g.Points, points(p, number, c, d, params)...)
						}
					}
				}
				sameMemory(g.Points, modelOf(d, params).VMEM.Granted)
				g.Points = c.under(g.Points)
				if total += len(g.Points); total > maxPoints {
					return Sweep{}, &ConfigError{Msg: fmt.Sprintf("more than %d points in one sweep", maxPoints)}
				}
				if n := len(s.Groups); on.mesh == "" && c.Together && n > 0 && s.Groups[n-1].Problem.Sizes() == p.Sizes() {
					s.Groups[n-1].Points = append(s.Groups[n-1].Points, g.Points...)
					continue
				}
				s.Groups = append(s.Groups, g)
			}
		}
	}
	return s, nil
}

// under has each point once with each kind of inputs and each duty.
func (c Config) under(points []Point) []Point {
	var list []Point
	loads := c.Duty
	if len(loads) == 0 {
		loads = []int{0}
	}
	for _, inputs := range c.Inputs {
		for _, load := range loads {
			for _, p := range points {
				p.Inputs, p.Duty = inputs, load
				if err := check.Suits(p.Problem, inputs); err != nil && p.Status == "" {
					p.Status, p.Reason = results.Unsupported, err.Error()
				}
				list = append(list, p)
			}
		}
	}
	return list
}

// problems are those of the points, in their order.
func (g Group) problems() []problem.Problem {
	order, _ := each.Grouped(g.Points, func(p *Point) problem.Problem { return p.Problem })
	return order
}

// beside is the problem that p is compared with if all of one size are one group.
func (c Config) beside(p problem.Problem) problem.Problem {
	first := c.Asked[0]
	first.Precision = c.Precisions[0]
	return c.Family.Make(p.Sizes(), first)
}

// problems yields the product of batches, sizes, dtypes and precisions.
func problems(c Config) iter.Seq[problem.Problem] {
	return func(yield func(problem.Problem) bool) {
		at, batched := c.Family.Index(problem.BatchSize)
		for _, batch := range c.Batches {
			for _, sizes := range c.Sizes {
				if batched && sizes[at] == 1 { // or the sizes say it themselves
					sizes[at] = batch
				}
				for _, asked := range c.Asked {
					for _, asked.Precision = range c.Precisions {
						if !yield(c.Family.Make(sizes, asked)) {
							return
						}
					}
				}
			}
		}
	}
}

// points has the points of one kernel on one problem, at least one.
func points(p problem.Problem, number int, c Config, d machine.Device, params backend.Params) []Point {
	if number == kernels.BaselineNumber {
		return []Point{{Contender: Vendor{}, Problem: p, Params: vendorParams(d, params)}}
	}
	k, _ := kernels.Rung(c.Family, number)
	params.Prefetch = params.Prefetch && k.RequestsVMEM()
	m := modelOf(d, params)
	point := Point{Contender: Rung{Kernel: k}, Problem: p, Params: params}
	if err := k.Supports(p); err != nil {
		point.Status, point.Reason = results.Unsupported, err.Error()
		return []Point{point}
	}
	blocks, source := k.Candidates(p, m.Machine), FixedBlocks
	switch {
	case !kernels.ChoosesBlocks(k):
	case len(c.Blocks) > 0:
		blocks, source = problem.ClipAll(p, c.Blocks...), GivenBlocks
	default:
		source = CandidateBlocks
	}
	var list []Point
	for _, variant := range k.Variants(p) {
		blocks, source, point := blocks, source, point
		if source == CandidateBlocks && !c.AllBlocks && c.Tuned != nil && !params.Prefetch {
			if answer, ok := c.Tuned.Lookup(tuned.KeyOf(k.Name(), variant, p)); ok && fits(k, p, variant, answer.Blocks, m) {
				blocks, source = []tile.Blocks{answer.Blocks}, string(answer.Source)
				var err error
				if point.Params, err = answer.AddTo(params); err != nil {
					point.Status, point.Reason = results.Failed, err.Error()
				}
			}
		}
		if source == CandidateBlocks && c.FirstBlocks {
			blocks = blocks[:min(1, len(blocks))]
		}
		for _, b := range blocks {
			point.Contender, point.Variant = Rung{k, b, source}, variant
			list = append(list, point.withMemory(m))
		}
	}
	if len(list) == 0 {
		point.Status, point.Reason = results.Unsupported, "the kernel proposes no blocks for this problem"
		list = append(list, point)
	}
	return list
}

// vendorParams are what params say to the vendor's own matmul, which makes its own
// choices, within the limits of the kernels. That of a CPU is another backend's.
func vendorParams(d machine.Device, params backend.Params) backend.Params {
	params.ISA, params.Prefetch = "", false // XLA lets its own products have it
	if d.Kind == machine.CPU {
		params.Extra = nil
	}
	return params
}

// HasBaseline reports whether kernel 0 is to be measured.
func (s Sweep) HasBaseline() bool {
	measured := func(p Point) bool { return p.isBaseline() && p.Status == "" }
	return slices.ContainsFunc(s.Groups, func(g Group) bool { return slices.ContainsFunc(g.Points, measured) })
}

// Skip marks the points of the baseline as skipped, for want of a backend that has
// one; or, where that crashed or hung when it was opened, as what it did.
func (s Sweep) Skip(why error) {
	status := classify(why)
	if status != results.Crashed && status != results.Timeout {
		status = results.Skipped
	}
	for _, g := range s.Groups {
		for i := range g.Points {
			if p := &g.Points[i]; p.isBaseline() {
				p.Status, p.Reason = status, why.Error()
			}
		}
	}
}

// Points yields all points in the order of the sweep.
func (s Sweep) Points() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for _, g := range s.Groups {
			for _, p := range g.Points {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// A Peer is a library that computes the same, measured beside the kernels: in the same rounds, on
// the same inputs, verified in the same way. Its rows bear its name as kernel and as backend.
type Peer interface {
	backend.Backend // and a Solver, or a BaselinePredictor
	// Supports returns why the library does not compute p, or nil.
	Supports(p problem.Problem) error
	// Variants lists the forms in which it computes p.
	Variants(p problem.Problem) []string
}

// Compare adds the points of peers to each group. What a peer does not support is
// a point with a status.
func (s Sweep) Compare(peers ...Peer) {
	for i := range s.Groups {
		g := &s.Groups[i]
		for _, p := range g.problems() {
			for _, peer := range peers {
				g.Points = append(g.Points, s.Config.under(peerPoints(peer, p, s.Params))...)
			}
		}
	}
}

func peerPoints(peer Peer, p problem.Problem, params backend.Params) []Point {
	point := Point{Contender: Library{Peer: peer}, Problem: p, Params: vendorParams(peer.Device(), params)}
	if err := peer.Supports(p); err != nil {
		point.Status, point.Reason = results.Unsupported, err.Error()
		return []Point{point}
	}
	return each.Of(peer.Variants(p), func(variant string) Point {
		point.Variant = variant
		return point
	})
}
