package mx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"matladder/check"
	"matladder/internal/thoroughtest"
	mx "matladder/kernels/v6_mx"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// faults are what goes wrong with groups and codes: each damages inputs behind the back of the
// check, which knows the right ones.
var faults = []struct {
	name   string
	damage func(rng *rand.Rand, p problem.Matmul, size int, in map[string]tile.Tensor)
}{
	{"scales of b are those of the next group", func(_ *rand.Rand, p problem.Matmul, _ int, in map[string]tile.Tensor) {
		sb := in["sb"]
		copy(sb.Data, append(sb.Data[sb.Dtype.Bytes(int64(p.N)):], sb.Data[:sb.Dtype.Bytes(int64(p.N))]...))
	}},
	{"one scale of a is twice as large", func(rng *rand.Rand, p problem.Matmul, size int, in map[string]tile.Tensor) {
		for { // of a group that has more than zeros
			row, k := rng.IntN(p.M), rng.IntN(p.K)
			if i := row*tile.Ceil(p.K, size) + k/size; in["a"].At(row*p.K+k) != 0 {
				in["sa"].Set(i, 2*in["sa"].At(i))
				return
			}
		}
	}},
	{"one scale of b is twice as large", func(rng *rand.Rand, _ problem.Matmul, _ int, in map[string]tile.Tensor) {
		i := rng.IntN(in["sb"].Len())
		in["sb"].Set(i, 2*in["sb"].At(i))
	}},
	{"neighbours of b are swapped", func(rng *rand.Rand, p problem.Matmul, _ int, in map[string]tile.Tensor) {
		b := in["b"]
		for k := range p.K { // all pairs of columns of one group of rows
			for j := 0; j+1 < p.N; j += 2 {
				x, y := b.At(k*p.N+j), b.At(k*p.N+j+1)
				b.Set(k*p.N+j, y)
				b.Set(k*p.N+j+1, x)
			}
		}
	}},
	{"the last group is missing", func(_ *rand.Rand, p problem.Matmul, size int, in map[string]tile.Tensor) {
		for i := range p.M {
			for k := (p.K - 1) / size * size; k < p.K; k++ {
				in["a"].Set(i*p.K+k, 0)
			}
		}
	}},
}

// TestFaults_Found: each fault of groups is found in products of exact probes, in each of many
// tries at each size.
func TestFaults_Found(t *testing.T) {
	tries := 100 / thoroughtest.OneIn(10, 50, 50)
	if thoroughtest.Full() {
		tries = 100
	}
	for _, word := range []string{"mxfp8:float32", "mxfp4:float32", "mxint8:float32", "nvfp4:float32", "mxfp4"} {
		for _, size := range []problem.Sizes{{16, 96, 16, 1}, {33, 200, 24, 1}, {40, 330, 24, 1}} {
			asked, err := problem.MatmulFamily.Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.MakeMatmul(size, asked)
			t.Run(fmt.Sprint(word, " ", p.Shape()), func(t *testing.T) {
				t.Parallel()
				testFaults(t, p, tries)
			})
		}
	}
}

func testFaults(t *testing.T, p problem.Matmul, tries int) {
	ctx := context.Background()
	scheme, err := p.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := mx.Kernel.Build(p, "", tile.Blocks{M: 32, K: 2 * scheme.Block, N: 32}.Clip(p.M, p.K, p.N))
	if err != nil {
		t.Fatal(err)
	}
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	for try := range tries {
		inputs := func() map[string]tile.Tensor {
			in := map[string]tile.Tensor{}
			for _, r := range bound.In {
				in[r.Name] = tile.NewTensor(r.Dtype, r.Array...)
				if err := check.Fill(ctx, in[r.Name], r.Name, p, uint64(try), check.Exact); err != nil {
					t.Fatal(err)
				}
			}
			return in
		}
		right := inputs()
		verify := func(in map[string]tile.Tensor) check.Result {
			var list []tile.Tensor
			for _, r := range bound.In {
				list = append(list, in[r.Name])
			}
			out, err := interp.Run(ctx, programs, list)
			if err != nil {
				t.Fatal(err)
			}
			ref, err := check.ReferenceOf(ctx, p, right, uint64(try), check.Exact)
			if err != nil {
				t.Fatal(err)
			}
			r, err := ref.Verify(ctx, programs, right, map[string]tile.Tensor{"o": out[0]})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := verify(right); !r.OK {
			t.Fatalf("seed %d: a right product is wrong: %+v", try, r)
		}
		for _, f := range faults {
			in := inputs()
			f.damage(rand.New(rand.NewPCG(uint64(try), 1)), p, scheme.Block, in)
			if verify(in).OK {
				t.Errorf("seed %d: %s: not found", try, f.name)
			}
		}
	}
}
