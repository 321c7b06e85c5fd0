package problem

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"matladder/tile"
)

// Norm asks for the rows of x (rows×cols), each brought to one size and multiplied by weights:
//
//	layer norm  o = (x − mean) / √(variance + ε) · w + b
//	RMS norm    o = x / √(mean of squares + ε) · w
//
// The variance is the mean of (x − mean)². w and b are (1×cols), in the dtype of x. With
// Offset the weights are 1 + w, as Gemma stores them. With Residual the norm is not of x
// but of sum = x + residual, which is an output too; it is rounded to the dtype of x before
// the norm sees it, so that o is the same as where the addition stands by itself.
//
// All between is float32, sums of squares among it: elements of a row lie within ±2^63/√cols, 3e17
// of 1000 columns. The squares of rows beyond overflow, and o is 0 or NaN, as in PyTorch and JAX.
// Squares below float32's numbers count for nothing beside ε, which is at least 1e-30.
type Norm struct {
	Rows, Cols int
	X, Out     tile.Dtype // float32 or bfloat16; w, b, residual and sum are as x
	RMS        bool
	Offset     bool
	Residual   bool
	Epsilon    float64 // 0 for 1e-5; at least 1e-30
}

// NormFamily is the family of Norm. What is asked is spelled as the dtype of x and, behind a
// colon, words joined by +: layer (said or not) or rms, offset, residual, eps and a number,
// and out and the dtype of o where it is another.
//
//	float32
//	bfloat16:rms+residual
//	bfloat16:rms+offset+eps1e-6+outfloat32
var NormFamily = &Family{
	Name: "norm", Title: "layer and RMS norms", Figure: PerBytes,
	Sizes:    []Size{{Name: "rows"}, {Name: "cols"}},
	Dtypes:   []string{"float32", "bfloat16", "bfloat16:rms+residual"},
	Examples: []string{"float32:rms+offset+eps1e-6", "float32:residual+outbfloat16"},
	Sample:   Sizes{135, 150},
	Parse:    parseWords(completeNorm),
	Complete: completeNorm,
	Make:     fromWords(makeNorm),
}

func completeNorm(a Asked) (Asked, error) {
	if a.B != tile.InvalidDtype || a.Quant != NoQuant || a.Epilogue != "" {
		return a, fmt.Errorf("a norm has one dtype of operands, and neither quantization nor epilogue")
	}
	return completed(makeNorm(Sizes{1, 1}, a))
}

func makeNorm(s Sizes, a Asked) (Norm, error) {
	p := Norm{Rows: s[0], Cols: s[1], X: a.A, Out: a.Out}
	if p.Out == tile.InvalidDtype {
		p.Out = p.X
	}
	err := eachWord(a.Options, p.read)
	return p, err
}

// normWords are those of NormFamily but the dtype of o, which has a place of its own.
var normWords = []word[Norm]{
	{"layer", "", func(p *Norm, _ string) bool { p.RMS = false; return true }, nil},
	flag("rms", func(p *Norm) *bool { return &p.RMS }),
	flag("offset", func(p *Norm) *bool { return &p.Offset }),
	flag("residual", func(p *Norm) *bool { return &p.Residual }),
	number("eps", "want eps and a positive number, as in eps1e-6", 0, 'g', func(p *Norm) *float64 { return &p.Epsilon }),
}

// read sets what one word says.
func (p *Norm) read(word string) (err error) {
	if name, ok := strings.CutPrefix(word, "out"); ok {
		p.Out, err = tile.ParseDtype(name)
		return err
	}
	if err = readWord(normWords, p, word); err == errUnread {
		err = fmt.Errorf("%q: want layer, rms, offset, residual, eps1e-6 or outfloat32, joined by +", word)
	}
	return err
}

// Eps is what is added under the root.
func (p Norm) Eps() float64 { return cmp.Or(p.Epsilon, 1e-5) }

// Family is NormFamily.
func (Norm) Family() *Family { return NormFamily }

// Sizes are rows and cols.
func (p Norm) Sizes() Sizes { return Sizes{p.Rows, p.Cols} }

// Asked is all but the sizes.
func (p Norm) Asked() Asked {
	return Asked{A: p.X, Acc: tile.Float32, Out: p.Out, Options: saidWords(normWords, &p)}
}

// Operands are x, the residual, the weights, o, and the sum of x and the residual.
func (p Norm) Operands() []Operand {
	shape, row := []int{p.Rows, p.Cols}, []int{1, p.Cols}
	list := []Operand{{Name: "x", Dtype: p.X, Shape: shape}}
	if p.Residual {
		list = append(list, Operand{Name: "residual", Dtype: p.X, Shape: shape})
	}
	list = append(list, Operand{Name: "w", Dtype: p.X, Shape: row})
	if !p.RMS {
		list = append(list, Operand{Name: "b", Dtype: p.X, Shape: row})
	}
	list = append(list, Operand{Name: "o", Dtype: p.Out, Shape: shape, Out: true})
	if p.Residual {
		list = append(list, Operand{Name: "sum", Dtype: p.X, Shape: shape, Out: true})
	}
	return list
}

// Sides are the rows of a block; its columns are all.
func (p Norm) Sides() []Side { return []Side{{"rows", p.Rows, p.X, 0}} }

// FLOPs is, for each element, 4 of an RMS norm (a square, its sum, two products) and 7 of a layer
// norm (a sum, a difference, and the weight's sum besides), and one more for the residual.
func (p Norm) FLOPs() int64 {
	n := int64(7)
	if p.RMS {
		n = 4
	}
	if p.Residual {
		n++
	}
	return n * int64(p.Rows) * int64(p.Cols)
}

// Bytes are those of all operands, each once.
func (p Norm) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtypes.
func (p Norm) String() string { return fmt.Sprintf("%s %s→%s", short(p.Rows, p.Cols), p.X, p.Out) }

// Validate returns an error if the problem makes no sense on any machine.
func (p Norm) Validate() error {
	if least := 1e-30; !(p.Eps() >= least && p.Eps() <= math.MaxFloat32) {
		return fmt.Errorf("norm: eps%v: want a number of at least %v that float32 holds", p.Epsilon, least)
	}
	return validRows(p.Rows, p.Cols, p.X, p.Out)
}
