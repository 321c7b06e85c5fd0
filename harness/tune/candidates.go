package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// Candidate is a block shape and what the counts say of it.
type Candidate struct {
	Blocks   tile.Blocks
	Programs []*tile.Program
	Model    float64 // seconds by the counts alone: only good for an order
	Own      bool    // the kernel proposes it itself
	Known    bool    // it is among those that the job knows
	Memory   int64   // fast memory to request from the compiler; 0 for what it grants
}

// given reports whether the candidate is one that is taken where nothing is tuned:
// the tuner's choice must not be worse.
func (c Candidate) given() bool { return c.Own || c.Known }

// countGiven is how many of a list are given.
func countGiven(list []Candidate) int { return len(each.That(list, Candidate.given)) }

// givenFirst is the list with those that are given before others.
func givenFirst(list []Candidate) []Candidate {
	return append(each.That(list, Candidate.given), each.That(list, func(c Candidate) bool { return !c.given() })...)
}

// Space says where candidates come from.
type Space struct {
	Device  machine.Device
	Model   blocking.Model
	Workers int   // programs that run at once
	Limit   int64 // bytes of fast memory that no candidate may exceed where Model does not say what is granted; 0 for none
	Most    int   // candidates that are launched or compiled, those that are given apart
}

// steps of a candidate's sides, with the whole array as one more; the first only of
// dimensions up to smallSize, whose halves and quarters are work for several cores.
var sides = []int{32, 64, 128, 256, 512, 1024, 2048, 4096}

const smallSize = 128

// Candidates lists block shapes of a job: the kernel's own proposals and what the job
// knows, and of all that tile the arrays and fit the fast memory those that the counts
// like best, the best first. It is an error if nothing can be built.
func (s Space) Candidates(j Job) ([]Candidate, error) {
	k, p := j.Kernel, j.Problem
	own := k.Candidates(p, s.Model.Machine)
	known := each.Of(j.Known, func(a tuned.Answer) tile.Blocks { return a.Blocks })
	listed := map[tile.Blocks]bool{}
	var out []Candidate
	var failed error
	for _, b := range slices.Concat(own, known, s.shapes(p)) {
		if listed[b] {
			continue
		}
		listed[b] = true
		c, err := s.candidate(k, j.Variant, p, b)
		switch {
		case err != nil:
			failed = err
		case c.Programs != nil:
			c.Own, c.Known = slices.Contains(own, b), slices.Contains(known, b)
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, errors.Join(fmt.Errorf("%s: no candidates for %s", k.Name(), p), failed)
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(a.Model, b.Model) })
	return s.keep(out), nil
}

// keep drops all but the best and those that are given.
func (s Space) keep(list []Candidate) []Candidate {
	others := 0
	return each.That(list, func(c Candidate) bool {
		if !c.given() {
			others++
		}
		return c.given() || others <= s.Most
	})
}

// lengths are the block lengths along a dimension of an array of a dtype: those of
// sides that are a multiple of the machine's alignment, and the whole dimension.
func (s Space) lengths(size int, d tile.Dtype, dim int) []int {
	align := max(1, s.Model.Align[d][dim])
	return append([]int{size}, each.That(sides, func(side int) bool {
		return side < size && side%align == 0 && (side > sides[0] || size <= smallSize)
	})...)
}

// shapes are the block shapes of all lengths of a problem's sides.
func (s Space) shapes(p problem.Problem) []tile.Blocks {
	sides := p.Sides()
	list := []tile.Blocks{{}}
	for i, side := range sides {
		lengths := s.lengths(side.Size, side.Dtype, side.Dim)
		if i == len(sides)-1 && i > 0 {
			lengths = s.withShare(lengths, side.Size, sides[0].Size)
		}
		var longer []tile.Blocks
		for _, b := range list {
			for _, n := range lengths {
				*lengthOf(&b, i) = n
				longer = append(longer, b)
			}
		}
		list = longer
	}
	return list
}

// lengthOf is a block's length along a side, by its number.
func lengthOf(b *tile.Blocks, i int) *int { return []*int{&b.M, &b.K, &b.N}[i] }

