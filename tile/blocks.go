package tile

import (
	"fmt"
	"strconv"
	"strings"
)

// Blocks is a block shape: of a matmul bm×bk×bn. Other problems have up to three sides of
// their own in that order, and 0 in place of those that they have not.
type Blocks struct{ M, K, N int }

// String is the sides joined by x, without those behind the last that is not 0.
func (b Blocks) String() string {
	switch {
	case b.N != 0, b == (Blocks{}):
		return fmt.Sprintf("%dx%dx%d", b.M, b.K, b.N)
	case b.K != 0:
		return fmt.Sprintf("%dx%d", b.M, b.K)
	}
	return strconv.Itoa(b.M)
}

// ParseBlocks reads up to three sides, written with x or ×: 512x1024x1024.
func ParseBlocks(s string) (Blocks, error) {
	parts := strings.Split(strings.ReplaceAll(s, "×", "x"), "x")
	var v [3]int
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if len(parts) > 3 || err != nil || n < 1 {
			return Blocks{}, fmt.Errorf("blocks %q: want positive numbers joined by x, such as 512x1024x1024", s)
		}
		v[i] = n
	}
	return Blocks{M: v[0], K: v[1], N: v[2]}, nil
}

// Clip returns the blocks cut to arrays of m, k and n: a block never needs to be larger
// than its array.
func (b Blocks) Clip(m, k, n int) Blocks { return Blocks{min(b.M, m), min(b.K, k), min(b.N, n)} }

// Candidates clips each of bs to m×k×n and merges those that become equal.
func Candidates(m, k, n int, bs ...Blocks) []Blocks {
	var out []Blocks
	seen := map[Blocks]bool{}
	for _, b := range bs {
		if b = b.Clip(m, k, n); !seen[b] {
			seen[b] = true
			out = append(out, b)
		}
	}
	return out
}
