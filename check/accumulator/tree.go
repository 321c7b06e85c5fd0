package accumulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
			for _, kid := range at.kids {
				at.leaves = append(at.leaves, kid.leaves...)
			}
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
	all := make([]int, x.p.K)
	for k := range all {
		all[k] = k
	}
	root := x.build(all, x.p.K+1)
	if root == nil {
		x.found.Order = "not visible: no tree of additions explains what is lost"
		return []step{{0, 1, x.p.K - 1, -1, x.p.K}}
	}
	if x.p.K <= 32 {
		x.found.Tree = root[0].String()
	}
	path := []*node{root[0]} // from the largest sum to one product, always into the largest
	for at := root[0]; at.kids != nil; path = append(path, at) {
		at = slices.MaxFunc(at.kids, func(a, b *node) int { return len(a.leaves) - len(b.leaves) })
	}
	slices.Reverse(path)
	first, below := path[0].leaves[0], []*node(nil)
	odd := func(n *node) int {
		if i := slices.IndexFunc(n.leaves, func(k int) bool { return k != first }); i >= 0 {
			return n.leaves[i]
		}
		return -1
	}
	var runs []run
	for i, at := range path[1:] {
		beside := slices.DeleteFunc(slices.Clone(at.kids), func(n *node) bool { return n == path[i] })
		k, size := beside[0].leaves[0], len(at.leaves)
		if len(beside) > 1 {
			steps = append(steps, step{first, k, beside[1].leaves[0], odd(path[i]), size})
		}
		if below != nil {
			steps = append(steps, step{first, below[0].leaves[0], k, odd(path[i-1]), size})
		}
		below = beside
		one := run{len(beside), len(beside[0].leaves), nil}
		if i == 0 && one.each > 1 { // with the first, which is one of them
			one.each++
		}
		if n := len(runs); n == 0 || runs[n-1].each != one.each || runs[n-1].size != one.size {
			runs = append(runs, one)
		}
		runs[len(runs)-1].at = append(runs[len(runs)-1].at, k)
	}
	if runs[0].each == 1 {
		runs[0].at = append([]int{first}, runs[0].at...)
	}
	for _, r := range runs {
		x.found.Order += ", then " + r.String()
	}
	x.found.Order = strings.TrimPrefix(x.found.Order, ", then ")
	return steps
}

// A run is of additions one after another, each of partial sums of one size, which begin at some
// products.
type run struct {
	each, size int
	at         []int
}

func (r run) String() string {
	n, more, what := len(r.at), "", fmt.Sprintf("sums of %d", r.size)
	switch {
	case r.size == 1:
		what = "products"
	case n == 1:
		return fmt.Sprintf("a sum of %d", r.size)
	}
	if r.each > 1 {
		return fmt.Sprintf("%d times %d %s at once", n, r.each, what)
	}
	if n > 3 && r.at[0]-r.at[1] == r.at[3]-r.at[2] { // the first two are added to each other: they are said as those that follow
		r.at[0], r.at[1] = r.at[1], r.at[0]
	}
	if n > 4 {
		r.at, more = r.at[:4], " …"
	}
	return fmt.Sprintf("%d %s (%s%s)", n, what, strings.Trim(fmt.Sprint(r.at), "[]"), more)
}
