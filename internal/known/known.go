// Package known finds things by their names.
package known

import (
	"fmt"
	"strings"

	"matladder/internal/each"
)

// Find returns the one of all that has a name; the error, that such a thing is unknown, lists
// the names there are.
func Find[T any](thing, name string, all []T, nameOf func(T) string) (T, error) {
	for _, x := range all {
		if nameOf(x) == name {
			return x, nil
		}
	}
	var none T
	return none, fmt.Errorf("unknown %s %q (known: %s)", thing, name, strings.Join(each.Of(all, nameOf), ", "))
}
