package problem

import (
	"fmt"

	"matladder/tile"
)

// Plain returns why p is more than one unquantized product of float32, bfloat16
// or int8 operands, or nil.
func (p Matmul) Plain() error {
	if p.Quant != NoQuant {
		return fmt.Errorf("quantization %s needs a kernel with an epilogue", p.Quant)
	}
	return p.single()
}

// Scaled returns why p is more than Plain with optional per-tensor scales, or
// nil.
func (p Matmul) Scaled() error {
	switch p.Quant {
	case NoQuant:
	case PerTensor:
		if p.A != tile.Int8 || p.Out.IsInteger() {
			return fmt.Errorf("per-tensor scales take int8 operands to a float output, not %s to %s", p.A, p.Out)
		}
	default:
		return fmt.Errorf("unknown quantization %q", p.Quant)
	}
	return p.single()
}

// single checks what every rung takes.
func (p Matmul) single() error {
	switch {
	case p.Batch != 1:
		return fmt.Errorf("batch %d: only 1 is supported", p.Batch)
	case p.TransB:
		return fmt.Errorf("a transposed b is not supported")
	case p.Activation != NoActivation:
		return fmt.Errorf("activation %s is not supported", p.Activation)
	case p.A != p.B:
		return fmt.Errorf("operands of different dtypes (%s and %s) are not supported", p.A, p.B)
	}
	switch p.A {
	case tile.Float32, tile.BFloat16, tile.Int8:
	default:
		return fmt.Errorf("dtype %s is not supported (float32, bfloat16 and int8 are)", p.A)
	}
	if p.Quant == NoQuant && p.Acc.IsInteger() != p.Out.IsInteger() || p.Out.Bits() < 16 {
		return fmt.Errorf("output %s from an accumulator of %s needs scales", p.Out, p.Acc)
	}
	return nil
}
