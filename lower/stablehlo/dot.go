package stablehlo

import (
	"fmt"
	"math"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/problem"
	"matladder/tile"
)

// matmul is the dot_general of a baseline: operands as they are stored, result
// in p.Acc.
func (t *text) matmul(p problem.Matmul, a, b value) value {
	elem := operand(p.A, p.B)
	a, b = t.As(a, elem), t.As(b, elem)
	batch := 0
	if p.Batch > 1 {
		batch = 1
	}
	return t.dot(a, b, batch, false, p.TransB, storage(p.Acc), p.Precision)
}

// operand is the element type in which operands meet: their own if it is one,
// else one wide enough for every value of both. Plugins differ in how they take
// two of 4 bits; widened, all take it, and fold the conversion into the product
// where they can.
func operand(a, b tile.Dtype) string {
	switch {
	case a == b && a.Bits() > 4:
		return storage(a)
	case a.IsFloat():
		return "bf16" // floats of up to 8 bits are the only ones that Dot mixes
	case a == tile.Uint8 || b == tile.Uint8:
		return "i32"
	}
	return "i8"
}

// dot is the product of two matrices, or of as many as the batch leading dimensions count, 0
// or 1. Behind these a may have more dimensions than a matrix, which the result has too: all
// its matrices there meet one of b. transA and transB say that an operand stands transposed.
func (t *text) dot(a, b value, batch int, transA, transB bool, result string, p tile.Precision) value {
	m, ka := len(a.Dims)-2, len(a.Dims)-1
	if transA {
		m, ka = ka, m
	}
	kb, n := batch, batch+1
	if transB {
		kb, n = n, kb
	}
	to := tensor{Elem: result, Dims: append(append([]int(nil), a.Dims[:len(a.Dims)-2]...), a.Dims[m], b.Dims[n])}
	batching := ""
	if batch > 0 {
		batching = "batching_dims = [0] x [0], "
	}
	precision := strings.ToUpper(p.String())
	return t.Op(to, "dot_general", fmt.Sprintf("%scontracting_dims = [%d] x [%d], precision = [%s, %s]", batching, ka, kb, precision, precision), a, b)
}

// normalCDF is Φ(x), elementwise.
func (t *text) normalCDF(x value) value {
	x = t.times(x, -math.Sqrt2/2)
	v := t.Fresh(x.Type)
	t.Line("%s = chlo.erfc %s : %s -> %s", v.Name, x.Name, mlir.Tensor(x.Type), mlir.Tensor(x.Type))
	return t.times(v, 0.5)
}

var errUnknownActivation = fmt.Errorf("no such activation")
