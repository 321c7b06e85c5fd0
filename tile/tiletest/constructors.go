package tiletest

import "matladder/tile"

// Attention is causal self-attention with grouped queries in one pass over blocks of keys:
// kvHeads heads of k and v serve heads heads of q.
func Attention(batch, heads, kvHeads, seq, dim, bq, bk int) ([]*tile.Program, error) {
	return attention{batch, heads, kvHeads, seq, dim, bq, bk}.programs()
}

// Batched is a product for each element of a batch, whose operands may be stored transposed,
// with an activation.
func Batched(batch int, sizes [3]int, blocks tile.Blocks, transA, transB bool, activate func(tile.Value) *tile.Expr) ([]*tile.Program, error) {
	return batched{batch, sizes[0], sizes[1], sizes[2], blocks.M, blocks.K, blocks.N, transA, transB, activate}.programs()
}

// Grouped multiplies each block of rows by the weights of the expert that a table names.
func Grouped(experts, rows, k, n int, blocks tile.Blocks) ([]*tile.Program, error) {
	return grouped{experts, rows, k, n, blocks.M, blocks.K, blocks.N}.programs()
}

// DynamicQuant multiplies float32 rows by int8 weights in two programs: the first quantizes
// each row by its largest absolute value, the second multiplies integers and scales the sums.
func DynamicQuant(m, k, n int, blocks tile.Blocks) ([]*tile.Program, error) {
	return dynamicQuant{m, k, n, blocks.M, blocks.K, blocks.N}.programs()
}
