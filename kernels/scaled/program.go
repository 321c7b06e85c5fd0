// Package scaled has what rungs share whose operands stand for real numbers by scales: programs
// with a batch, those that quantize a ahead of the product, and the epilogue.
package scaled

import (
	"matladder/problem"
	"matladder/tile"
)

// Program is a builder that knows the problem. With a batch, every array has a
// leading dimension that the first axis goes along, one element a program.
type Program struct {
	*tile.Builder
	P       problem.Matmul // a as the product meets it: quantized already
	Scheme  problem.Scheme
	S       tile.Blocks
	Fused   bool       // a is quantized in this program
	A       string     // the name of a as the product meets it
	TypeOfA tile.Dtype // as it comes to this program
	e       *tile.Axis // along the batch; nil without one
}

// Begin begins a program of p.
func Begin(name string, p problem.Matmul, scheme problem.Scheme, s tile.Blocks) *Program {
	t := &Program{Builder: tile.New(name), P: p, Scheme: scheme, S: s, A: "a", TypeOfA: p.A}
	if p.Batch > 1 {
		t.e = t.Axis("e", p.Batch, tile.Parallel)
	}
	return t
}

// Start begins the program of the product and returns those that quantize a for
// it, if p asks for that.
func Start(name string, p problem.Matmul, s tile.Blocks) (*Program, []*tile.Program, error) {
	scheme, err := p.Scheme()
	if err != nil {
		return nil, nil, err
	}
	t := Begin(name, p, scheme, s)
	var ahead []*tile.Program
	if scheme.Dynamic {
		if ahead, err = quantizers(name, p, scheme); err != nil {
			return nil, nil, err
		}
		t.P, t.A = Quantized(p), "qa"
		t.TypeOfA = t.P.A
	}
	if scheme.ZeroB && scheme.B != problem.Block {
		sums, err := t.sumRows(name)
		if err != nil {
			return nil, nil, err
		}
		ahead = append(ahead, sums...)
	}
	return t, ahead, nil
}

// Quantized is p with a as it is after quantization.
func Quantized(p problem.Matmul) problem.Matmul {
	p.A, _ = p.Factors()
	scheme, _ := p.Scheme()
	scheme.Dynamic = false
	p.Quant = scheme.Quant()
	return p
}

// Array is the shape of an array, with the dimension of the batch.
func (t *Program) Array(dims ...int) tile.ArrayShape {
	if t.e != nil {
		dims = append([]int{t.P.Batch}, dims...)
	}
	return tile.Array(dims...)
}

// Blocks is a block shape without the dimension of the batch.
type Blocks struct {
	t    *Program
	dims []int
}

// Block is a block shape, without the dimension of the batch.
func (t *Program) Block(dims ...int) Blocks { return Blocks{t, dims} }

// At is the spec of the block at index.
func (b Blocks) At(index ...tile.IndexExpr) tile.BlockSpec {
	if b.t.e == nil {
		return tile.Block(b.dims...).At(index...)
	}
	dims := append([]int{tile.Squeezed}, b.dims...)
	return tile.Block(dims...).At(append([]tile.IndexExpr{b.t.e}, index...)...)
}

// Shapes are those that take the least time on the machine, the best first, or, of a machine
// that does not tell, the fourth rung's, so that the two differ in what they compute alone;
// where elements of k share scales, bk is a whole number of groups.
func Shapes(p problem.Matmul, m problem.Machine) []tile.Blocks {
	list := m.Rank(p)
	if list == nil {
		list = []tile.Blocks{
			{M: 128, K: 128, N: 128},
			{M: 256, K: 256, N: 256},
			{M: 512, K: 512, N: 512},
			{M: 512, K: 1024, N: 1024},
			{M: 1024, K: 1024, N: 1024},
		}
	}
	if scheme, err := p.Scheme(); err == nil && scheme.B == problem.Block {
		for i := range list {
			list[i].K = max(list[i].K/scheme.Block, 1) * scheme.Block
		}
	}
	return tile.Candidates(p.M, p.K, p.N, list...)
}