// withShare is the block lengths along the last side. A problem of few rows reads what is
// along it once, best in long runs: a worker's share is one more.
func (s Space) withShare(lengths []int, size, rows int) []int {
	const fewRows, step = 64, 256
	if share := tile.Ceil(tile.Ceil(size, max(1, s.Workers)), step) * step; rows <= fewRows && share < size && !slices.Contains(lengths, share) {
		return append(lengths, share)
	}
	return lengths
}

// candidate builds and counts one block shape. Programs is nil where it does not
// fit the fast memory.
func (s Space) candidate(k kernels.Kernel, variant string, p problem.Problem, b tile.Blocks) (Candidate, error) {
	programs, err := k.Build(p, variant, b)
	if err != nil {
		return Candidate{}, err
	}
	counts, err := model.Count(programs)
	if err != nil {
		return Candidate{}, err
	}
	f, err := model.FootprintOf(programs)
	if err != nil {
		return Candidate{}, err
	}
	memory, limit, _ := s.Model.VMEM.Request(f, k.RequestsVMEM())
	if limit = cmp.Or(limit, s.Limit); limit > 0 && counts.FastBytes > limit {
		return Candidate{Blocks: b}, nil
	}
	return Candidate{Blocks: b, Programs: programs, Model: s.seconds(counts, programs, p), Memory: memory}, nil
}

// stepSeconds is the cost of a grid step where the device's is unknown: calls and
// the packing of blocks on a CPU.
const stepSeconds = 2e-6

// seconds is the time that counts suggest: compute at the peak, shared out over the workers in
// whole programs, and transfers, the longer of the two, and an overhead for each step.
func (s Space) seconds(c model.Counts, programs []*tile.Program, p problem.Problem) float64 {
	var compute, transfer float64
	if peak := s.Device.PeakAt(p.Asked().A.String(), p.Asked().Precision.String()); peak.Known() {
		compute = float64(c.FLOPs) / peak.Value * imbalance(programs, s.Workers)
	}
	if bandwidth := s.Device.BandwidthBytesPerSecond; bandwidth.Known() {
		transfer = float64(c.BytesMoved) / bandwidth.Value
	}
	overhead := stepSeconds
	if f := s.Device.StepOverheadSeconds; f.Known() {
		overhead = f.Value
	}
	return max(compute, transfer) + overhead*float64(c.GridSteps)/float64(max(1, s.Workers))
}

// imbalance is the time of programs shared out over workers in whole runs along
// their parallel axes, over the time if they could be cut anywhere.
func imbalance(programs []*tile.Program, workers int) float64 {
	worst := 1.0
	for _, p := range programs {
		runs := 1.0
		for _, a := range p.Grid {
			if a.Semantics == tile.Parallel {
				runs *= float64(a.Size)
			}
		}
		w := float64(max(1, workers))
		worst = max(worst, math.Ceil(runs/w)*w/runs)
	}
	return worst
}

// Dropped is a candidate that was out of the race though it compiled: it crashed, hung,
// failed, computed something wrong, or was faster than the device can be.
type Dropped struct {
	What string // its blocks and parameters
	Err  error
}

func (d Dropped) String() string { return fmt.Sprintf("%s: %v", d.What, d.Err) }

// drop notes that a trial is out of the race. What a backend cannot run at all is no news.
func (t *Tuner) drop(r *Trial, err error) {
	if !errors.Is(err, backend.ErrUnsupported) && !errors.As(err, new(*backend.TooBigError)) {
		t.Dropped = append(t.Dropped, Dropped{strings.TrimSpace(r.look()), err})
	}
}

// possible is an error if a launch of p cannot have taken seconds.
func (t *Tuner) possible(ctx context.Context, p problem.Problem, seconds float64) error {
	t.bounds.Prober = t.Prober
	if reason := t.bounds.Impossible(ctx, t.Space.Device, p, seconds); reason != "" {
		return errors.New("impossible: " + reason)
	}
	return nil
}
