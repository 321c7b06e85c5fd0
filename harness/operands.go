package harness

import (
	"fmt"
	"strings"

	"matladder/problem"
	"matladder/tile"
)

// Operands are the dtypes of a problem, how they stand for real numbers, and
// what is done to the sums. They are spelled as a dtype of a, ×b where b has
// another, and then in any order what is not usual, each behind a colon: the
// dtype of the output, a quantization, an epilogue.
//
//	bfloat16
//	int8:bfloat16:per_channel+token
//	bfloat16xint4:per_block128:bias+gelu
//
// The output of a quantized product is a's dtype if that is wide, else bfloat16.
type Operands struct {
	A, B, Out tile.Dtype
	Quant     problem.Quant
	Epilogue  problem.Epilogue
}

func (o Operands) String() string {
	plain := problem.New(1, 1, 1, o.A)
	if o == (Operands{A: o.A, B: plain.B, Out: plain.Out}) {
		return o.A.String()
	}
	s := fmt.Sprintf("%s×%s→%s", o.A, o.B, o.Out)
	for _, word := range []string{string(o.Quant), string(o.Epilogue)} {
		if word != "" {
			s += " " + word
		}
	}
	return s
}

// Problem returns the matmul of shape s on operands o.
func (o Operands) Problem(s Shape, precision tile.Precision) problem.Matmul {
	p := problem.New(s.M, s.K, s.N, o.A)
	p.B, p.Out, p.Quant = o.B, o.Out, o.Quant
	a, b := p.Factors()
	p.Acc = tile.DotResult(a, b)
	if a == tile.Float32 && b == tile.Float32 {
		p.Precision = precision // a choice for float32 products alone
	}
	return o.Epilogue.Apply(p)
}

func plainOperands(d tile.Dtype) Operands {
	p := problem.New(1, 1, 1, d)
	return Operands{A: p.A, B: p.B, Out: p.Out}
}

// parseOperands reads what Operands documents.
func parseOperands(s string) (Operands, error) {
	words := strings.Split(s, ":")
	a, b, two := strings.Cut(strings.ReplaceAll(words[0], "×", "x"), "x")
	var given Operands
	var err error
	if given.A, err = tile.ParseDtype(a); err == nil && two {
		given.B, err = tile.ParseDtype(b)
	}
	if err != nil && two {
		err = fmt.Errorf("dtype %q: %w", words[0], err)
	}
	if err != nil {
		return Operands{}, err
	}
	for _, word := range words[1:] {
		if err := given.read(word); err != nil {
			return Operands{}, fmt.Errorf("dtype %q: %w", s, err)
		}
	}
	return given.complete()
}

// read sets what one word says.
func (o *Operands) read(word string) error {
	again := fmt.Errorf("%s: said twice", word)
	if d, err := tile.ParseDtype(word); err == nil {
		if o.Out != tile.InvalidDtype {
			return again
		}
		o.Out = d
		return nil
	}
	if e, err := problem.ParseEpilogue(word); err == nil && word != "" {
		if o.Epilogue != "" {
			return again
		}
		o.Epilogue = e
		return nil
	}
	q, err := problem.ParseQuant(word)
	switch {
	case word == "" || err != nil:
		return fmt.Errorf("%q is neither an output dtype nor an epilogue (bias, gelu, bias+relu) nor a quantization (words joined by +: %s)",
			word, strings.Join(problem.QuantWords(), ", "))
	case o.Quant != problem.NoQuant:
		return again
	}
	o.Quant = q
	return nil
}

// complete fills in the dtypes that are usual and checks the whole.
func (o Operands) complete() (Operands, error) {
	if o.B == tile.InvalidDtype {
		o.B = o.A
	}
	switch {
	case o.Out != tile.InvalidDtype:
	case o.Quant != problem.NoQuant && o.A.Bits() > 8:
		o.Out = o.A
	case o.Quant != problem.NoQuant:
		o.Out = tile.BFloat16
	case o.A != o.B:
		return Operands{}, fmt.Errorf("operands of two dtypes (%s and %s) need an output dtype as well, or a quantization", o.A, o.B)
	default:
		o.Out = plainOperands(o.A).Out
	}
	return o, o.Problem(Shape{1, 1, 1}, tile.Default).Validate()
}
