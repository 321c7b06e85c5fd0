// Package experts lists the rungs of what surrounds the products of a mixture of experts: the
// rows of tokens sorted by expert (Permute), and afterwards sums of rows by token (Combine).
// Package gate chooses the experts, package route makes the tables of a choice, and grouped
// products (kernels/grouped) stand between.
//
//	logits ─ gate ─► experts, weights ─ route ─► tables
//	x ─ Permute ─► rows ─ grouped product ─► y ─ Combine ─► o
package experts

import (
	onehot "matladder/kernels/experts/v1_onehot"
	rows "matladder/kernels/experts/v2_rows"
	"matladder/problem"
	"matladder/tile"
)

// Kernel is one rung.
type Kernel interface {
	Number() int
	Name() string
	Supports(p problem.Experts) error
	// Permute writes the way there: rows of x where the table or array tokens says.
	Permute(p problem.Experts, b tile.Blocks) ([]*tile.Program, error)
	// Combine writes the way back: sums of rows of y by weights, where rows_of says.
	Combine(p problem.Experts, b tile.Blocks) ([]*tile.Program, error)
}

// All are the rungs, the first first.
var All = []Kernel{onehot.Kernel{}, rows.Kernel{}}
