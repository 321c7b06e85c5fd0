package mosaic

import (
	"fmt"
	"slices"
	"strings"

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
		parts = append(parts, fmt.Sprintf("{transform_indices = @%s, window_bounds = array<i64: %s>}", k.transform(r), commas(memoryShape(r))))
	}
	return strings.Join(parts, ", ")
}

// transform names the index map of a ref. No kernel has a name with a dot.
func (k *kernel) transform(r *tile.Ref) string { return `"` + k.refs[r].name[1:] + `.block"` }

// transforms writes the index maps: functions of the program ids, and of the
// tables, that return which block a program sees, in blocks.
func (k *kernel) transforms(t *text) {
	if gridless(k.program) {
		return
	}
	args := append(slices.Clone(k.grid), k.prefetched()...)
	for _, r := range windowed(k.program) {
		k.pos = r.Pos
		m := k.scope
		m.text = &text{depth: t.depth + 1, known: map[string]value{}}
		results := make([]value, 0, len(r.Index))
		for range len(memoryShape(r)) - len(r.Index) { // of a row: the matrix of one row
			results = append(results, m.i32(0))
		}
		for _, x := range r.Index {
			results = append(results, m.written(m.index(x)))
		}
		t.line("%q() ({", prefix+"func.func")
		t.line("^bb0(%s):", parameters(args))
		t.b.WriteString(m.text.b.String())
		t.line(`  "%sfunc.return"(%s) : (%s) -> ()`, prefix, names(results), types(results))
		t.line("}) {function_type = (%s) -> (%s), sym_name = %s} : () -> ()", argumentTypes(args), types(results), k.transform(r))
	}
}
