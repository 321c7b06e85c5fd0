// Package ex1 is the solution of exercise 1.
package ex1

import (
	"matladder/problem"
	"matladder/tile"
)

// Build writes the kernel as one tile program.
func Build(p problem.Matmul) ([]*tile.Program, error) {
	t := tile.New("ex1")
	zero := tile.Const(0)

	a := t.In("a", p.A, tile.Array(p.M, p.K), tile.Block(p.M, p.K).At(zero, zero))
	b := t.In("b", p.B, tile.Array(p.K, p.N), tile.Block(p.K, p.N).At(zero, zero))
	o := t.Out("o", p.Out, tile.Array(p.M, p.N), tile.Block(p.M, p.N).At(zero, zero))

	product := tile.Dot(a, b)
	// The maximum is taken where the product is, in fast memory and in float32:
	// nothing more is moved.
	t.Store(o, tile.Cast(tile.Max(product, tile.Number(0)), p.Out)) // or tile.Relu(product)
	return t.Programs()
}
