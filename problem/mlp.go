package problem

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"matladder/tile"
)

// MLP asks for the gated half of a model's MLP, two products and what joins them:
//
//	o (Rows×N) = activation(x (Rows×K) · gate (K×N)) · (x · up (K×N)), element by element
//
// The product with the matrix that leads back down is one of Matmul. Weights that are
// narrower than x stand for real numbers by a scale for each column, gate_scale and up_scale
// (1×N, float32), and are multiplied in the dtype of x. Sums are float32.
type MLP struct {
	Rows, K, N int
	X, W       tile.Dtype // of x and o: float32 or bfloat16; of the weights: that, int8 or float8
	Activation GateActivation
}

// GateActivation is what the gate goes through.
type GateActivation string

// The activations of gates.
const (
	GateSilu     GateActivation = "silu"      // x / (1 + e^-x): SwiGLU, as Llama has it
	GateGelu     GateActivation = "gelu"      // by the error function
	GateGeluTanh GateActivation = "gelu_tanh" // by its approximation, as Gemma has it
)

// MLPFamily is the family of MLP. What is asked is spelled as the dtype of x, x and that of
// the weights where it is another, and, behind a colon, the activation if it is not silu.
//
//	bfloat16
//	float32:gelu
//	bfloat16xint8:gelu_tanh
var MLPFamily = &Family{
	Name: "mlp", Title: "gated MLPs", Figure: PerFLOPs,
	Sizes:    []Size{{Name: "rows"}, {Name: "k"}, {Name: "n"}},
	Dtypes:   []string{"float32", "bfloat16"},
	Examples: []string{"float32:gelu", "bfloat16xint8", "bfloat16xfloat8_e4m3fn:gelu_tanh"},
	Sample:   Sizes{150, 70, 135},
	Parse:    parseMLP,
	Complete: completeMLP,
	Make:     func(s Sizes, a Asked) Problem { return makeMLP(s, a) },
}

func makeMLP(s Sizes, a Asked) MLP {
	p := MLP{Rows: s[0], K: s[1], N: s[2], X: a.A, W: a.B, Activation: GateActivation(a.Options)}
	p.Activation = cmp.Or(p.Activation, GateSilu)
	return p
}

func parseMLP(text string) (Asked, error) {
	dtypes, activation, _ := strings.Cut(text, ":")
	a, two, err := parseOperands(dtypes)
	a.Options = activation
	if err == nil {
		a, err = completeMLP(a)
	}
	if err != nil && (two || activation != "") {
		err = fmt.Errorf("dtype %q: %w", text, err)
	}
	return a, err
}

func completeMLP(a Asked) (Asked, error) {
	if a.B == tile.InvalidDtype {
		a.B = a.A
	}
	if a.Out != tile.InvalidDtype && a.Out != a.A || a.Quant != NoQuant || a.Epilogue != "" {
		return a, fmt.Errorf("a gated MLP has the dtypes of x and of the weights, and neither quantization nor epilogue")
	}
	p := makeMLP(Sizes{1, 1, 1}, a)
	return p.Asked(), p.Validate()
}

// Product is one of the two, of Columns columns.
func (p MLP) Product(columns int) Matmul {
	return Matmul{Batch: 1, M: p.Rows, K: p.K, N: columns, A: p.X, B: p.X, Acc: tile.Float32, Out: p.X}
}

// Scaled reports whether the weights have scales.
func (p MLP) Scaled() bool { return p.W != p.X }

// Family is MLPFamily.
func (MLP) Family() *Family { return MLPFamily }

// Sizes are rows, k and n.
func (p MLP) Sizes() Sizes { return Sizes{p.Rows, p.K, p.N} }

// Asked is all but the sizes.
func (p MLP) Asked() Asked {
	a := Asked{A: p.X, B: p.W, Acc: tile.Float32, Out: p.X}
	if p.Activation != GateSilu {
		a.Options = string(p.Activation)
	}
	return a
}

// Operands are x, the weights, their scales and o.
func (p MLP) Operands() []Operand {
	w, row := []int{p.K, p.N}, []int{1, p.N}
	list := []Operand{
		{Name: "x", Dtype: p.X, Shape: []int{p.Rows, p.K}},
		{Name: "gate", Dtype: p.W, Shape: w}, {Name: "up", Dtype: p.W, Shape: w},
	}
	if p.Scaled() {
		list = append(list, Operand{Name: "gate_scale", Dtype: tile.Float32, Shape: row}, Operand{Name: "up_scale", Dtype: tile.Float32, Shape: row})
	}
	return append(list, Operand{Name: "o", Dtype: p.X, Shape: []int{p.Rows, p.N}, Out: true})
}

// Sides are those of a block of each product.
func (p MLP) Sides() []Side { return productSides(p.Rows, p.K, p.N, p.X, p.W) }

// FLOPs counts multiplications and additions of both products.
func (p MLP) FLOPs() int64 { return 4 * int64(p.Rows) * int64(p.K) * int64(p.N) }

// Bytes are those of all operands, each once.
func (p MLP) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtypes.
func (p MLP) String() string {
	s := fmt.Sprintf("%s %s", short(p.Rows, p.K, p.N), p.X)
	if p.Scaled() {
		s += "×" + p.W.String()
	}
	return s
}

// Validate returns an error if the problem makes no sense on any machine.
func (p MLP) Validate() error {
	if err := positive(dim{"rows", p.Rows}, dim{"k", p.K}, dim{"n", p.N}); err != nil {
		return err
	}
	switch {
	case 32*float64(p.Rows)*float64(p.K)*float64(p.N) > math.MaxInt64:
		return fmt.Errorf("size %s overflows: its operations do not fit 64 bits", short(p.Rows, p.K, p.N))
	case p.X != tile.Float32 && p.X != tile.BFloat16:
		return fmt.Errorf("dtype %s is not supported (float32 and bfloat16 are)", p.X)
	case p.Scaled() && p.W != tile.Int8 && p.W != tile.Float8E4M3FN && p.W != tile.Float8E5M2:
		return fmt.Errorf("weights of %s are not supported beside x of %s (%[2]s, int8, float8_e4m3fn and float8_e5m2 are)", p.W, p.X)
	}
	switch p.Activation {
	case GateSilu, GateGelu, GateGeluTanh:
		return nil
	}
	return fmt.Errorf("unknown activation %q of a gate (known: %s, %s, %s)", p.Activation, GateSilu, GateGelu, GateGeluTanh)
}
