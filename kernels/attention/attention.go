// Package attention lists the rungs of attention, from scores written out to lists of
// blocks. Each folder has one, with the idea that it adds; package scores has what they
// share.
package attention

import (
	written "matladder/kernels/attention/v1_scores"
	rows "matladder/kernels/attention/v2_rows"
	flash "matladder/kernels/attention/v3_flash"
	skip "matladder/kernels/attention/v4_skip"
	split "matladder/kernels/attention/v5_split"
	sparse "matladder/kernels/attention/v6_sparse"
	"matladder/problem"
	"matladder/tile"
)

// Kernel is one rung.
type Kernel interface {
	Number() int
	Name() string
	Supports(p problem.Attention) error
	Variants(p problem.Attention) []string
	Candidates(p problem.Attention, m tile.Machine) []tile.Blocks
	Build(p problem.Attention, variant string, b tile.Blocks) ([]*tile.Program, error)
}

// All are the rungs, the first first.
var All = []Kernel{written.Kernel{}, rows.Kernel{}, flash.Kernel{}, skip.Kernel{}, split.Kernel{}, sparse.Kernel{}}
