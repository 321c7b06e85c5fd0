package quantized

import (
	"fmt"

	"matladder/problem"
	"matladder/tile"
)

// program is a builder that knows the problem. With a batch, every array has a
// leading dimension that the first axis goes along, one element a program.
type program struct {
	*tile.Builder
	p      problem.Matmul // a as the product meets it: quantized already
	scheme problem.Scheme
	s      tile.Blocks
	fused  bool       // a is quantized in this program
	a      string     // the name of a as the product meets it
	e      *tile.Axis // along the batch; nil without one
}

func begin(name string, p problem.Matmul, scheme problem.Scheme, s tile.Blocks) *program {
	t := &program{Builder: tile.New(name), p: p, scheme: scheme, s: s, a: "a"}
	if p.Batch > 1 {
		t.e = t.Axis("e", p.Batch, tile.Parallel)
	}
	return t
}

// start begins the program of the product and returns those that quantize a for
// it, if p asks for that.
func start(p problem.Matmul, s tile.Blocks) (*program, []*tile.Program, error) {
	scheme, err := p.Scheme()
	if err != nil {
		return nil, nil, err
	}
	if s, err = wholeGroups(scheme, p, s); err != nil {
		return nil, nil, err
	}
	t := begin("v5_quant", p, scheme, s)
	var ahead []*tile.Program
	if scheme.Dynamic {
		if ahead, err = quantizers(p, scheme); err != nil {
			return nil, nil, err
		}
		t.p, t.a = quantized(p), "qa"
	}
	if scheme.ZeroB && scheme.B != problem.Block {
		sums, err := t.sumRows()
		if err != nil {
			return nil, nil, err
		}
		ahead = append(ahead, sums...)
	}
	return t, ahead, nil
}

// quantized is p with a as it is after quantization.
func quantized(p problem.Matmul) problem.Matmul {
	p.A, _ = p.Factors()
	scheme, _ := p.Scheme()
	scheme.Dynamic = false
	p.Quant = scheme.Quant()
	return p
}

func (t *program) array(dims ...int) tile.ArrayShape {
	if t.e != nil {
		dims = append([]int{t.p.Batch}, dims...)
	}
	return tile.Array(dims...)
}

// blocks is a block shape without the dimension of the batch.
type blocks struct {
	t    *program
	dims []int
}

func (t *program) block(dims ...int) blocks { return blocks{t, dims} }

func (b blocks) at(index ...tile.IndexExpr) tile.BlockSpec {
	if b.t.e == nil {
		return tile.Block(b.dims...).At(index...)
	}
	dims := append([]int{tile.Squeezed}, b.dims...)
	return tile.Block(dims...).At(append([]tile.IndexExpr{b.t.e}, index...)...)
}

// groupsOf is how many groups of k share scales in one block; 1 if a group goes
// on over several.
func groupsOf(scheme problem.Scheme, s tile.Blocks) int {
	return tile.Ceil(s.K, scheme.Block)
}

// wholeGroups returns s with bk a whole number of groups of k, or a whole part
// of one. A block of all of k is rounded up; any other is an error.
func wholeGroups(scheme problem.Scheme, p problem.Matmul, s tile.Blocks) (tile.Blocks, error) {
	switch g := scheme.Block; {
	case scheme.B != problem.Block || s.K%g == 0 || g%s.K == 0:
	case s.K < p.K:
		return s, fmt.Errorf("v5_quant: blocks %s: bk must be a multiple or a divisor of the %d elements of k that share a scale", s, g)
	case s.K > g:
		s.K = tile.Ceil(s.K, g) * g
	}
	return s, nil
}
