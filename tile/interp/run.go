package interp

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// Options change how programs are run, never what they mean.
type Options struct {
	// Shuffle, unless 0, seeds a random order of the parallel programs; the
	// steps of each stay in order. 0 is row-major order.
	Shuffle uint64
	// EarlyCopies lets copies happen where they are started; otherwise they happen where they
	// are waited for. A right program does not tell the difference.
	EarlyCopies bool
	// Counters, unless nil, are overwritten with what the run did.
	Counters *Counters

	watchDot func(m *machine, dot *tile.Expr, a, b block) // for tests
}

// Run runs programs one after another on in and returns the outputs, in and out in the order of
// tile.Bind. A wrong program is a *tile.Error; a context that ends is its error, wrapped.
func Run(ctx context.Context, programs []*tile.Program, in []tile.Tensor) ([]tile.Tensor, error) {
	return RunWith(ctx, programs, in, Options{})
}

// RunWith is Run with options.
func RunWith(ctx context.Context, programs []*tile.Program, in []tile.Tensor, opts Options) ([]tile.Tensor, error) {
	for _, p := range programs {
		if n := p.Devices(); n > 1 {
			return nil, fmt.Errorf("interp: %s runs on %d devices: want inputs of each", p.Name, n)
		}
	}
	out, err := RunMesh(ctx, programs, [][]tile.Tensor{in}, opts)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// RunMesh runs programs of a mesh on all its devices at once: in and out have, for each
// device, arrays in the order of tile.Bind. A fault in how copies wait for each other is a
// *tile.Error, whatever the values are.
func RunMesh(ctx context.Context, programs []*tile.Program, in [][]tile.Tensor, opts Options) ([][]tile.Tensor, error) {
	bindings, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	arrays := make([]map[string]*array, len(in))
	for d := range in {
		if arrays[d], err = loadInputs(bindings.In, in[d]); err != nil {
			return nil, err
		}
	}
	counters := opts.Counters
	counters = cmp.Or(counters, new(Counters))
	*counters = Counters{}
	for _, p := range programs {
		if p.Devices() != len(in) {
			return nil, fmt.Errorf("interp: %s runs on %d devices, inputs are of %d", p.Name, p.Devices(), len(in))
		}
		w := &world{program: p, early: opts.EarlyCopies, seed: opts.Shuffle}
		if len(p.Semaphores) > 0 {
			w.flight = tile.NewFlight(p)
		}
		for d := range in {
			for _, r := range p.RefsOf(tile.Out) {
				arrays[d][r.Name] = unwritten(r)
			}
			m := newMachine(ctx, p, arrays[d])
			m.coordinates, m.world = p.Coordinates(d), w
			m.watchDot = opts.watchDot
			w.machines = append(w.machines, m)
		}
		if err := w.run(); err != nil {
			return nil, err
		}
		for _, m := range w.machines {
			m.count(counters)
		}
	}
	out := make([][]tile.Tensor, len(in))
	for d := range in {
		for _, r := range bindings.Out {
			t := tile.NewTensor(r.Dtype, r.Array...)
			for j, x := range arrays[d][r.Name].val {
				t.Set(j, x)
			}
			out[d] = append(out[d], t)
		}
	}
	return out, nil
}

// loadInputs turns tensors into arrays by name.
func loadInputs(refs []*tile.Ref, in []tile.Tensor) (map[string]*array, error) {
	if len(in) != len(refs) {
		names := each.Of(refs, func(r *tile.Ref) string { return r.Name })
		return nil, fmt.Errorf("interp: %d inputs given, the programs take %d: %s", len(in), len(refs), strings.Join(names, ", "))
	}
	arrays := map[string]*array{}
	for i, r := range refs {
		if err := in[i].Matches(r); err != nil {
			return nil, fmt.Errorf("interp: input %w", err)
		}
		a := &array{r.Dtype, newBlock(r.Array)}
		for j := range a.val {
			a.val[j] = in[i].At(j)
		}
		arrays[r.Name] = a
	}
	return arrays, nil
}

// Counters are what one run did, as a sequential machine with one buffer for each ref would do it.
type Counters struct {
	GridSteps    int64 // programs run
	BlocksLoaded int64 // input blocks brought in
	BytesLoaded  int64 // bytes of them inside their arrays
	BlocksStored int64 // output blocks written back
	BytesStored  int64 // bytes of them inside their arrays
	Refs         []RefCounters
}

// RefCounters is the share of one ref. A block counts as loaded, or stored, when its index
// differs from that of the step before; a table is loaded once for its program, whole.
type RefCounters struct {
	Ref    *tile.Ref // an In, Out or Table
	Blocks int64
	Bytes  int64
}

// count adds what m did.
func (m *machine) count(c *Counters) {
	c.GridSteps += m.steps
	for _, v := range m.views {
		switch v.ref.Kind {
		case tile.Scratch:
			continue
		case tile.Out:
			c.BlocksStored += v.blocks
			c.BytesStored += v.bytes
		default:
			c.BlocksLoaded += v.blocks
			c.BytesLoaded += v.bytes
		}
		c.Refs = append(c.Refs, RefCounters{v.ref, v.blocks, v.bytes})
	}
}

// order yields the program ids of every program of the grid: in row-major order, the last axis
// fastest, or, for a seed, one parallel program after another in random order, each of them
// row-major over its Arbitrary axes. The slice is reused.
func order(grid []*tile.Axis, seed uint64) iter.Seq[[]int] {
	var shuffled, inOrder []int
	var rest []*tile.Axis // those that are in order
	count := 1
	for d, a := range grid {
		if seed != 0 && a.Semantics == tile.Parallel {
			shuffled = append(shuffled, d)
			count *= a.Size
		} else {
			inOrder, rest = append(inOrder, d), append(rest, a)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	return func(yield func([]int) bool) {
		ids := make([]int, len(grid))
		for _, n := range random.Perm(count) {
			for _, d := range slices.Backward(shuffled) {
				ids[d] = n % grid[d].Size
				n /= grid[d].Size
			}
			for at := range tile.Points(rest) {
				for i, d := range inOrder {
					ids[d] = at.IDs()[i]
				}
				if !yield(ids) {
					return
				}
			}
		}
	}
}

// continues reports whether the program just before ids in row-major order has the same Parallel
// coordinates, so that this one may rely on what it left in scratch and in the output block. It
// depends on ids alone, not on the order that is run.
func continues(grid []*tile.Axis, ids []int) bool {
	for d := len(grid) - 1; d >= 0; d-- {
		switch {
		case grid[d].Semantics == tile.Parallel && grid[d].Size > 1:
			return false
		case ids[d] > 0:
			return true
		}
	}
	return false
}
