package mlir

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// Cross is 8x128x.
func Cross(dims []int) string {
	var b strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String()
}

// Working spells the type in which d is computed.
func Working(d tile.Dtype) string {
	switch {
	case d.IsInteger():
		return "i32"
	case d == tile.Bool:
		return "i1"
	}
	return "f32"
}
