package problem

import (
	"fmt"
	"math"

	"matladder/tile"
)

// GateOrder is how the weights of the experts that a token chooses follow from its logits.
type GateOrder string

// The orders. Whichever it is, the experts of the largest logits are chosen, the first of
// equal ones.
const (
	// TopFirst is softmax over the logits of the chosen: their weights sum to 1.
	TopFirst GateOrder = "top"
	// SoftmaxFirst is softmax over all experts, of which the chosen keep their part.
	SoftmaxFirst GateOrder = "softmax"
	// Renormalized is SoftmaxFirst, divided by the sum of what the chosen keep: in exact
	// numbers it is TopFirst, in float32 it is rounded otherwise.
	Renormalized GateOrder = "renormalized"
)

// Experts is how the tokens of a layer go to its experts and back:
//
//	logits (Tokens×Experts) ─► Choices experts a token, and a weight for each
//	x (Tokens×Dim) ─► rows (Rows×Dim), sorted by expert ─► … ─► y (Rows×Dim)
//	o (Tokens×Dim) = Σ over a token's choices of weight · its row of y
//
// With a Capacity, each expert has so many rows: choices beyond it are dropped, in the order
// of tokens and of each token's choices, and rows that nobody chose are 0. Without, every
// choice has a row.
type Experts struct {
	Tokens, Dim, Experts, Choices int
	Capacity                      int // rows of each expert; 0 for as many as are chosen
	Order                         GateOrder
	Dtype                         tile.Dtype // of x, rows, y and o: float32 or bfloat16; logits and weights are float32
}

// Rows are those of all experts together.
func (p Experts) Rows() int {
	if p.Capacity > 0 {
		return p.Experts * p.Capacity
	}
	return p.Tokens * p.Choices
}

// String is the sizes and the dtype.
func (p Experts) String() string {
	s := fmt.Sprintf("%s to %d of %d experts %s", short(p.Tokens, p.Dim), p.Choices, p.Experts, p.Dtype)
	if p.Capacity > 0 {
		s += fmt.Sprintf(", %d each", p.Capacity)
	}
	return s
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Experts) Validate() error {
	if err := positive(dim{"tokens", p.Tokens}, dim{"dim", p.Dim}, dim{"experts", p.Experts}, dim{"choices", p.Choices}); err != nil {
		return err
	}
	tokens, rows := float64(p.Tokens), max(float64(p.Tokens)*float64(p.Choices), float64(p.Experts)*float64(p.Capacity))
	switch {
	case p.Choices > p.Experts:
		return fmt.Errorf("%d choices of %d experts: a token chooses an expert once at most", p.Choices, p.Experts)
	case p.Capacity < 0:
		return fmt.Errorf("capacity %d: want the rows of an expert, or 0 for as many as are chosen", p.Capacity)
	case p.Order != TopFirst && p.Order != SoftmaxFirst && p.Order != Renormalized:
		return fmt.Errorf("order %q: want %s, %s or %s", p.Order, TopFirst, SoftmaxFirst, Renormalized)
	case rows >= math.MaxInt32 || 4*rows*float64(p.Dim) > math.MaxInt64 || 4*tokens*float64(p.Experts) > math.MaxInt64:
		return fmt.Errorf("size %s overflows: its rows do not fit 32 bits, or its bytes 64", short(p.Tokens, p.Dim, p.Experts, p.Choices))
	}
	return floats(p.Dtype)
}

// Exchanged asks for the products of rows with the matrices of their experts, where tokens
// and experts are spread over devices: each has the tokens of Each and an equal share of its
// experts, and rows go to the device of their expert and come back:
//
//	y (Rows×N) = rows (Rows×Dim) · w[expert of the row] (Experts/Devices×Dim×N on each device)
//
// Each has a Capacity, so that all devices send each other as many rows.
type Exchanged struct {
	Each       Experts // of one device: its tokens, and all experts
	N, Devices int
}

// Share is how many experts a device has.
func (p Exchanged) Share() int { return p.Each.Experts / p.Devices }

// String is the sizes and the dtype.
func (p Exchanged) String() string {
	return fmt.Sprintf("%s on each of %d devices, to %d columns", p.Each, p.Devices, p.N)
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Exchanged) Validate() error {
	if err := positive(dim{"n", p.N}, dim{"devices", p.Devices}); err != nil {
		return err
	}
	if err := p.Each.Validate(); err != nil {
		return err
	}
	switch {
	case p.Each.Experts%p.Devices != 0:
		return fmt.Errorf("%d experts: %d devices cannot have equal shares of them: take a multiple of %d", p.Each.Experts, p.Devices, p.Devices)
	case p.Each.Capacity == 0:
		return fmt.Errorf("experts without a capacity: devices send each other equal numbers of rows")
	case 8*float64(p.Devices)*float64(p.Each.Rows())*max(float64(p.N), float64(p.Each.Dim)) > math.MaxInt64 ||
		8*float64(p.Each.Experts)*float64(p.Each.Dim)*float64(p.N) > math.MaxInt64:
		return fmt.Errorf("size %s overflows: its bytes do not fit 64 bits", short(p.Each.Rows(), p.Each.Dim, p.N, p.Devices))
	}
	return nil
}
