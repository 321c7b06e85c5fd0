// Package ex4 is the solution of exercise 4.
package ex4

import "matladder/tile"

// element is the size of a float32, in bytes.
const element = 4

// V2 reads b whole for each row panel of a.
func V2(m, k, n, bm, bn int) int {
	readA := m * k
	readB := k * n * tile.Ceil(m, bm)
	written := m * n
	return element * (readA + readB + written)
}

// V4 moves along k innermost, so no block of a or b is there a second time in a
// row: a is read whole for each column of blocks of o, b for each row of them. o
// stays while k moves.
func V4(m, k, n int, s tile.Blocks) int {
	readA := m * k * tile.Ceil(n, s.N)
	readB := k * n * tile.Ceil(m, s.M)
	written := m * n
	return element * (readA + readB + written)
}

// V3 is v4 with its blocks fixed. bk is not in the formula: a deeper block means
// fewer steps, not fewer bytes.
func V3(m, k, n int) int {
	return V4(m, k, n, tile.Blocks{M: 128, K: 128, N: 128})
}
