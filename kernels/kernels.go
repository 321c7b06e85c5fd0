// Package kernels has the interface that the five rungs share and the one table
// of them. A kernel turns a problem and a block shape into tile programs; it
// cannot see the clock, the device or the plot.
package kernels

import (
	"fmt"
	"strconv"
	"strings"

	naive "matladder/kernels/v1_naive"
	parallel "matladder/kernels/v2_parallel"
	block "matladder/kernels/v3_block"
	optblock "matladder/kernels/v4_optblock"
	quantized "matladder/kernels/v5_quant"
	"matladder/problem"
	"matladder/tile"
)

// Kernel is one rung of the ladder.
type Kernel interface {
	// Number is the rung, from 1.
	Number() int
	// Name is that of the kernel's folder.
	Name() string
	// Supports returns why the kernel does not take p, or nil.
	Supports(p problem.Matmul) error
	// Variants lists the ways the kernel computes p; the plain one, "", first.
	Variants(p problem.Matmul) []string
	// Candidates proposes block shapes for a machine, clipped to the arrays,
	// equal ones merged.
	Candidates(p problem.Matmul, m tile.Machine) []tile.Blocks
	// Build writes the kernel for p as programs that run in order inside one
	// launch; usually one.
	Build(p problem.Matmul, variant string, b tile.Blocks) ([]*tile.Program, error)
}

// All is the ladder, the first rung first.
var All = []Kernel{naive.Kernel{}, parallel.Kernel{}, block.Kernel{}, optblock.Kernel{}, quantized.Kernel{}}

// Baseline is the number and name of the vendor's own matmul, which has no tile
// program.
const (
	BaselineNumber = 0
	BaselineName   = "xla"
)

// Find returns the kernel known by its number, name, or name without the
// number: 3, v3_block, v3, block.
func Find(s string) (Kernel, error) {
	var known []string
	for _, k := range All {
		short, rest, _ := strings.Cut(k.Name(), "_")
		if s == k.Name() || s == short || s == rest || s == strconv.Itoa(k.Number()) {
			return k, nil
		}
		known = append(known, k.Name())
	}
	return nil, fmt.Errorf("unknown kernel %q (known: %s, or their numbers: those that kernels.All in kernels/kernels.go lists)", s, strings.Join(known, ", "))
}
