package interp_test

import (
	"fmt"
	"math"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
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
	chosen := thoroughtest.Choose(1, 7, 7)
	for _, shape := range shapes {
		for _, p := range problems(shape[0], shape[1], shape[2]) {
			for _, kernel := range kernels.Ladder(problem.MatmulFamily) {
				if kernel.Supports(p) != nil {
					continue
				}
				for _, b := range kernelBlocks(kernel, p) {
					if !chosen() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s%s/%s", kernel.Name(), p, p.Quant, b), func(t *testing.T) { testKernel(t, kernel, p, b) })
				}
			}
		}
	}
}

// kernelBlocks adds small blocks to the kernel's own, which cover these shapes
// whole.
func kernelBlocks(k kernels.Kernel, p problem.Matmul) []tile.Blocks {
	own := k.Candidates(p, problem.Machine{Parallel: 3})
	if k.Number() <= 2 {
		return own
	}
	return tile.Candidates(p.M, p.K, p.N, append(own, blockShapes...)...)
}

func testKernel(t *testing.T, kernel kernels.Kernel, p problem.Matmul, b tile.Blocks) {
	programs := must(t)(kernel.Build(p, "", b))
	in := inputs(t, programs)
	out := run(t, programs, in...)[0]

	// The accumulator is rounded in memory at every step along k: in v3 and v4
	// it is the output, in v5 scratch. The last cast rounds once more.
	accumulator := 0.0
	for _, s := range programs[0].Body {
		if s.Kind == tile.Accumulate {
			accumulator = max(accumulator, s.Ref.Dtype.Epsilon())
		}
	}
	relative := 1.01 * (p.Out.Epsilon() + accumulator*float64(tile.Ceil(p.K, b.K)))
	want, size := matmul(p, in)
	for i := range want {
		near(t, out.At(i), want[i], relative*size[i], i/p.N, i%p.N)
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
