package problem

import (
	"fmt"
	"math"

	"matladder/tile"
)

// Grouped asks for products of rows with the matrix of the group that each is of, as the
// experts of a model are:
//
//	o (Rows×N) = x (Rows×K) · w[group of the row] (Groups×K×N)
//
// Rows are sorted by group. Which row each group begins at is data: offsets (Groups + 1) is
// a table from 0 to Rows, and a group may have no rows. Sums are float32.
type Grouped struct {
	Rows, K, N, Groups int
	Dtype              tile.Dtype // of x, w and o: float32 or bfloat16
}

// GroupedFamily is the family of Grouped. What is asked is spelled as a dtype.
var GroupedFamily = &Family{
	Name: "grouped", Title: "grouped matrix products", Figure: PerFLOPs,
	Sizes:    []Size{{Name: "rows"}, {Name: "k"}, {Name: "n"}, {"groups", 8}},
	Dtypes:   []string{"float32", "bfloat16"},
	Sample:   Sizes{150, 40, 135, 5},
	Parse:    parseDtypes(completeGrouped),
	Complete: completeGrouped,
	Make: func(s Sizes, a Asked) Problem {
		return Grouped{Rows: s[0], K: s[1], N: s[2], Groups: s[3], Dtype: a.A}
	},
}

func completeGrouped(a Asked) (Asked, error) {
	if a.B != tile.InvalidDtype && a.B != a.A || a.Out != tile.InvalidDtype && a.Out != a.A || a.Quant != NoQuant || a.Epilogue != "" || a.Options != "" {
		return a, fmt.Errorf("a grouped product has one dtype, and neither quantization, epilogue nor options")
	}
	p := Grouped{1, 1, 1, 1, a.A}
	return p.Asked(), p.Validate()
}

// Product is the product of so many rows with the matrix of one group.
func (p Grouped) Product(rows int) Matmul { return New(rows, p.K, p.N, p.Dtype) }

// Family is GroupedFamily.
func (Grouped) Family() *Family { return GroupedFamily }

// Sizes are rows, k, n and groups.
func (p Grouped) Sizes() Sizes { return Sizes{p.Rows, p.K, p.N, p.Groups} }

// Asked is all but the sizes.
func (p Grouped) Asked() Asked { return Asked{A: p.Dtype, B: p.Dtype, Acc: tile.Float32, Out: p.Dtype} }

// Operands are the offsets, x, w and o.
func (p Grouped) Operands() []Operand {
	return []Operand{
		{Name: "offsets", Dtype: tile.Int32, Shape: []int{p.Groups + 1}},
		{Name: "x", Dtype: p.Dtype, Shape: []int{p.Rows, p.K}},
		{Name: "w", Dtype: p.Dtype, Shape: []int{p.Groups, p.K, p.N}},
		{Name: "o", Dtype: p.Dtype, Shape: []int{p.Rows, p.N}, Out: true},
	}
}

// Sides are those of a block of each product.
func (p Grouped) Sides() []Side { return productSides(p.Rows, p.K, p.N, p.Dtype, p.Dtype) }

// FLOPs counts multiplications and additions of each row with one matrix.
func (p Grouped) FLOPs() int64 { return 2 * int64(p.Rows) * int64(p.K) * int64(p.N) }

// Bytes are those of all operands, each once.
func (p Grouped) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtype.
func (p Grouped) String() string {
	return fmt.Sprintf("%s in %d groups %s", short(p.Rows, p.K, p.N), p.Groups, p.Dtype)
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Grouped) Validate() error {
	if err := positive(dim{"rows", p.Rows}, dim{"k", p.K}, dim{"n", p.N}, dim{"groups", p.Groups}); err != nil {
		return err
	}
	if p.Rows >= math.MaxInt32 || 8*float64(p.K)*float64(p.N)*float64(p.Groups) > math.MaxInt64 || 8*float64(p.Rows)*float64(p.K)*float64(p.N) > math.MaxInt64 {
		return fmt.Errorf("size %s overflows: its rows do not fit 32 bits, or its bytes or operations 64", short(p.Rows, p.K, p.N, p.Groups))
	}
	return floats(p.Dtype)
}
