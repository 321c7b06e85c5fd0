// Package ex12 is the solution of exercise 12.
package ex12

// Loads is a sum over a product: the squarer the tile, the fewer.
func Loads(rows, vectors int) float64 {
	return float64(rows+vectors) / float64(rows*vectors)
}

// Tile takes 12 sums, 2 vectors of B and one of A: 15 of 16 registers.
func Tile() (rows, vectors int) {
	return 6, 2
}

// Cut: 256 rows of 16 columns are 16 KiB, and 126 rows of 256 columns 126 KiB.
func Cut() (kc, mc int) {
	return 256, 126
}
