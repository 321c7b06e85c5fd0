//go:build race

package cpu

// thinner is how many times fewer cases run under the race detector, which is
// slow with pure Go kernels.
const thinner = 23 // prime: cases come in rows of two, three and so on, of which every one is to be met
