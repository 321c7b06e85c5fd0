// Package ex1 is the exercise of lesson 1: fuse an activation.
//
// The kernel is v1's: one program that sees whole arrays. The problem asks for
// relu(a @ b), that is the product with every negative element set to 0.
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
	t.Store(o, tile.Cast(product, p.Out)) // YOUR TURN: the activation is missing
	return t.Programs()
}
