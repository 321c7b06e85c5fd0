package plots

import "slices"

// grouped parts a list by a key. The keys are in order of first occurrence.
func grouped[K comparable, V any](list []V, key func(*V) K) (order []K, groups map[K][]V) {
	groups = map[K][]V{}
	for i := range list {
		k := key(&list[i])
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], list[i])
	}
	return order, groups
}

// distinct lists the different keys of a list in order of first occurrence.
func distinct[K comparable, V any](list []V, key func(*V) K) []K {
	var order []K
	seen := map[K]bool{}
	for i := range list {
		if k := key(&list[i]); !seen[k] {
			seen[k], order = true, append(order, k)
		}
	}
	return order
}

// adding appends v to the list unless the list has it.
func adding[V comparable](list []V, v V) []V {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
