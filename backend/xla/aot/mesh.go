package aot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/internal/each"
	"matladder/lower/stablehlo"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/problem"
	"matladder/tile"
)

// spread is what is kept of a Spread: of each exchange the axis of the mesh.
type spread struct {
	Bytes     int64 // that a device needs of memory
	Exchanges []exchange
}

type exchange struct {
	Kind, Axis, Algorithm string
	Bytes                 int64
}

// predictSpread predicts XLA's own product on a mesh. What a device computes is predicted
// as the product that it is on one chip. How much memory it needs, and what is exchanged
// between which devices, is what libtpu compiled for the whole slice; how long that takes
// on the wire is the model of model.Placement.Collective, which libtpu knows nothing of.
//
// The least that it may take is the longer of computing and exchanging, as if they
// overlapped wholly; the most is their sum, each at its slowest. The likely time is the
// sum: XLA multiplies when all is gathered, and exchanges sums when all are there.
func (b *Backend) predictSpread(ctx context.Context, spec backend.ProblemSpec) (backend.Prediction, error) {
	refuse := func(err error) (backend.Prediction, error) {
		return backend.Prediction{}, fmt.Errorf("aot: %w: %w", backend.ErrUnsupported, err)
	}
	m, err := mesh.Parse(spec.Mesh)
	if err != nil {
		return refuse(err)
	}
	way, err := mesh.FindSharding(spec.Variant)
	if err != nil {
		return refuse(err)
	}
	whole, ok := spec.Problem.(problem.Matmul)
	if !ok {
		return refuse(fmt.Errorf("only products are spread over a mesh"))
	}
	at, err := model.Place(m, b.device)
	if err != nil {
		return refuse(err)
	}
	local := whole
	if local.M, local.K, local.N, err = way.Local(m, whole.M, whole.K, whole.N); err != nil {
		return refuse(err)
	}
	if m.Size(way.Inner) > 1 && tile.DotResult(whole.A, whole.B) == tile.Float32 {
		local.Out = tile.Float32 // sums of a part of k
	}
	said, err := b.compileSpread(ctx, whole, m, way, at)
	if big := (*backend.TooBigError)(nil); errors.As(err, &big) {
		return backend.Prediction{MemoryBytes: big.Needed}, err
	}
	if err != nil {
		return backend.Prediction{}, err
	}
	if limit := b.device.MemoryBytes; limit.Known() && said.Bytes > int64(limit.Value) {
		return backend.Prediction{MemoryBytes: said.Bytes}, fmt.Errorf("aot: %w", &backend.TooBigError{What: "memory of each device", Needed: said.Bytes, Limit: int64(limit.Value)})
	}
	p, err := b.PredictBaseline(ctx, backend.ProblemSpec{Problem: local, Params: spec.Params})
	if err != nil {
		return backend.Prediction{}, err
	}
	var wire model.WireTime
	for _, x := range said.Exchanges {
		wire = wire.Plus(at.Collective(x.Kind, x.Bytes, x.Axis))
	}
	p.Low = max(p.Low, duration(wire.Least))
	p.High += duration(wire.Most)
	p.Elapsed += duration(wire.Seconds)
	p.MemoryBytes = said.Bytes
	return p, nil
}

// compileSpread asks libtpu, or the cache, what it makes of a product on a mesh.
func (b *Backend) compileSpread(ctx context.Context, p problem.Matmul, m mesh.Mesh, way mesh.Sharding, at model.Placement) (*spread, error) {
	launch, err := stablehlo.Baseline(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	program, err := launch.Sharded(m, way)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	topology := b.topology.slice(at.Chips)
	file := b.cache.file(topology, program.Module, hlo.Options{"devices": int64(m.Devices())})
	o, err := b.cache.outcome(file, b.compiler.options.maker, func(o outcome) bool { return o.Spread != nil }, func() (o outcome, err error) {
		got, err := b.compiler.CompileSpread(ctx, topology, program.Module, m.Devices())
		if err != nil {
			return o, err
		}
		o.Spread = &spread{Bytes: got.ArgumentBytes + got.OutputBytes + got.TempBytes}
		for _, x := range got.Collectives {
			axis := axisOf(m, x.Groups)
			if axis == "" {
				return o, fmt.Errorf("libtpu: %w: what it exchanges by %s is along no one axis of mesh %s", backend.ErrUnsupported, x.Kind, m)
			}
			o.Spread.Exchanges = append(o.Spread.Exchanges, exchange{x.Kind, axis, x.Algorithm, x.Bytes})
		}
		return o, nil
	})
	return o.Spread, err
}

// axisOf is the axis of a mesh along which groups exchange; "" if there is none.
func axisOf(m mesh.Mesh, groups [][]int64) string {
	stride := int64(1)
	for _, a := range slices.Backward(m) {
		if len(groups) > 0 && len(groups[0]) == a.Size && (a.Size == 1 || groups[0][1]-groups[0][0] == stride) {
			return a.Name
		}
		stride *= int64(a.Size)
	}
	return ""
}

// slice is the slice of a pod as libtpu names it: at least a host's chips.
func (t Topology) slice(sides []int) string {
	generation, least, _ := strings.Cut(t.Libtpu, ":")
	if each.Product(sides) <= 4 {
		return generation + ":" + least
	}
	return generation + ":" + model.Placement{Chips: sides}.Slice()
}

// Collective is one exchange between the devices of a pod, as libtpu compiled it.
type Collective = hlo.Collective

// Spread is what libtpu says of a program that is spread over the devices of a pod; all figures are
// of one device. It says nothing of how long the wire takes: package model has a model of that.
type Spread struct {
	*Compiled
	Collectives []Collective
}

// CompileSpread compiles a program whose arrays are annotated for Shardy for the first
// devices of a whole topology, such as v5e:16x16. Errors are those of Compile.
func (c *Compiler) CompileSpread(ctx context.Context, topology, program string, devices int) (*Spread, error) {
	compiled, err := c.compile(ctx, request{Topology: topology, Program: program, Partitions: devices})
	if err != nil {
		return nil, err
	}
	m, err := hlo.Read(compiled.Format, compiled.Optimized)
	if err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	return &Spread{compiled, m.Collectives()}, nil
}
