package cpu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/cgroup"
	"matladder/tile"
)

var _ backend.Caller = (*Backend)(nil)

// CompileCall plans programs for calls. Memory comes with the first call.
func (b *Backend) CompileCall(ctx context.Context, programs []*tile.Program, params backend.Params, layout backend.Layout) (backend.Callable, error) {
	if params.Threads != 0 && params.Threads != b.Threads() {
		return nil, fmt.Errorf("cpu: call: %d threads: the backend has %d", params.Threads, b.Threads())
	}
	e, err := b.compileFor(ctx, programs, params, layout)
	if err != nil {
		return nil, err
	}
	if err := e.Borrow(layout.Packed); err != nil {
		return nil, err
	}
	if need, limit := e.Size(), cgroup.Available(); limit > 0 && need > limit {
		return nil, fmt.Errorf("cpu: %w", &backend.TooBigError{What: "memory", Needed: need, Limit: limit})
	}
	return exec.NewCallable(e, b.Threads(), b.sharing), nil
}

var _ backend.Cooler = (*Backend)(nil)

// Cool puts all memory of an executable out of the caches: arrays, and the buffers that
// launches pack into.
func (b *Backend) Cool(ctx context.Context, x backend.Executable) error {
	e, ok := x.(*exec.Executable)
	if !ok {
		return errors.New("cpu: cool: not an executable of this backend")
	}
	return e.Cool(ctx)
}

// Assembly compiles programs as Compile does and returns the micro-kernels that their
// products call, each once. Nothing runs. Errors are those of Compile.
func (b *Backend) Assembly(ctx context.Context, programs []*tile.Program, params backend.Params) ([]backend.Routine, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	var seen []plan.Routine
	var list []backend.Routine
	for i := range e.Plans {
		for _, r := range e.Plans[i].Routines() {
			if slices.Contains(seen, r) {
				continue
			}
			seen = append(seen, r)
			one := backend.Routine{Name: r.Name, Product: r.Product}
			if one.File, one.Text = gemm.Assembly(r.Name); one.File == "" {
				one.Name = "" // it is in Go
			} else {
				one.File, one.Code = "backend/cpu/internal/gemm/"+one.File, gemm.Code(r.Name)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

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
	_, err = io.WriteString(w, e.Print(describe(b.unmeasured().CPU, &e.Plans[0].Machine, why, backend.Params{Extra: params.Extra}.String()), memory.AsksForHugePages))
	return err
}

// describe says what programs were compiled for; asked are choices as k=v pairs.
func describe(name string, m *plan.Machine, why, asked string) []string {
	isa := m.Kernels.ISA
	first := name + ": " + note(isa.String(), m.Workers)
	for _, c := range []struct {
		name  string
		bytes int64
	}{{"L1", m.L1}, {"L2", m.L2}, {"L3", m.L3}} {
		if c.bytes > 0 {
			first += fmt.Sprintf("; %s %s", c.name, plan.KiB(c.bytes))
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
