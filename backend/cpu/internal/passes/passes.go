// Package passes turns tile programs into plans: a pass takes the plan that it is given one
// step further. Passes lists them in the order in which they run.
package passes

import (
	"fmt"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/backend/cpu/internal/vexp"
	"matladder/tile"
)

// Passes turn a program into a plan, in this order.
var Passes = []struct {
	Name string
	run  func(*plan.Plan) error
}{
	{"verify", verify},       // the program makes sense on any machine; what steps cannot do at once → scratch
	{"matrices", matrices},   // blocks of refs as matrices in memory
	{"match", match},         // statements → steps
	{"fuse", fuse},           // a zeroing fill into the accumulation behind it, a product into the value, values of a row
	{"layout", layOut},       // products → packed operands
	{"skinny", skinny},       // B, when A has few rows → not packed
	{"rows", readRows},       // a whose rows tiles can load → not packed
	{"writes", writes},       // outputs that tiles write once → rounded by them, non-temporal stores
	{"epilogue", values},     // values → vectors along rows; rows of bfloat16 that several need → widened once
	{"placement", placement}, // which packed blocks are kept, where
	{"schedule", schedule},   // grid → phases, tasks, workers; steps of a program → strips of rows
	{"buffers", buffers},     // sizes and places of all memory but the arrays
}

// Compile runs the passes.
func Compile(p *tile.Program, m plan.Machine) (*plan.Plan, error) {
	pl := &plan.Plan{Program: p, Machine: m, Loops: rows.For(m.Kernels.ISA.Has(gemm.AVX2), m.Kernels.ISA.Has(gemm.AVX512)),
		Exps: vexp.For(m.Kernels.ISA.Has(gemm.AVX2), m.Kernels.ISA.Has(gemm.AVX512))}
	for _, pass := range Passes {
		if err := pass.run(pl); err != nil {
			return nil, fmt.Errorf("cpu: %s: %w", pass.Name, err)
		}
	}
	return pl, nil
}

func verify(p *plan.Plan) error {
	if err := p.Program.Verify(); err != nil {
		return err
	}
	var err error
	p.Program, p.Slots, err = slotted(p, canonicalize(p.Program))
	return err
}
