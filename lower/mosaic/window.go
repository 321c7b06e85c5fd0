package mosaic

import (
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// windows are the attributes that give each array its block and index map.
func (k *kernel) windows() string {
	var parts []string
	for _, r := range arrays(k.program) {
		if r.Main {
			parts = append(parts, "{}")
			continue
		}
		parts = append(parts, fmt.Sprintf("{transform_indices = @%s, window_bounds = array<i64: %s>}", k.transform(r), mlir.Commas(memoryShape(r)...)))
	}
	return strings.Join(parts, ", ")
}

// transform names the index map of a ref. No kernel has a name with a dot.
func (k *kernel) transform(r *tile.Ref) string { return `"` + k.refs[r].Name[1:] + `.block"` }

// transforms writes the index maps: functions of the program ids, and of the
// tables, that return which block a program sees, in blocks.
func (k *kernel) transforms(b *strings.Builder) {
	if gridless(k.program) {
		return
	}
	args := append(slices.Clone(k.grid), k.prefetched()...)
	for _, r := range windowed(k.program) {
		k.Pos = r.Pos
		var results []value
		text := k.function(func() {
			for range len(memoryShape(r)) - len(r.Index) { // of a row: the matrix of one row
				results = append(results, k.Written(k.Int(0)))
			}
			for _, x := range r.Index {
				results = append(results, k.Written(k.Index(x)))
			}
			k.Do("func.return", "", results...)
		})
		k.define(b, args, text, fmt.Sprintf("function_type = (%s) -> (%s), sym_name = %s", types(args), types(results), k.transform(r)))
	}
}
