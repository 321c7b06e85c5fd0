// Package ex4 is the exercise of lesson 4: count the bytes of v2, v3 and v4.
//
// Bytes move where a block differs from that of the step before. The grid is
// gone through like nested loops, the last axis being the innermost. Every array
// has at least two blocks along each axis that is cut; the last ones may
// overhang, and only what lies inside the array counts.
package ex4

import "matladder/tile"

// element is the size of a float32, in bytes.
const element = 4

// V2 is what v2 moves for o (m×n) = a (m×k) @ b (k×n) with grid (i, j): it sees a
// by row panels of bm rows, (i, 0), and b by column panels of bn columns, (0, j).
// tile.Ceil(m, bm) is the number of row panels, tile.Ceil(n, bn) that of column
// panels.
func V2(m, k, n, bm, bn int) int {
	readA := m * k // each row panel once: it stays while j moves
	readB := 0     // YOUR TURN
	written := m * n
	return element * (readA + readB + written)
}

// V4 is what v4 moves with grid (i, j, k): blocks of a at (i, k), of b at (k, j),
// of o at (i, j).
func V4(m, k, n int, s tile.Blocks) int {
	return 0 // YOUR TURN
}

// V3 is what v3 moves: its blocks are 128×128×128.
func V3(m, k, n int) int {
	return 0 // YOUR TURN
}
