package accumulator

import (
	"fmt"
	"slices"
	"strings"
)

// describer tells nodes of the same shape, which differ in where they begin alone.
type describer map[string]int

func (d describer) shape(n *node) int {
	if n.shape == 0 && len(n.kids) > 0 {
		key := ""
		for _, kid := range n.kids {
			key += fmt.Sprint(kid.leaves[0]-n.leaves[0], ":", d.shape(kid), " ")
		}
		if d[key] == 0 {
			d[key] = len(d) + 1
		}
		n.shape = d[key]
	}
	return n.shape
}

func (d describer) alike(list []*node) bool {
	return !slices.ContainsFunc(list, func(n *node) bool { return d.shape(n) != d.shape(list[0]) })
}

// pairwise returns the parts that n adds in pairs, pairs of pairs and so on, at least four.
func (d describer) pairwise(n *node) []*node {
	parts := []*node{n}
	for len(parts[0].kids) == 2 && d.alike(parts[0].kids) {
		var next []*node
		for _, p := range parts {
			next = append(next, p.kids...)
		}
		parts = next
	}
	if len(parts) < 4 {
		return nil
	}
	return parts
}

// chain returns the parts that n adds to a sum one step after another, step of them at a time,
// and what it begins with, if that is no such part.
func (d describer) chain(n *node) (head *node, parts []*node, step int) {
	bySize := func(n *node) (first *node, more []*node) {
		kids := slices.Clone(n.kids)
		slices.SortStableFunc(kids, func(a, b *node) int { return len(b.leaves) - len(a.leaves) })
		return kids[0], kids[1:]
	}
	first, more := bySize(n)
	step = len(more)
	if step > 1 && d.shape(first) == d.shape(more[0]) { // no sum so far
		first, step = nil, len(n.kids)
		more = n.kids
	}
	part := d.shape(more[0])
	for head = n; ; {
		if !d.alike(append(slices.Clone(more), more[0])) || d.shape(more[0]) != part || len(more) != step {
			break
		}
		parts = append(slices.Clone(more), parts...)
		if head = first; head == nil {
			return nil, parts, step
		}
		switch {
		case step == 1 && d.shape(head) == part:
			return nil, append([]*node{head}, parts...), step
		case len(head.kids) == step && step > 1 && d.alike(head.kids) && d.shape(head.kids[0]) == part:
			return nil, append(slices.Clone(head.kids), parts...), step
		case len(head.kids) == 0:
			return head, parts, step
		}
		first, more = bySize(head)
	}
	return head, parts, step
}

// describe says in words in which order a sum is made, from the whole down.
func describe(root *node) string { return describer{}.say(root) }

func (d describer) say(n *node) string {
	if len(n.kids) == 0 {
		return "one product"
	}
	if parts := d.pairwise(n); parts != nil {
		return d.group(parts, "pairwise")
	}
	head, parts, step := d.chain(n)
	if len(parts) == 0 {
		return "sums of " + sizes(n.kids)
	}
	how := "one after another"
	switch {
	case step == len(parts) && step > 1 && head == nil:
		how = "at once"
	case step > 1:
		how = fmt.Sprintf("%d at a time", step)
	}
	text := d.group(parts, how)
	if head != nil {
		text = fmt.Sprintf("%s; then %s", d.say(head), text)
	}
	return text
}

func sizes(list []*node) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(len(n.leaves)))
	}
	return strings.Join(words, " and ")
}

// group says how many parts there are, where they lie, how they are added, and then how one
// is made.
func (d describer) group(parts []*node, how string) string {
	size := len(parts[0].leaves)
	within, what := parts[0].leaves, ""
	switch {
	case size == 1:
		what = "product%s"
	case within[size-1]-within[0] == size-1:
		what = fmt.Sprintf("block%%s of %d", size)
	case (within[1]-within[0])*(size-1) == within[size-1]-within[0]:
		what = fmt.Sprintf("lane%%s of products %d apart", within[1]-within[0])
	default:
		what = fmt.Sprintf("part%%s of %d", size)
	}
	plural := "s"
	if len(parts) == 1 {
		plural, how = "", "more"
	}
	text := fmt.Sprintf("%d "+what+" %s%s", len(parts), plural, how, order(parts))
	if size > 1 {
		text += "; each: " + d.say(parts[0])
	}
	return text
}

// order says where parts begin, in the order in which they are added, unless that is in equal
// steps upwards.
func order(parts []*node) string {
	var at []int
	for _, p := range parts {
		at = append(at, p.leaves[0])
	}
	// The first two are added to each other: they are said as those that follow.
	if len(at) > 2 && at[0]-at[1] == at[2]-at[0] || len(at) > 3 && at[0]-at[1] == at[3]-at[2] {
		at[0], at[1] = at[1], at[0]
	}
	steady := len(at) == 1 || at[1] > at[0]
	for i := 2; i < len(at); i++ {
		steady = steady && at[i]-at[i-1] == at[1]-at[0]
	}
	if steady {
		return ""
	}
	if len(at) > 8 {
		return fmt.Sprintf(" (%s …)", strings.Trim(fmt.Sprint(at[:8]), "[]"))
	}
	return fmt.Sprintf(" (%s)", strings.Trim(fmt.Sprint(at), "[]"))
}
