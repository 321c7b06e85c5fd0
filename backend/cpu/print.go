package cpu

import (
	"context"
	"fmt"
	"io"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// WritePlan compiles programs as Compile does and writes the plans instead of running
// them: the machine, then of each program what each pass decided, the loops around the
// micro-kernel that come of it, and the memory. It allocates nothing, so programs that do
// not fit memory have a plan too. Errors are those of Compile.
func (b *Backend) WritePlan(ctx context.Context, w io.Writer, programs []*tile.Program, params backend.Params) error {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return err
	}
	why := b.why
	if params.ISA != "" && params.ISA != b.options.ISA {
		why = whyAsked
	}
	_, err = io.WriteString(w, e.Print(describe(&e.Plans[0].Machine, why, backend.Params{Extra: params.Extra}.String()), memory.AsksForHugePages))
	return err
}

// describe says what programs were compiled for; asked are choices as k=v pairs.
func describe(m *plan.Machine, why, asked string) []string {
	host, isa := probe.Host(), m.Kernels.ISA
	first := host.Name + ": " + note(isa.String(), m.Workers)
	for _, c := range []struct {
		name  string
		bytes int
	}{{"L1", host.L1D}, {"L2", host.L2}, {"L3", host.L3}} {
		if c.bytes > 0 {
			first += fmt.Sprintf("; %s %s", c.name, plan.KiB(int64(c.bytes)))
		}
	}
	line := fmt.Sprintf("%s is %s", isa, why)
	for _, better := range isa.Better() {
		if missing := better.Missing(); len(missing) > 0 {
			line += fmt.Sprintf("; %s lacks %s", better, strings.Join(missing, ", "))
		} else {
			line += fmt.Sprintf("; %s would run too", better)
		}
	}
	lines := []string{first, line}
	if asked != "" {
		lines = append(lines, "asked for, in place of rules: "+asked)
	}
	return lines
}
