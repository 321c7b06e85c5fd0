package problem

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// A Format is a block-scaled one by its usual name: elements whose groups of k share a narrow
// scale.
type Format struct {
	Name   string
	Dtype  tile.Dtype // of an element
	Group  int        // elements of k that share a scale
	Scales tile.Dtype
}

// Formats are those that sweeps name in the place of a dtype: the ones of the OCP
// Microscaling specification 1.0, and NVIDIA's. An operand mxfp4 alone is quantization of
// the weights (bfloat16xmxfp4), of two both have scales (mxfp8xmxfp4), and
// bfloat16xmxfp4:dynamic quantizes a inside the launch.
//
// Elements of mxint8 count as integers here, so that its scales are those of the
// specification, whose elements are 64 times as small, by 1/64.
var Formats = []Format{
	{"mxfp8", tile.Float8E4M3FN, 32, tile.Float8E8M0FNU},
	{"mxfp4", tile.Float4E2M1FN, 32, tile.Float8E8M0FNU},
	{"mxint8", tile.Int8, 32, tile.Float8E8M0FNU},
	{"nvfp4", tile.Float4E2M1FN, 16, tile.Float8E4M3FN},
}

// dynamicWord says of a Format that a is quantized to it inside the launch.
const dynamicWord = "dynamic"

// parseFormats reads operands of which b is a Format, and takes the words behind them that
// belong to it; is is false if b is none.
func parseFormats(words []string) (asked Asked, rest []string, is bool) {
	text := strings.ReplaceAll(words[0], "×", "x")
	a, b := text, text
	for i, c := range text { // names have an x as well
		if _, _, err := parseOperand(text[:i]); c == 'x' && err == nil {
			a, b = text[:i], text[i+1:]
		}
	}
	ofA, dtypeA, errA := parseOperand(a)
	ofB, dtypeB, errB := parseOperand(b)
	if errA != nil || errB != nil || ofB == nil {
		return Asked{}, words[1:], false
	}
	s := Scheme{B: Block, Block: ofB.Group, Scales: ofB.Scales}
	rest = words[1:]
	switch {
	case ofA != nil && (ofA.Group != ofB.Group || ofA.Scales != ofB.Scales):
		return Asked{}, words[1:], false
	case ofA != nil:
		s.A = TokenBlock
	case len(rest) > 0 && rest[0] == dynamicWord:
		rest, s.A, s.Dynamic = rest[1:], TokenBlock, true
	}
	return Asked{A: dtypeA, B: dtypeB, Quant: s.Quant()}, rest, true
}

// parseOperand reads a Format, or a dtype.
func parseOperand(text string) (*Format, tile.Dtype, error) {
	for i, f := range Formats {
		if f.Name == text {
			return &Formats[i], f.Dtype, nil
		}
	}
	d, err := tile.ParseDtype(text)
	return nil, d, err
}

// ElementOf reads a dtype, or a Format for the dtype of its elements.
func ElementOf(name string) (tile.Dtype, error) {
	_, d, err := parseOperand(name)
	return d, err
}

// FormatNames names operands a and b by their formats: mxfp4, mxfp8×mxfp4, bfloat16×mxfp4; ""
// where groups of b are of none.
func FormatNames(a, b string, q Quant) string {
	s, err := q.Scheme()
	if err != nil || s.B != Block || s.Up {
		return ""
	}
	name := func(dtype string) string {
		for _, f := range Formats {
			if f.Dtype.String() == dtype && f.Group == s.Block && f.Scales == s.Scales {
				return f.Name
			}
		}
		return ""
	}
	ofB := name(b)
	if s.A == TokenBlock && !s.Dynamic {
		a = name(a)
	}
	switch {
	case ofB == "" || a == "":
		return ""
	case a == ofB:
		return ofB
	}
	return a + "×" + ofB
}

// OperandNames lists the dtypes and the formats that operands may have.
func OperandNames() []string {
	return append(each.Of(tile.Dtypes(), tile.Dtype.String), each.Of(Formats, func(f Format) string { return f.Name })...)
}

// Activation is what the epilogue does to each element before the last cast.
type Activation string

// The activations.
const (
	NoActivation Activation = ""
	Relu         Activation = "relu"
	Gelu         Activation = "gelu" // by the error function, not its approximation
	Silu         Activation = "silu"
)

var activations = []Activation{Relu, Gelu, Silu}

// Epilogue is a bias and an activation in one word: bias, gelu, bias+gelu; "" for neither.
type Epilogue string

const biasWord = "bias"

// Epilogue spells what p does to the scaled sums.
func (p Matmul) Epilogue() Epilogue {
	switch {
	case p.Bias && p.Activation != NoActivation:
		return Epilogue(biasWord + "+" + string(p.Activation))
	case p.Bias:
		return biasWord
	}
	return Epilogue(p.Activation)
}

// ParseEpilogue reads an Epilogue.
func ParseEpilogue(s string) (Epilogue, error) {
	rest, bias := strings.CutPrefix(s, biasWord)
	if bias && rest != "" {
		if rest, bias = strings.CutPrefix(rest, "+"); !bias || rest == "" {
			return "", unknownEpilogue(s)
		}
	}
	if rest != "" && !slices.Contains(activations, Activation(rest)) {
		return "", unknownEpilogue(s)
	}
	return Epilogue(s), nil
}

func unknownEpilogue(s string) error {
	return fmt.Errorf("unknown epilogue %q (known: bias, %s, %s, %s, and bias+ one of them)", s, Relu, Gelu, Silu)
}

// Apply returns p with the epilogue e.
func (e Epilogue) Apply(p Matmul) Matmul {
	rest, bias := strings.CutPrefix(string(e), biasWord)
	p.Bias, p.Activation = bias, Activation(strings.TrimPrefix(rest, "+"))
	return p
}

func (e Epilogue) validate(p Matmul) error {
	if _, err := ParseEpilogue(string(e)); err != nil {
		return err
	}
	if e != "" && e != Epilogue(Relu) && p.Acc.IsInteger() && p.Quant == NoQuant {
		return fmt.Errorf("epilogue %s needs a float: the accumulator is %s", e, p.Acc)
	}
	return nil
}
