// Package ex12 is the exercise of lesson 12: the register tile and the cache blocks of a core.
//
// The core has 16 vector registers of 8 float32. It starts four instructions a cycle, among
// them two loads, and two products that are added to a sum, which take 4 cycles each. L1 is 32
// KiB, L2 256 KiB. The product is 1024×1024×1024 in float32.
package ex12

// Loads is how many loads a tile does for each product of two vectors. In one step along k it
// loads vectors of a row of B, loads one element of each row of A, spread over a vector, and
// multiplies each by each.
func Loads(rows, vectors int) float64 {
	return 2 // YOUR TURN
}

// Tile is how many rows of A and how many vectors of B meet in registers. There a sum is kept
// for each of both, beside the vectors of B and one that is spread of A.
func Tile() (rows, vectors int) {
	return 1, 1 // YOUR TURN
}

// Cut is k_c and m_c. A panel of B, k_c rows and the columns of a tile, takes at most half of L1.
// A block of A, m_c rows and k_c columns, takes at most half of L2; m_c is a multiple of the
// tile's rows. From behind L2 comes B, once for each block of A, and C, which comes and goes once
// for each k_c: at most 70 bytes for 1000 products.
func Cut() (kc, mc int) {
	return 1024, 1024 // YOUR TURN
}
