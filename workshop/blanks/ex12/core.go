// Package ex12 is the exercise of lesson 12: the register tile and the cache blocks of a core.
//
// The core has 16 vector registers of 8 float32. It starts four instructions a cycle, among
// them two loads, and two products that are added to a sum, which take 4 cycles each. L1 is 32
// KiB, L2 256 KiB. The product is 1024×1024×1024 in float32.
package ex12

// Loads is how many vectors a tile loads for each product of two vectors: for one step along k
// it loads the vectors of a row of B, spreads an element of each row of A over a vector, and
// multiplies each by each.
func Loads(rows, vectors int) float64 {
	return 2 // YOUR TURN
}

// Tile is how many rows of A and how many vectors of B meet in registers. There a sum is kept
// for each of both, beside the vectors of B and one that is spread of A.
func Tile() (rows, vectors int) {
	return 1, 1 // YOUR TURN
}

// Cut is k_c and m_c. A panel of B, k_c rows of what a tile has of columns, takes half of L1 at
// most, and a block of A, m_c×k_c, half of L2. m_c is a multiple of the tile's rows.
func Cut() (kc, mc int) {
	return 1024, 1024 // YOUR TURN
}
