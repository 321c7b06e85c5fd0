package problem

import (
	"fmt"

	"matladder/tile"
)

// Softmax is o (rows×cols) = e^x over the sum of its row, row by row of x (rows×cols).
type Softmax struct {
	Rows, Cols int
	X, Out     tile.Dtype // float32 or bfloat16; all between is float32
}

// SoftmaxFamily is the family of Softmax. What is asked is spelled as the dtype of x, and
// that of o behind a colon where it is another.
var SoftmaxFamily = &Family{
	Name: "softmax", Title: "row-wise softmax", Figure: PerBytes,
	Sizes:    []Size{{Name: "rows"}, {Name: "cols"}},
	Dtypes:   []string{"float32", "bfloat16"},
	Sample:   Sizes{150, 190},
	Parse:    parseDtypes(completeSoftmax),
	Complete: completeSoftmax,
	Make:     func(s Sizes, a Asked) Problem { return Softmax{Rows: s[0], Cols: s[1], X: a.A, Out: a.Out} },
}

func completeSoftmax(a Asked) (Asked, error) {
	if a.B != tile.InvalidDtype || a.Quant != NoQuant || a.Epilogue != "" || a.Options != "" {
		return a, fmt.Errorf("a softmax has one operand, and neither quantization, epilogue nor options")
	}
	if a.Out == tile.InvalidDtype {
		a.Out = a.A
	}
	return a, Softmax{1, 1, a.A, a.Out}.Validate()
}

// Family is SoftmaxFamily.
func (Softmax) Family() *Family { return SoftmaxFamily }

// Sizes are rows and cols.
func (p Softmax) Sizes() Sizes { return Sizes{p.Rows, p.Cols} }

// Asked is all but the sizes.
func (p Softmax) Asked() Asked { return Asked{A: p.X, Acc: tile.Float32, Out: p.Out} }

// Operands are x and o.
func (p Softmax) Operands() []Operand {
	shape := []int{p.Rows, p.Cols}
	return []Operand{{Name: "x", Dtype: p.X, Shape: shape}, {Name: "o", Dtype: p.Out, Shape: shape, Out: true}}
}

// Sides are the rows of a block; its columns are all.
func (p Softmax) Sides() []Side { return []Side{{"rows", p.Rows, p.X, 0}} }

// FLOPs is 5 for each element: the largest, a difference, an exponential, a sum and a quotient.
func (p Softmax) FLOPs() int64 { return 5 * int64(p.Rows) * int64(p.Cols) }

// Bytes are those of x and o, each once.
func (p Softmax) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtypes.
func (p Softmax) String() string { return fmt.Sprintf("%s %s→%s", short(p.Rows, p.Cols), p.X, p.Out) }

// Validate returns an error if the problem makes no sense on any machine.
func (p Softmax) Validate() error { return validRows(p.Rows, p.Cols, p.X, p.Out) }
