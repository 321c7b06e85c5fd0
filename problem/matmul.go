package problem

import (
	"fmt"
	"math"

	"matladder/tile"
)

// Matmul is o (m×n) = a (m×k) @ b (k×n), Batch times over.
type Matmul struct {
	Batch, M, K, N int
	A, B, Acc, Out tile.Dtype
	TransB         bool // b is stored n×k
	Quant          Quant
	Bias           bool // a float32 row of n, added to each row before the activation
	Activation     Activation
	Precision      tile.Precision
}

// New returns the plain problem of one operand dtype: floats accumulate in
// float32 and come out as they went in; integers accumulate and come out in
// int32.
func New(m, k, n int, d tile.Dtype) Matmul {
	acc := tile.DotResult(d, d)
	out := d
	if d.IsInteger() {
		out = acc
	}
	return Matmul{Batch: 1, M: m, K: k, N: n, A: d, B: d, Acc: acc, Out: out}
}

// FLOPs is 2·batch·m·k·n, a count; for integers of operations.
func (p Matmul) FLOPs() int64 {
	return 2 * int64(p.Batch) * int64(p.M) * int64(p.K) * int64(p.N)
}

// Bytes are those of a, b and o with their scales, zero points and the bias, each once: the least
// that can move.
func (p Matmul) Bytes() int64 {
	b, m, k, n := int64(p.Batch), int64(p.M), int64(p.K), int64(p.N)
	all := p.A.Bytes(b*m*k) + p.B.Bytes(b*k*n) + p.Out.Bytes(b*m*n) + b*p.scaleBytes()
	if p.Bias {
		all += tile.Float32.Bytes(b * n)
	}
	return all
}

// Shape is m×k×n written with x, or m alone if the three are equal.
func (p Matmul) Shape() string { return short(p.M, p.K, p.N) }

func (p Matmul) String() string {
	if p.Batch > 1 {
		return fmt.Sprintf("%d× %s %s×%s→%s", p.Batch, p.Shape(), p.A, p.B, p.Out)
	}
	return fmt.Sprintf("%s %s×%s→%s", p.Shape(), p.A, p.B, p.Out)
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Matmul) Validate() error {
	if err := positive(dim{"batch", p.Batch}, dim{"m", p.M}, dim{"k", p.K}, dim{"n", p.N}); err != nil {
		return err
	}
	// 16 times as much leaves room for bytes and for sums of several arrays.
	if 16*2*float64(p.Batch)*float64(p.M)*float64(p.K)*float64(p.N) > math.MaxInt64 {
		return fmt.Errorf("size %dx%dx%dx%d overflows: its FLOPs do not fit 64 bits", p.Batch, p.M, p.K, p.N)
	}
	a, b := p.Factors()
	if acc := tile.DotResult(a, b); acc == tile.InvalidDtype {
		return fmt.Errorf("no product of %s and %s", a, b)
	} else if p.Acc != acc {
		return fmt.Errorf("a product of %s and %s accumulates in %s, not %s", a, b, acc, p.Acc)
	}
	if _, err := p.Scheme(); err != nil {
		return err
	}
	return p.Epilogue().validate(p)
}
