package sharded_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/kernels/sharded"
	"matladder/kernels/sharded/shards"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// cases are products of one, two and four devices, and blocks of several and of one step.
func cases() []problem.Sharded {
	var list []problem.Sharded
	for _, devices := range []int{1, 2, 3, 4} {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
			for _, way := range []problem.Way{problem.Gather, problem.Scatter} {
				list = append(list, problem.Sharded{M: 16 * devices, K: 8 * devices, N: 16 * devices, Devices: devices, Dtype: d, Way: way})
			}
		}
	}
	return list
}

// TestMeaning holds every rung to the product of whole matrices in float64: in the
// interpreter with copies as early and as late as possible and devices in several orders, and
// one device on the cores of this machine.
func TestMeaning(t *testing.T) {
	for _, p := range cases() {
		for _, k := range sharded.All {
			if k.Supports(p) != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s %s", k.Name, p, p.Way), func(t *testing.T) { checkMeaning(t, k, p) })
		}
	}
}

func checkMeaning(t *testing.T, k problem.Rung[problem.Sharded], p problem.Sharded) {
	a, b := random(p, "a", 1), random(p, "b", 2)
	in := make([][]tile.Tensor, p.Devices)
	for d := range in {
		in[d] = []tile.Tensor{shards.Cut(p, "a", a)[d], shards.Cut(p, "b", b)[d]}
	}
	for _, s := range []tile.Blocks{{M: 8, K: 8, N: 8}, {M: 4, K: 4, N: 16}} {
		if k.Number > 1 {
			s.K = p.Local("b")[0]
		}
		programs, err := k.Build(p, "", s)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []interp.Options{{}, {EarlyCopies: true}, {Shuffle: 1}, {Shuffle: 2, EarlyCopies: true}} {
			out, err := interp.RunMesh(context.Background(), programs, in, o)
			if err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			compare(t, fmt.Sprintf("interp %+v", o), p, a, b, out)
		}
		if p.Devices > 1 {
			continue
		}
		device, err := cpu.Open(cpu.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer device.Close()
		e, err := device.Compile(context.Background(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		o := tile.NewTensor(p.Dtype, p.M, p.N)
		if err := errors.Join(e.Load(in[0]...), run(e), e.Results(o)); err != nil {
			t.Fatal(err)
		}
		compare(t, "cpu", p, a, b, [][]tile.Tensor{{o}})
	}
}

func run(e backend.Executable) error {
	_, err := e.Run(context.Background(), 2)
	return err
}

func random(p problem.Sharded, name string, seed uint64) tile.Tensor {
	shape := p.Operands()[strings.Index("ab", name)].Shape
	x := tile.NewTensor(p.Dtype, shape...)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range x.Len() {
		x.Set(i, r.Float64()*2-1)
	}
	return x
}

// compare holds the parts of o together against sums in float64.
func compare(t *testing.T, who string, p problem.Sharded, a, b tile.Tensor, out [][]tile.Tensor) {
	t.Helper()
	parts := make([]tile.Tensor, p.Devices)
	for d := range parts {
		parts[d] = out[d][0]
	}
	o := shards.Join(p, "o", parts)
	unit := 1e-6
	if p.Dtype == tile.BFloat16 {
		unit = 1.0 / 256
	}
	for i := range p.M {
		for j := range p.N {
			sum, size := 0.0, 0.0
			for k := range p.K {
				x := a.At(i*p.K+k) * b.At(k*p.N+j)
				sum, size = sum+x, size+math.Abs(x)
			}
			if have := o.At(i*p.N + j); !(math.Abs(have-sum) <= unit*size) {
				t.Fatalf("%s: o[%d, %d] = %g, want %g", who, i, j, have, sum)
			}
		}
	}
}

// TestRagged: parts that are not equal, and blocks that do not divide them, are refused in
// words.
func TestRagged(t *testing.T) {
	for _, k := range sharded.All[1:] {
		p := problem.Sharded{M: 30, K: 32, N: 32, Devices: 4, Dtype: tile.Float32, Way: problem.Gather}
		if k.Name == "v5_scatter" {
			p.Way = problem.Scatter
		}
		if err := k.Supports(p); err == nil || !strings.Contains(err.Error(), "m = 30: 4 devices cannot have equal parts") {
			t.Errorf("%s takes %s: %v", k.Name, p, err)
		}
		p.M = 32
		if _, err := k.Build(p, "", tile.Blocks{M: 3, K: p.K, N: 8}); err == nil || !strings.Contains(err.Error(), "bm = 3: copies bring whole blocks: take one that divides") {
			t.Errorf("%s: blocks of 3 rows: %v", k.Name, err)
		}
	}
}
