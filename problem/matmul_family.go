package problem

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// MatmulFamily is the family of Matmul. What is asked of one is spelled as a dtype of a,
// ×b where b has another, and then in any order what is not usual, each behind a colon:
// the dtype of the output, a quantization, an epilogue.
//
//	bfloat16
//	int8:bfloat16:per_channel+token
//	bfloat16xint4:per_block128:bias+gelu
//	mxfp4:bias (see Formats)
//
// The output of a quantized product is a's dtype if that is wide, else bfloat16.
var MatmulFamily = &Family{
	Name: "matmul", Title: "matrix products", Figure: PerFLOPs,
	Sizes:  []Size{{Name: "m"}, {Name: "k"}, {Name: "n"}, {BatchSize, 1}},
	Dtypes: []string{"float32", "bfloat16", "int8"},
	Examples: []string{
		"int8:bfloat16:per_tensor", "int8:bfloat16:per_channel+token+zero_a+zero_b:bias+gelu", "bfloat16xint4:bfloat16:per_block128",
		"bfloat16xint8:bfloat16:per_channel+dynamic_tensor", "bfloat16xint8:bfloat16:per_channel+dynamic_token",
	},
	Sample: Sizes{150, 70, 190, 1},
	Parse:  parseMatmul, Complete: completeMatmul,
	Make: func(s Sizes, a Asked) Problem { return MakeMatmul(s, a) },
}

// MakeMatmul is MatmulFamily.Make.
func MakeMatmul(s Sizes, a Asked) Matmul {
	p := Matmul{Batch: s[3], M: s[0], K: s[1], N: s[2], A: a.A, B: a.B, Out: a.Out, Quant: a.Quant}
	x, y := p.Factors()
	p.Acc = tile.DotResult(x, y)
	if x == tile.Float32 && y == tile.Float32 {
		p.Precision = a.Precision // a choice for float32 products alone
	}
	return a.Epilogue.Apply(p)
}

// Family is MatmulFamily.
func (Matmul) Family() *Family { return MatmulFamily }

// Sizes are m, k, n and batch.
func (p Matmul) Sizes() Sizes { return Sizes{p.M, p.K, p.N, p.Batch} }

// Asked is all but the sizes, and but TransB, which no sweep asks for.
func (p Matmul) Asked() Asked {
	return Asked{A: p.A, B: p.B, Acc: p.Acc, Out: p.Out, Precision: p.Precision, Quant: p.Quant, Epilogue: p.Epilogue()}
}

// Operands are a, b, a bias and o. Scales and zero points, which package quant knows the
// shapes of, are small beside them and not listed.
func (p Matmul) Operands() []Operand {
	of := func(rows, cols int) []int {
		if p.Batch > 1 {
			return []int{p.Batch, rows, cols}
		}
		return []int{rows, cols}
	}
	list := []Operand{{Name: "a", Dtype: p.A, Shape: of(p.M, p.K)}, {Name: "b", Dtype: p.B, Shape: of(p.K, p.N)}}
	if p.TransB {
		list[1].Shape = of(p.N, p.K)
	}
	if p.Bias {
		list = append(list, Operand{Name: "bias", Dtype: tile.Float32, Shape: []int{1, p.N}})
	}
	return append(list, Operand{Name: "o", Dtype: p.Out, Shape: of(p.M, p.N), Out: true})
}

// Sides are bm, bk and bn.
func (p Matmul) Sides() []Side {
	return productSides(p.M, p.K, p.N, p.A, p.B)
}

// parseMatmul reads what MatmulFamily documents.
func parseMatmul(s string) (Asked, error) {
	words := strings.Split(s, ":")
	given, rest, is := parseFormats(words)
	if !is {
		var two bool
		var err error
		if given, two, err = parseOperands(words[0]); err != nil && two {
			err = fmt.Errorf("dtype %q: %w", words[0], err)
		}
		switch {
		case err != nil && (strings.Contains(words[0], "mx") || strings.Contains(words[0], "nv")):
			return Asked{}, fmt.Errorf("dtype %q: want formats as in mxfp4, mxfp8xmxfp4, bfloat16xnvfp4 (known: %s)", s, strings.Join(OperandNames(), ", "))
		case err != nil:
			return Asked{}, err
		}
	}
	for _, word := range rest {
		if err := given.read(word); err != nil {
			if is && given.Quant != NoQuant && strings.HasPrefix(word, "e") {
				err = fmt.Errorf("%s: a format has its scales already (float4_e2m1fn:per_block32+token_block+e8m0_up says all of it)", word)
			}
			return Asked{}, fmt.Errorf("dtype %q: %w", s, err)
		}
	}
	return completeMatmul(given)
}

// read sets what one word says.
func (a *Asked) read(word string) error {
	again := fmt.Errorf("%s: said twice", word)
	if d, err := tile.ParseDtype(word); err == nil {
		if a.Out != tile.InvalidDtype {
			return again
		}
		a.Out = d
		return nil
	}
	if e, err := ParseEpilogue(word); err == nil && word != "" {
		if a.Epilogue != "" {
			return again
		}
		a.Epilogue = e
		return nil
	}
	q, err := ParseQuant(word)
	switch {
	case word == "" || err != nil:
		return fmt.Errorf("%q is neither an output dtype nor an epilogue (bias, gelu, bias+relu) nor a quantization (words joined by +: %s)",
			word, strings.Join(quantWords(), ", "))
	case a.Quant != NoQuant:
		return again
	}
	a.Quant = q
	return nil
}

// completeMatmul fills in the dtypes that are usual and checks the whole.
func completeMatmul(a Asked) (Asked, error) {
	if a.B == tile.InvalidDtype {
		a.B = a.A
	}
	switch {
	case a.Options != "":
		return a, fmt.Errorf("%s: a matmul has no options", a.Options)
	case a.Out != tile.InvalidDtype:
	case a.Quant != NoQuant && a.A.Bits() > 8:
		a.Out = a.A
	case a.Quant != NoQuant:
		a.Out = tile.BFloat16
	case a.A != a.B:
		return a, fmt.Errorf("operands of two dtypes (%s and %s) need an output dtype as well, or a quantization", a.A, a.B)
	default:
		a.Out = New(1, 1, 1, a.A).Out
	}
	return a, MakeMatmul(Sizes{1, 1, 1, 1}, a).Validate()
}
