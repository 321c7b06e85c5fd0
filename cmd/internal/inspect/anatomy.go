package inspect

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"matladder/backend"
	"matladder/kernels"
	"matladder/model/anatomy"
	"matladder/problem"
	"matladder/tile"
)

// anatomy writes what the CPU backend does with the kernel up to each step of package anatomy: its
// loops, its innermost one, and the cycles that a model of a core counts.
func (o *options) anatomy(ctx context.Context, w io.Writer) error {
	p, ok := o.problem.(problem.Matmul)
	if !ok || !kernels.ChoosesBlocks(o.kernel) {
		return fmt.Errorf("--as anatomy is for matrix products in blocks of a choice, as v4's, which %s is not", o.name)
	}
	isa := o.open.Params.ISA
	if b, ok := o.open.Backend.(interface{ ISA() string }); ok && isa == "" {
		isa = b.ISA()
	}
	core, known := anatomy.CoreOf(isa)
	whole := problem.ClipAll(p, tile.Blocks{M: p.M, K: p.K, N: p.N})[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s: one step after another\n", o.title(), isa)
	before := 0.0
	for i, s := range anatomy.Steps {
		blocks, params := o.blocks, o.open.Params
		if i < anatomy.Blocking {
			blocks = whole
		}
		programs, err := o.kernel.Build(p, o.variant, blocks)
		if err != nil {
			return err
		}
		params.Extra = map[string]string{anatomy.Param: s.Word}
		var text strings.Builder
		if err := o.open.Backend.(backend.Planner).WritePlan(ctx, &text, programs, params); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.Name, err)
		}
		routines, err := o.open.Backend.(backend.Assembler).Assembly(ctx, programs, params)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%d %s (--param %s=%s, blocks %s): %s\n%s", i+1, s.Name, anatomy.Param, s.Word, blocks, s.Idea, loopsOf.FindString(text.String()))
		for _, r := range routines {
			inner := s.Inner
			if r.Name != "" {
				loop := hotText(r.Text)
				inner = fmt.Sprintf("%s: %d instructions, %d of them products", r.Name, instructions(loop), products(loop, mnemonicOf))
			}
			fmt.Fprintf(&b, "inner     %s\n", inner)
		}
		if !known {
			b.WriteString("counts    no model of a core with these instructions\n")
			continue
		}
		x := core.Count(i, p.M, p.K, p.N)
		limit, cycles := x.Limit()
		b.WriteString("counts    cycles of 1000 products:")
		for j, cycles := range x {
			fmt.Fprintf(&b, " %s %.0f", anatomy.Limits[j], 1000*cycles)
		}
		fmt.Fprintf(&b, "\nlimit     %s: %.3g %% of the peak", limit, 100/(cycles*float64(core.Lanes)*core.FMAs))
		if i == anatomy.Threads {
			b.WriteString(" of each core")
		} else if before > 0 {
			fmt.Fprintf(&b, ", %.3g× the step before", before/cycles)
		}
		b.WriteString("\n")
		before = cycles
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// loopsOf is the part of a plan's text that has its loops.
var loopsOf = regexp.MustCompile(`(?m)^loops.*\n(?: .*\n)*`)
