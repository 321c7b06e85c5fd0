package interp_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// shapes are m×k×n: ragged, prime and one, all different, and one whose blocks
// all fit.
var shapes = [][3]int{{1, 1, 1}, {1, 7, 5}, {13, 1, 6}, {11, 17, 1}, {16, 32, 8}, {37, 29, 43}, {33, 65, 31}}

// blockShapes are clipped to the shape, as Candidates does.
var blockShapes = []tile.Blocks{{M: 1, K: 3, N: 2}, {M: 8, K: 8, N: 8}, {M: 16, K: 5, N: 7}, {M: 5, K: 64, N: 16}, {M: 64, K: 64, N: 64}}

// problems are the matmuls of one shape that the ladder takes.
func problems(m, k, n int) []problem.Matmul {
	ps := []problem.Matmul{problem.New(m, k, n, tile.Float32), problem.New(m, k, n, tile.BFloat16), problem.New(m, k, n, tile.Int8)}
	for _, out := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		p := problem.New(m, k, n, tile.Int8)
		p.Out, p.Quant = out, problem.PerTensor
		ps = append(ps, p)
	}
	return ps
}

func TestKernels(t *testing.T) {
	for _, shape := range shapes {
		for _, p := range problems(shape[0], shape[1], shape[2]) {
			for _, kernel := range kernels.All {
				if kernel.Supports(p) != nil {
					continue
				}
				for _, b := range kernelBlocks(kernel, p) {
					t.Run(fmt.Sprintf("%s/%s%s/%s", kernel.Name(), p, p.Quant, b), func(t *testing.T) { testKernel(t, kernel, p, b) })
				}
			}
		}
	}
}

// kernelBlocks adds small blocks to the kernel's own, which cover these shapes
// whole.
func kernelBlocks(k kernels.Kernel, p problem.Matmul) []tile.Blocks {
	own := k.Candidates(p, tile.Machine{Parallel: 3})
	if k.Number() <= 2 {
		return own
	}
	return tile.Candidates(p.M, p.K, p.N, append(own, blockShapes...)...)
}

func testKernel(t *testing.T, kernel kernels.Kernel, p problem.Matmul, b tile.Blocks) {
	programs, err := kernel.Build(p, "", b)
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	in := randomInputs(bindings.In, 7)
	out := run(t, programs, in...)[0]

	// In v3 and v4 a bfloat16 output is the accumulator, rounded at every step.
	roundings := 1
	if kernel.Number() == 3 || kernel.Number() == 4 {
		roundings = tile.Ceil(p.K, b.K)
	}
	want, size := matmul(p, in)
	for i := range want {
		bound := float64(roundings) * p.Out.Epsilon() * size[i]
		if p.Acc == tile.Float32 {
			// One rounding of the accumulator in memory for each step along k.
			bound += float64(tile.Ceil(p.K, b.K)) * tile.Float32.Epsilon() * size[i]
		}
		if got := out.At(i); !(math.Abs(got-want[i]) <= 1.01*bound) {
			t.Fatalf("element %d is %v, want %v ± %v", i, got, want[i], bound)
		}
	}

	for seed := uint64(1); seed <= 2; seed++ {
		shuffled, err := interp.RunWith(context.Background(), programs, in, interp.Options{Shuffle: seed})
		if err != nil {
			t.Fatalf("shuffled by %d: %v", seed, err)
		}
		if !bytes.Equal(shuffled[0].Data, out.Data) {
			t.Fatalf("shuffled by %d, the output differs", seed)
		}
	}
}

// matmul is the reference: o in float64 and, for bounds, the same sum of absolute
// values.
func matmul(p problem.Matmul, in []tile.Tensor) (o, size []float64) {
	o, size = make([]float64, p.M*p.N), make([]float64, p.M*p.N)
	scale := 1.0
	if p.Quant == problem.PerTensor {
		scale = in[2].At(0) * in[3].At(0)
	}
	for i := range p.M {
		for j := range p.N {
			var sum, abs float64
			for l := range p.K {
				x := in[0].At(i*p.K+l) * in[1].At(l*p.N+j)
				sum += x
				abs += math.Abs(x)
			}
			o[i*p.N+j], size[i*p.N+j] = sum*scale, abs*math.Abs(scale)
		}
	}
	return o, size
}

// run runs programs that must be right, printed along the way.
func run(t *testing.T, programs []*tile.Program, in ...tile.Tensor) []tile.Tensor {
	t.Helper()
	for _, p := range programs {
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		if p.String() == "" {
			t.Fatal("the program prints nothing")
		}
	}
	out, err := interp.Run(context.Background(), programs, in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// randomInputs fills arrays of refs: floats from the normal distribution,
// integers over their range.
func randomInputs(refs []*tile.Ref, seed uint64) []tile.Tensor {
	random := rand.New(rand.NewPCG(seed, 0))
	in := make([]tile.Tensor, len(refs))
	for i, r := range refs {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		lo, hi := r.Dtype.Range()
		for j := range in[i].Len() {
			x := random.NormFloat64()
			if r.Dtype.IsInteger() {
				x = math.Floor(lo + (hi-lo+1)*random.Float64())
			}
			in[i].Set(j, x)
		}
	}
	return in
}
