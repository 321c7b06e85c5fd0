// Package ex10 is the exercise of lesson 10: what an exchange takes, and how many chips may
// share a layer until it takes longer than the work.
//
// The chip is TPU v5e: it multiplies at most 197e12 FLOP/s in bfloat16, a link brings
// 43e9 bytes/s in each direction, starting an exchange takes 4.4 µs, and each hop 0.5 µs.
// An axis of 16 chips is a ring: each of them receives from both neighbours at once, and
// nothing has further to go than half of the way round. A shorter axis is a line, which
// sends over one link at a time, from one end to the other.
package ex10

// Gather is how many seconds chips along an axis take for an all-gather: each begins with an
// equal part of an array of so many bytes, and has all of it at the end. An axis has 1, 2, 4,
// 8 or 16 chips; one chip exchanges nothing.
func Gather(bytes float64, chips int) float64 {
	return 0 // YOUR TURN
}

// Most is how many chips along model, of 1, 2, 4, 8 and 16, may share the feed-forward part of
// a layer with so many hidden columns, of which each has an equal part, until they send for
// longer than they multiply. For each row of width D a layer with two products in and one out
// multiplies 6·D·hidden FLOPs. Each row is gathered before, D numbers of 2 bytes, and as many
// are scattered behind, which takes as long. Rows are so many that starts and hops do not count.
func Most(hidden int) int {
	return 0 // YOUR TURN
}
