package accumulator

import (
	"fmt"
	"slices"
	"strings"
)

// A node is a partial sum: of one product, or of other partial sums at once.
type node struct {
	kids   []*node
	leaves []int // ascending
	shape  int   // of a describer; 0 for a product, or not known yet
}

func leaf(k int) *node { return &node{leaves: []int{k}} }

func sumOf(kids []*node) *node {
	n := &node{kids: kids}
	for _, kid := range kids {
		n.leaves = append(n.leaves, kid.leaves...)
	}
	slices.Sort(n.leaves)
	slices.SortFunc(n.kids, func(a, b *node) int { return a.leaves[0] - b.leaves[0] })
	return n
}

// String is the sum with all parentheses.
func (n *node) String() string {
	if len(n.kids) == 0 {
		return fmt.Sprint(n.leaves[0])
	}
	var parts []string
	for _, kid := range n.kids {
		parts = append(parts, kid.String())
	}
	return "(" + strings.Join(parts, "+") + ")"
}

// tree finds the order of all additions.
func (x *prober) tree() (*node, error) {
	known := map[[2]int]int{}
	lost := func(i, j int) (int, error) {
		key := [2]int{min(i, j), max(i, j)}
		if n, ok := known[key]; ok {
			return n, nil
		}
		n, err := x.lost(i, j)
		known[key] = n
		return n, err
	}
	all := make([]int, x.p.K)
	for k := range all {
		all[k] = k
	}
	root, err := build(all, lost)
	if err != nil {
		return nil, err
	}
	for n := range 64 { // pairs that may not have been asked for
		i, j := n*37%x.p.K, (n*101+x.p.K/2)%x.p.K
		if i == j {
			continue
		}
		size, err := lost(i, j)
		if err != nil {
			return nil, err
		}
		if root.meet(i, j) != size {
			return nil, errNoTree
		}
	}
	return root, nil
}

var errNoTree = &noOrder{"no tree of additions, or another one in each launch"}

// build makes the tree of a set of products that are one partial sum. It begins with one from
// the middle: others join it by the sizes of the sums that they share with it.
func build(set []int, lost func(i, j int) (int, error)) (*node, error) {
	first := set[len(set)/2]
	at, joins := leaf(first), map[int][]int{}
	var sizes []int
	for _, j := range set {
		if j == first {
			continue
		}
		size, err := lost(first, j)
		if err != nil {
			return nil, err
		}
		if joins[size] == nil {
			sizes = append(sizes, size)
		}
		joins[size] = append(joins[size], j)
	}
	if slices.Sort(sizes); len(set) > 2 && sizes[len(sizes)-1] == 2 {
		return nil, &noOrder{"none: nothing is lost beside M, sums are exact"}
	}
	for _, size := range sizes {
		kids := []*node{at}
		for rest := joins[size]; len(rest) > 0; { // one partial sum, or several that are added at once
			var one, others []int
			for _, j := range rest {
				shared := 0
				if j != rest[0] {
					var err error
					if shared, err = lost(rest[0], j); err != nil {
						return nil, err
					}
				}
				if shared < size {
					one = append(one, j)
				} else {
					others = append(others, j)
				}
			}
			kid, err := build(one, lost)
			if err != nil {
				return nil, err
			}
			kids, rest = append(kids, kid), others
		}
		if at = sumOf(kids); len(at.leaves) != size {
			return nil, errNoTree
		}
	}
	return at, nil
}

// meet is the size of the smallest partial sum with both products.
func (n *node) meet(i, j int) int {
	for _, kid := range n.kids {
		if _, ok := slices.BinarySearch(kid.leaves, i); ok {
			if _, ok := slices.BinarySearch(kid.leaves, j); ok {
				return kid.meet(i, j)
			}
		}
	}
	return len(n.leaves)
}

// A join is where what i and k add up to is handed to a sum of size products, one of which is
// j. Product odd is added to i before; −1 if there is none.
type join struct{ i, k, j, odd, size int }

// joins are those on the way from the root to a product, always into the largest sum, by size.
func (n *node) joins() []join {
	var path []*node
	var others [][]*node // that are added to it, at each
	for at := n; ; {
		path = append([]*node{at}, path...)
		if len(at.kids) == 0 {
			break
		}
		into := slices.MaxFunc(at.kids, func(a, b *node) int { return len(a.leaves) - len(b.leaves) })
		others = append([][]*node{slices.DeleteFunc(slices.Clone(at.kids), func(kid *node) bool { return kid == into })}, others...)
		at = into
	}
	var list []join
	first := path[0].leaves[0]
	for i, beside := range others {
		odd := -1
		for _, k := range path[i].leaves {
			if k != first {
				odd = k
			}
		}
		if len(beside) > 1 { // all at once
			list = append(list, join{first, beside[0].leaves[0], beside[1].leaves[0], odd, len(path[i+1].leaves)})
		}
		if i+1 < len(others) {
			list = append(list, join{first, beside[0].leaves[0], others[i+1][0].leaves[0], odd, len(path[i+2].leaves)})
		}
	}
	return list
}
