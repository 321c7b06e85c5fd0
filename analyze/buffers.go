package analyze

// A Turn is what one grid step does, in seconds: it brings blocks in, computes on them, and
// sends others away behind that.
type Turn struct {
	In, Compute, Out float64
}

// Buffered is how long turns take one after the other if blocks come into so many buffers:
// those of a turn are asked for as soon as the turn is over that used the buffer before
// them, and memory moves what it is asked for in that order, one thing at a time. A step
// model of averages (On) cannot see it: with two buffers, a turn that brings much is waited
// for as soon as that takes longer than computing on the turn before, however little the
// next one brings.
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
