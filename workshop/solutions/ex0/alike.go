// Package ex0 is the solution of exercise 0.
package ex0

// FLOPs counts one multiplication and one addition for each of the k terms of
// each of the m·n elements.
func FLOPs(m, k, n int) float64 {
	return 2 * float64(m) * float64(k) * float64(n)
}

// DeviceSeconds is an amount over a rate.
func DeviceSeconds(flops, peak, share float64) float64 {
	return flops / (peak * share)
}

// Ratio adds the same dispatch to both times. The smaller the work, the more of
// both times it is, and the closer their ratio to 1.
func Ratio(n int, peak, slow, fast, dispatch float64) float64 {
	flops := FLOPs(n, n, n)
	return (dispatch + DeviceSeconds(flops, peak, slow)) / (dispatch + DeviceSeconds(flops, peak, fast))
}
