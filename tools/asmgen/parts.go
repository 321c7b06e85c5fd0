package asmgen

import "slices"

// A tile at the edge of c may have so few sums that the next product of each waits for
// the last: then a step takes as long as that of a larger tile. So such loops keep a
// sum in parts, which take turns in k and are added at the end.

// parts is how many parts of some sums the registers have room for: a power of two up
// to the steps of a turn.
func (t Tile) parts(sums int) int {
	n := unroll
	for n*sums > t.MR*t.Vectors {
		n /= 2
	}
	return n
}

// apart returns the parts of some sums, the first of which are the registers given; it
// zeroes all others.
func (t Tile) apart(a *Asm, sums []string) [][]string {
	parts := [][]string{sums}
	rest := slices.DeleteFunc(t.corner(t.MR, t.Vectors), func(sum string) bool { return slices.Contains(sums, sum) })
	for range t.parts(len(sums)) - 1 {
		t.zero(a, rest[:len(sums)]...)
		parts, rest = append(parts, rest[:len(sums)]), rest[len(sums):]
	}
	return parts
}

// together adds parts up in the first: 0+1, or 0+2 and 1+3 and then both.
func (t Tile) together(a *Asm, parts [][]string) {
	for n := len(parts); n > 1; n /= 2 {
		for p := range n / 2 {
			for i, sum := range parts[p] {
				a.Op(t.Add, parts[p+n/2][i], sum, sum)
			}
		}
	}
}
