package probe

import "time"

// BFloat16Pairs compares the two ways AVX-512 multiplies bfloat16: pairs is
// the FLOP/s of VDPBF16PS, widened that of float32 multiply-adds, both on
// registers alone. Which one is faster differs from processor to processor by
// a factor of two either way. It takes one or two milliseconds and is zero
// where the processor lacks the instruction.
func BFloat16Pairs() (pairs, widened float64) {
	l := loops("avx512", "bfloat16")
	if len(l) < 2 {
		return 0, 0
	}
	// In turns, so that other work and a changing clock meet both; short, so
	// that some runs are not interrupted.
	const rounds, each = 24, 15 * time.Microsecond
	best := [2]float64{}
	turns := l[0].turnsFor(each)
	for range rounds {
		for i := range best {
			start := time.Now()
			l[i].run(turns)
			best[i] = max(best[i], l[i].ops*float64(turns)/max(time.Since(start), 1).Seconds())
		}
	}
	return best[1], best[0]
}
