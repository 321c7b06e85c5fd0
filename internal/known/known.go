// Package known finds things by their names.
package known

import (
	"fmt"
	"strings"
)

// Find returns the one of all that has a name; the error, that such a thing is unknown, lists
// the names there are.
func Find[T any](thing, name string, all []T, nameOf func(T) string) (T, error) {
	var names []string
	for _, x := range all {
		n := nameOf(x)
		if n == name {
			return x, nil
		}
		names = append(names, n)
	}
	var none T
	return none, fmt.Errorf("unknown %s %q (known: %s)", thing, name, strings.Join(names, ", "))
}
