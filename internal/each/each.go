// Package each says of a slice, in one expression, what a loop over its elements would.
package each

import "slices"

// Of is what f makes of each element, in their order.
func Of[T, U any](xs []T, f func(T) U) []U {
	ys := make([]U, len(xs))
	for i, x := range xs {
		ys[i] = f(x)
	}
	return ys
}

// Upto is what f makes of each number below n, in their order.
func Upto[T any](n int, f func(i int) T) []T {
	ys := make([]T, n)
	for i := range ys {
		ys[i] = f(i)
	}
	return ys
}

// That are the elements that keep holds of, in their order; nil if there are none.
func That[T any](xs []T, keep func(T) bool) (kept []T) {
	for _, x := range xs {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// Pointers are those to the elements.
func Pointers[T any](xs []T) []*T {
	ps := make([]*T, len(xs))
	for i := range xs {
		ps[i] = &xs[i]
	}
	return ps
}

// Grouped parts xs by a key. The keys are in order of first occurrence.
func Grouped[T any, K comparable](xs []T, key func(*T) K) (order []K, groups map[K][]T) {
	groups = map[K][]T{}
	for i := range xs {
		k := key(&xs[i])
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], xs[i])
	}
	return order, groups
}

// number is what can be added up.
type number interface {
	~int | ~int64 | ~float64
}

// Sum is what f makes of all elements, added up in their order.
func Sum[T any, N number](xs []T, f func(T) N) (sum N) {
	for _, x := range xs {
		sum += f(x)
	}
	return sum
}

// Product is all of xs multiplied; 1 if there are none.
func Product[N number](xs []N) N {
	product := N(1)
	for _, x := range xs {
		product *= x
	}
	return product
}

// Most is the largest that f makes of an element; 0 if none is more.
func Most[T any, N number](xs []T, f func(T) N) (most N) {
	for _, x := range xs {
		most = max(most, f(x))
	}
	return most
}

// With are xs, with x behind them unless it is one of them.
func With[T comparable](xs []T, x T) []T {
	if slices.Contains(xs, x) {
		return xs
	}
	return append(xs, x)
}
