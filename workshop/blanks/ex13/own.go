// Package ex13 is the exercise of lesson 13: a kernel of your own.
//
// A search looks for the best match of each query. A query is a row of a, float32[m, k], a text a
// row of b, float32[n, k], and how well they match the sum of the products of their elements. The
// kernel says for each query how well the best text matches: o, float32[m, 1].
package ex13

import "matladder/tile"

// Build writes the kernel with blocks of s.M queries and s.N texts, which divides n. Rows are
// short: a block has all k columns. The m·n matches need not be anywhere in memory.
func Build(m, k, n int, s tile.Blocks) ([]*tile.Program, error) {
	// YOUR TURN: t := tile.New("ex13"), then t.Axis, t.In, t.Out and t.Scratch, then the body of
	// t.When, t.Fill and t.Store, and at last return t.Programs(). Exercise 8 has one of each.
	return nil, nil
}
