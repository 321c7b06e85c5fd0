package problem

import (
	"fmt"

	"matladder/tile"
)

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
