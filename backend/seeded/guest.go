package seeded

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"matladder/backend"
	"matladder/check"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// Guest is an executable of a function that somebody else wrote. Its judge is in this process:
// inputs as they must be, and what outputs are held against. From LoadSeeded on every launch
// is of inputs that differ from those of all others at places that nobody can foresee. Exact
// probes stay as they are.
type Guest struct {
	backend.Changing
	references *References
	secret     *rand.ChaCha8

	spec    *backend.InputSpec // nil where the inputs are others
	changed bool               // the inputs are no longer those of spec
	names   []problem.Operand
	in      []tile.Tensor // as the guest has them, unless it wrote to them
	pools   []pool
}

var _ backend.Seeded = (*Guest)(nil)

// A pool has values for elements of an input, drawn from it; none where others say how it is read.
type pool struct {
	input, size int // bytes of an element, or of several that share one
	bits        []uint32
}

// poolSize is how many values a pool has, and aheadMost how many elements change before launches.
const poolSize, aheadMost = 1024, 256

func newGuest(e backend.Changing, r *References) *Guest {
	var seed [32]byte
	crand.Read(seed[:])
	return &Guest{Changing: e, references: r, secret: rand.NewChaCha8(seed)}
}

// Secret is a number that the guest cannot foresee.
func (g *Guest) Secret() uint64 { return g.secret.Uint64() }

// Load copies arrays in, which stay as they are.
func (g *Guest) Load(in ...tile.Tensor) error {
	g.spec, g.pools = nil, nil
	return g.Changing.Load(in...)
}

// LoadSeeded makes the inputs.
func (g *Guest) LoadSeeded(ctx context.Context, spec backend.InputSpec) (err error) {
	g.spec, g.changed, g.pools = nil, false, nil
	if check.Constant(spec.Dist) {
		return fmt.Errorf("%s are the same in each launch, so that an output that was kept cannot be told: %w", spec.Dist, backend.ErrUnsupported)
	}
	if g.names, _, err = Arrays(g.Changing, nil, spec.Problem); err != nil {
		return err
	}
	in := make([]tile.Tensor, len(g.names))
	for i, a := range g.names {
		if in[i], err = fill(ctx, a, tile.Tensor{}, spec); err != nil {
			return err
		}
	}
	if err = g.Changing.Load(in...); err != nil {
		return err
	}
	g.spec, g.in = &spec, in
	if !check.IsExact(spec.Dist) {
		g.draw()
	}
	return ctx.Err()
}

// draw fills the pools.
func (g *Guest) draw() {
	rng := rand.New(g.secret)
	for i, t := range g.in {
		if !check.Independent(g.names[i].Name) {
			continue
		}
		p := pool{input: i, size: max(1, t.Dtype.Bits()/8)}
		for range poolSize {
			at := rng.IntN(len(t.Data) / p.size)
			if seen(t, at) {
				p.bits = append(p.bits, bitsAt(t.Data, at, p.size))
			}
		}
		if len(p.bits) > 0 {
			g.pools = append(g.pools, p)
		}
	}
}

// seen reports whether an element may be looked at: those that nothing depends on are NaN.
func seen(t tile.Tensor, at int) bool {
	x := 0.0
	if t.Dtype.Bits() >= 8 {
		x = t.At(at)
	}
	return x == x
}

func bitsAt(data []byte, at, size int) (bits uint32) {
	var b [4]byte
	copy(b[:], data[at*size:][:size])
	return binary.LittleEndian.Uint32(b[:])
}

// changes draws changes and makes them in this process's copy.
func (g *Guest) changes(n int) (c backend.Changes) {
	const tries = 16
	rng := rand.New(g.secret)
	for i := range n {
		for try := range tries {
			p := g.pools[rng.IntN(len(g.pools))]
			t, bits := g.in[p.input], p.bits[rng.IntN(len(p.bits))]
			at := rng.IntN(len(t.Data) / p.size)
			if was := bitsAt(t.Data, at, p.size); try == tries-1 {
				c.Add(p.input, at*p.size, p.size, was)
			} else if seen(t, at) && was != bits {
				c.Add(p.input, at*p.size, p.size, bits)
				break
			}
		}
		c.Make(i, g.in)
	}
	return c
}

// Run runs launches, each on inputs of its own.
func (g *Guest) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if len(g.pools) == 0 || launches < 1 {
		return g.Changing.Run(ctx, launches)
	}
	g.changed = true
	ahead := g.changes(aheadMost)
	return g.RunChanged(ctx, ahead, g.changes(launches))
}

// Check verifies what the last launch left.
func (g *Guest) Check(ctx context.Context, spec backend.CheckSpec) (r backend.CheckResult, err error) {
	if g.spec == nil || *g.spec != spec.InputSpec {
		return r, errOtherInputs
	}
	_, results, err := Arrays(g.Changing, nil, spec.Problem)
	if err != nil {
		return r, err
	}
	out := each.Of(results, func(a problem.Operand) tile.Tensor { return tile.NewTensor(a.Dtype, a.Shape...) })
	if err = g.Results(out...); errors.Is(err, backend.ErrNoOutput) {
		return backend.CheckResult{Detail: "nothing was run"}, nil
	} else if err != nil {
		return r, fmt.Errorf("check: %w", err)
	}
	left, err := check.Damage(spec.Fault, named(results, out))
	if err != nil {
		return r, err
	}
	in := named(g.names, g.in)
	if !g.changed {
		return g.references.verify(ctx, referenceKey{InputSpec: spec.InputSpec}, nil, in, left)
	}
	v, err := check.ReferenceOf(ctx, spec.Problem, in, g.Secret(), check.Changed)
	if err != nil {
		return r, err
	}
	return v.Verify(ctx, nil, in, left)
}
