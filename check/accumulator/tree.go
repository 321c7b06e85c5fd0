package accumulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/internal/each"
)

// A node is a partial sum: of one product, or of other partial sums at once.
type node struct {
	kids   []*node
	leaves []int // products, ascending
}

// String is the sum with all parentheses.
func (n *node) String() string {
	if n.kids == nil {
		return fmt.Sprint(n.leaves[0])
	}
	return "(" + strings.ReplaceAll(strings.Trim(fmt.Sprint(n.kids), "[]"), " ", "+") + ")"
}

// build returns the partial sums that a set of products consists of, all of which are added at
// once to one of whole products; nil if no tree explains what is lost. It begins with a product
// from the middle: others join it by the sizes of the sums that they share with it.
func (x *prober) build(set []int, whole int) (kids []*node) {
	for len(set) > 0 {
		first, joins := set[len(set)/2], map[int][]int{}
		for _, j := range set {
			if j != first {
				size := x.lost(first, j)
				joins[size] = append(joins[size], j)
			}
		}
		at := &node{leaves: []int{first}}
		set = joins[whole]
		delete(joins, whole)
		for _, size := range slices.Sorted(maps.Keys(joins)) {
			more := x.build(joins[size], size)
			at = &node{kids: append([]*node{at}, more...)}
			at.leaves = slices.Concat(each.Of(at.kids, func(kid *node) []int { return kid.leaves })...)
			if slices.Sort(at.leaves); more == nil || len(at.leaves) != size {
				return nil
			}
			slices.SortFunc(at.kids, func(a, b *node) int { return a.leaves[0] - b.leaves[0] })
		}
		kids = append(kids, at)
	}
	return kids
}

// A step is where what i and k add up to is handed to a sum of size products, one of which is
// j. Product odd is added to i before; −1 if there is none.
type step struct{ i, k, j, odd, size int }

// tree finds the order of all additions and returns the steps to the largest sum, by size.
func (x *prober) tree() (steps []step) {
	all := each.Upto(x.p.K, func(k int) int { return k })
	var root []*node
	if x.lost(0, 1) == 2 && x.lost(0, x.p.K-1) == 2 {
		x.found.Order = "not visible: nothing is lost"
	} else if root = x.build(all, x.p.K+1); root == nil {
		x.found.Order = "not visible: no tree of additions explains what is lost"
	}
	if root == nil {
		return []step{{0, 1, x.p.K - 1, -1, x.p.K}}
	}
	if x.p.K <= 32 {
		x.found.Tree = root[0].String()
	}
	path := root // from the largest sum to one product, always into the largest
	for at := root[0]; at.kids != nil; path = append(path, at) {
		at = slices.MaxFunc(at.kids, func(a, b *node) int { return len(a.leaves) - len(b.leaves) })
	}
	slices.Reverse(path)
	first, before, odd := path[0].leaves[0], -1, -1
	begin, parts := []int{first}, []string{"product"}
	for i, at := range path[1:] {
		beside := slices.DeleteFunc(slices.Clone(at.kids), func(n *node) bool { return n == path[i] })
		k, part := beside[0].leaves[0], "product"
		if len(beside) > 1 {
			steps = append(steps, step{first, k, beside[1].leaves[0], max(before, odd), len(at.leaves)})
		}
		if before >= 0 {
			steps = append(steps, step{first, before, k, odd, len(at.leaves)})
			odd = before
		}
		if n := len(beside[0].leaves); n > 1 {
			part = fmt.Sprintf("sum of %d", n)
		}
		if n := len(beside); n > 1 {
			part = fmt.Sprintf("(%d × %s at once)", n, part)
		}
		before, begin, parts = k, append(begin, k), append(parts, part)
	}
	if len(begin) > 3 && begin[0]-begin[1] == begin[3]-begin[2] { // the first two are added to each other: said as those that follow
		begin[0], begin[1] = begin[1], begin[0]
	}
	for n := 0; len(parts) > 0; parts = parts[n:] {
		for n = 0; n < len(parts) && parts[n] == parts[0]; n++ {
		}
		x.found.Order += strings.TrimPrefix(fmt.Sprintf("%d × %s, ", n, parts[0]), "1 × ")
	}
	x.found.Order += fmt.Sprint("from ", begin[:min(4, len(begin))])
	return steps
}
