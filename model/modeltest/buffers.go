// Package modeltest simulates what the step model averages.
package modeltest

// A Turn is the times of one grid step, in seconds: to bring its blocks in, to compute on
// them, and to write blocks back afterwards.
type Turn struct {
	In, Compute, Out float64
}

// Buffered is how long turns take one after the other if blocks come into so many buffers. The
// blocks of a turn are asked for as soon as the turn is over that used their buffer before, and
// memory moves one thing at a time, in the order in which it was asked. A step model of averages
// (On) misses that: with two buffers, a turn that brings much is waited for if that takes longer
// than to compute on the turn before it, however little the turns around it bring.
func Buffered(turns []Turn, buffers int) float64 {
	buffers = max(1, buffers)
	came := make([]float64, len(turns))
	memory, now := 0., 0. // when memory is free, and when the last turn was over
	asked := 0
	ask := func(until int) {
		for ; asked < min(until, len(turns)); asked++ {
			if in := turns[asked].In; in > 0 {
				memory = max(memory, now) + in
				came[asked] = memory
			} else {
				came[asked] = now
			}
		}
	}
	for i, t := range turns {
		ask(i + buffers)
		now = max(now, came[i]) + t.Compute
		if t.Out > 0 {
			memory = max(memory, now) + t.Out
		}
	}
	return max(now, memory)
}
