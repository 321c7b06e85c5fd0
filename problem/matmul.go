package problem

import (
	"fmt"
	"math"
	"strings"

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

// New returns the plain problem of one operand dtype: floats accumulate in float32 and come out as
// they went in; integers accumulate and come out in int32.
func New(m, k, n int, d tile.Dtype) Matmul {
	acc := tile.DotResult(d, d)
	out := d
	if d.IsInteger() {
		out = acc
	}
	return Matmul{Batch: 1, M: m, K: k, N: n, A: d, B: d, Acc: acc, Out: out}
}

// FLOPs is 2·batch·m·k·n, a count; for integers of operations.
func (p Matmul) FLOPs() int64 { return 2 * int64(p.Batch) * int64(p.M) * int64(p.K) * int64(p.N) }

// Bytes are those of a, b and o with their scales, zero points and the bias, each once: the least
// that can move.
func (p Matmul) Bytes() int64 {
	return BytesOf(p) + int64(p.Batch)*p.scaleBytes()
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
		list = append(list, Operand{Name: "bias", Dtype: tile.Float32, Shape: of(1, p.N)})
	}
	return append(list, Operand{Name: "o", Dtype: p.Out, Shape: of(p.M, p.N), Out: true})
}

// Sides are bm, bk and bn.
func (p Matmul) Sides() []Side { return productSides(p.M, p.K, p.N, p.A, p.B) }

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

// Plain returns why p is more than one unquantized product of float32, bfloat16,
// float16 or int8 operands, or nil.
func (p Matmul) Plain() error {
	switch {
	case p.Quant != NoQuant:
		return fmt.Errorf("quantization %s needs a kernel with an epilogue", p.Quant)
	case p.Batch != 1:
		return fmt.Errorf("batch %d: only 1 is supported", p.Batch)
	case p.Epilogue() != "":
		return fmt.Errorf("%s needs a kernel with an epilogue", p.Epilogue())
	}
	return p.product()
}

// Scaled returns why p is more than a product, batched or not, with optional
// scales, bias and activation, or nil. Scales that belong to groups of k are Grouped's.
func (p Matmul) Scaled() error {
	switch s, err := p.Scheme(); {
	case err != nil:
		return err
	case s.B == Block:
		return fmt.Errorf("quantization %s: scales of groups of k cannot wait for the epilogue", p.Quant)
	}
	if err := p.Epilogue().validate(p); err != nil {
		return err
	}
	if p.Quant == NoQuant {
		return p.product()
	}
	return p.stored()
}

// Grouped returns why p is more than a product of operands whose groups of k have scales,
// batched or not, with optional bias and activation, or nil.
func (p Matmul) Grouped() error {
	switch s, err := p.Scheme(); {
	case err != nil:
		return err
	case s.B != Block:
		return fmt.Errorf("no groups of k share a scale, as in mxfp8, mxfp4 and per_block128")
	}
	if err := p.Epilogue().validate(p); err != nil {
		return err
	}
	return p.stored()
}

// product checks what every rung takes: operands of one dtype.
func (p Matmul) product() error {
	if err := p.stored(); err != nil {
		return err
	}
	if p.A != p.B {
		return fmt.Errorf("operands of different dtypes (%s and %s) are not supported", p.A, p.B)
	}
	switch p.A {
	case tile.Float32, tile.BFloat16, tile.Float16, tile.Int8:
	default:
		return fmt.Errorf("dtype %s is not supported (float32, bfloat16, float16 and int8 are)", p.A)
	}
	if p.Acc.IsInteger() != p.Out.IsInteger() || p.Out.Bits() < 16 {
		return fmt.Errorf("output %s from an accumulator of %s needs scales", p.Out, p.Acc)
	}
	return nil
}

// stored checks how b lies in memory.
func (p Matmul) stored() error {
	if p.TransB {
		return fmt.Errorf("a transposed b is not supported")
	}
	return nil
}
