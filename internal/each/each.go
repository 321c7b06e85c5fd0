// Package each makes a slice of another, element by element.
package each

// Of is what f makes of each element of a slice, in their order.
func Of[T, U any](xs []T, f func(T) U) []U {
	ys := make([]U, len(xs))
	for i, x := range xs {
		ys[i] = f(x)
	}
	return ys
}
