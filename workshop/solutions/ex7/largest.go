// Package ex7 is the solution of exercise 7.
package ex7

import "matladder/tile"

// Float32 gives its memory to bm and bn first: a and b are read 4096/bn and
// 4096/bm times. 1024×1024 of o takes 8 MiB of the 12, and bk = 256 the other 4.
func Float32() tile.Blocks {
	return tile.Blocks{M: 1024, K: 256, N: 1024}
}

// BFloat16 has operands of half the size. The accumulator takes 4 MiB, o another
// 4, and with bk = 512 the operands take the other 4.
func BFloat16() tile.Blocks {
	return tile.Blocks{M: 1024, K: 512, N: 1024}
}
