//go:build !race

package cpu

const thinner = 1
