package probe

import "time"

// BFloat16Pairs compares the two ways AVX-512 multiplies bfloat16: pairs is the FLOP/s of
// VDPBF16PS, widened that of float32 multiply-adds, both on registers alone. Which one is faster
// differs from processor to processor by a factor of two either way. It takes one or two
// milliseconds and is zero where the processor lacks the instruction.
func BFloat16Pairs() (pairs, widened float64) {
	l := loops("avx512", "bfloat16")
	if len(l) < 2 {
		return 0, 0
	}
	r := race(l[1], l[0])
	return r[0], r[1]
}

// Tiles compares the rate of AMX tiles with the best of vectors in AVX-512, for factors of dtype
// "bfloat16" or "int8": both on registers alone. It takes a few milliseconds and is zero where
// the processor or the operating system has no tiles.
func Tiles(dtype string) (tiles, vectors float64) {
	t := loops(onTiles, dtype)
	if len(t) == 0 {
		return 0, 0
	}
	for _, v := range loops("avx512", dtype) {
		r := race(t[0], v)
		tiles, vectors = max(tiles, r[0]), max(vectors, r[1])
	}
	return tiles, vectors
}

// race returns the FLOP/s of two loops.
func race(l ...loop) []float64 {
	// In turns, so that other work and a changing clock meet both; short, so
	// that some runs are not interrupted.
	const rounds, each = 24, 15 * time.Microsecond
	best, turns := make([]float64, len(l)), make([]int, len(l))
	for i := range l {
		turns[i] = l[i].turnsFor(each)
	}
	for range rounds {
		for i := range best {
			start := time.Now()
			l[i].run(turns[i])
			best[i] = max(best[i], l[i].ops*float64(turns[i])/max(time.Since(start), 1).Seconds())
		}
	}
	return best
}
