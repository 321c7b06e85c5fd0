package mlir

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// Module is a StableHLO program whose @main runs one launch.
func Module(name, main string) string { return fmt.Sprintf("module @%s {\n%s}\n", name, main) }

// Calls is a launch being written in StableHLO, as calls of kernels.
type Calls struct {
	B      strings.Builder
	Values map[string]string // what each array is called so far

	next int
}

// Fresh is a name for a value.
func (c *Calls) Fresh() string {
	c.next++
	return fmt.Sprintf("%%%d", c.next-1)
}

// Function is a function that takes and returns arrays, whose types tensor spells; body
// writes what is between.
func (c *Calls) Function(visibility, name string, in, out []*tile.Ref, tensor func(r *tile.Ref) string, body func()) string {
	c.Values = map[string]string{}
	params := make([]string, len(in))
	for i, r := range in {
		v := fmt.Sprintf("%%in%d", i)
		c.Values[r.Name] = v
		params[i] = v + ": " + tensor(r)
	}
	body()
	types := List(out, tensor)
	results := List(out, func(r *tile.Ref) string { return c.Values[r.Name] })
	return fmt.Sprintf("  func.func %s @%s(%s) -> (%s) {\n%s    return %s : %s\n  }\n",
		visibility, name, strings.Join(params, ", "), types, c.B.String(), results, types)
}
