// Package ex0 is the exercise of lesson 0: why all kernels look alike at 512.
//
// A program on the host starts a kernel on a device and waits for it. Its clock
// sees the time that the device works, and the time it takes to get the work
// there and the answer back: the dispatch, which does not depend on the size.
package ex0

// FLOPs is how many additions and multiplications o (m×n) = a (m×k) @ b (k×n)
// takes.
func FLOPs(m, k, n int) float64 {
	return 0 // YOUR TURN
}

// DeviceSeconds is how long a kernel works on that many FLOPs if it reaches a
// share (0 to 1) of the device's peak, in FLOP/s.
func DeviceSeconds(flops, peak, share float64) float64 {
	return 0 // YOUR TURN
}

// Ratio is how many times as fast the kernel that reaches the share fast looks
// against the one that reaches the share slow, both multiplying squares of size
// n, to a clock on the host that also sees the seconds of dispatch.
func Ratio(n int, peak, slow, fast, dispatch float64) float64 {
	return 0 // YOUR TURN
}
