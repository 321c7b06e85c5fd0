package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/backend/foreign/process"
	"matladder/backend/foreign/program"
	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/problem"
	"matladder/stats"
	"matladder/tile"
)

// A function is one that --with names: [NAME=]FILE:SYMBOL[:OPERANDS], or a program,
// [NAME=]FILE[:OPERANDS], without a symbol.
type function struct{ name, file, symbol, operands string }

func parseFunction(text string) (function, error) {
	f := function{}
	rest := text
	if after := unnamed(text); after != text {
		f.name, rest = strings.TrimSuffix(text, "="+after), after
		if f.name == "" {
			return f, cli.Usagef("--with %s: the name before = is empty", text)
		}
	}
	switch file, operands, _ := strings.Cut(rest, ":"); {
	case program.Is(file):
		f.file, f.operands = file, operands
		base := filepath.Base(file)
		f.name = cmp.Or(f.name, strings.TrimSuffix(base, filepath.Ext(base)))
		return f, nil
	case filepath.Ext(file) == ".ttir":
		return f, cli.Usagef("--with %s: inspect predicts a .ttir file, as in inspect %s --topology h100; --with takes the kernel's own Python file, as in FILE.py:KERNEL", text, file)
	}
	parts := strings.SplitN(rest, ":", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return f, cli.Usagef("--with %s: want FILE:SYMBOL, as in ./my.so:gemm, or NAME=FILE:SYMBOL:OPERANDS", text)
	}
	f.file, f.symbol, f.name = parts[0], parts[1], cmp.Or(f.name, parts[1])
	if len(parts) == 3 {
		f.operands = parts[2]
	} else if !f.isPython() {
		f.operands = tile.Float32.String()
	}
	return f, nil
}

// unnamed is what --with names, without the name that it is given.
func unnamed(text string) string {
	if name, after, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(name, "/:") {
		return after
	}
	return text
}

func (f function) isPython() bool { return filepath.Ext(f.file) == ".py" }

// checkWith refuses functions that cannot be measured whatever the sweep.
func (f *flags) checkWith() error {
	if len(f.with) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, text := range f.with {
		fn, err := parseFunction(text)
		if err != nil {
			return err
		}
		if seen[fn.name] {
			return cli.Usagef("--with: two functions are called %s: name one of them, as in mine=%s", fn.name, unnamed(text))
		}
		seen[fn.name] = true
		if _, rung := stats.Rung(fn.name); rung || fn.name == kernels.BaselineName {
			return cli.Usagef("--with %s: %s is a kernel's name: give the function another, as in mine=%s", text, fn.name, unnamed(text))
		}
		e, err := f.where.Entry()
		switch {
		case err != nil:
			return err
		case e.Name == builtin.CPU:
		case fn.symbol == "" && e.Can&registry.Programs == 0:
			return cli.Usagef("--with %s: backend %s takes no StableHLO programs (known: %s, %s)", text, e.Name, builtin.CPU, strings.Join(registry.Names(registry.Programs), ", "))
		case fn.isPython() && e.Can&registry.Predicts != 0: // exported
		case fn.symbol != "":
			return cli.Usagef("--with %s: functions run on backend %s, and kernels run on %s; of those in Python --topology v5e predicts", text, builtin.CPU, e.Name)
		}
	}
	if f.set.Changed("cache") {
		return cli.Usagef("--with and --cache cannot be combined")
	}
	return nil
}

// A guest is what --with names, open.
type guest struct {
	harness.Peer
	close func() error
}

// Close frees what was opened for it.
func (g guest) Close() error { return g.close() }

// guests puts what --with names into a sweep, and says how each is called. Those that are open
// are returned with an error too.
func (f *flags) guests(ctx context.Context, c harness.Config, dev *device, sweep harness.Sweep, stderr io.Writer) (list []guest, err error) {
	for _, text := range f.with {
		fn, err := parseFunction(text)
		if err != nil {
			return list, err
		}
		open := f.function
		switch {
		case fn.symbol == "":
			open = f.program
		case fn.isPython():
			open = f.python
		}
		g, err := open(ctx, fn, c, dev, stderr)
		if err == nil {
			list = append(list, g)
			sweep.Compare(g.Peer)
			err = computesAny(g, sweep)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return list, ctx.Err()
		case errors.As(err, new(*backend.CrashError)), errors.Is(err, context.DeadlineExceeded):
			return list, fmt.Errorf("--with %s: %w", text, err)
		default:
			return list, cli.Usagef("--with %s: %w", text, err)
		}
	}
	return list, nil
}

// function opens a function of a shared library.
func (f *flags) function(ctx context.Context, fn function, c harness.Config, dev *device, stderr io.Writer) (g guest, err error) {
	asked, err := askedOf(fn, c)
	if err != nil {
		return g, err
	}
	b, err := library.Open(ctx, foreign.Function{Name: fn.name, Family: c.Family, Asked: asked},
		library.Library{File: fn.file, Symbol: fn.symbol, Threads: dev.Params.Threads}, dev.Host)
	if err != nil {
		return g, err
	}
	fmt.Fprintf(stderr, "%s is called as %s\n", fn.file, b.Signature())
	return guest{b, b.Close}, nil
}

// python opens a function of a Python file.
func (f *flags) python(ctx context.Context, fn function, c harness.Config, dev *device, stderr io.Writer) (g guest, err error) {
	function := foreign.Function{Name: fn.name, Family: c.Family, Any: fn.operands == ""}
	if function.Any {
		function.Asked = c.Asked[0]
		function.Asked.Quant = problem.NoQuant
	} else if function.Asked, err = askedOf(fn, c); err != nil {
		return g, err
	}
	at := process.Python{File: fn.file, Function: fn.symbol, Interpreter: f.interpreter, Threads: cmp.Or(dev.Params.Threads, f.threads, runtime.GOMAXPROCS(0))}
	b, err := process.OpenPython(ctx, function, at, dev.Host)
	if err != nil {
		return g, err
	}
	fmt.Fprintf(stderr, "%s is called as %s\n", fn.file, b.Signature())
	if !dev.Predicts {
		return guest{b, b.Close}, nil
	}
	chip := dev.Device()
	at.Interpret = &chip
	e := program.NewExported(b, dev.Backend, func(ctx context.Context) (backend.Backend, error) {
		return process.OpenPython(ctx, function, at, dev.Host)
	})
	return guest{e, e.Close}, nil
}

func askedOf(fn function, c harness.Config) (problem.Asked, error) {
	asked, err := c.Family.Parse(fn.operands)
	if err == nil {
		asked, err = c.Family.Complete(asked)
	}
	return asked, err
}

// program opens a StableHLO program on what runs kernels, or where that is the CPU on XLA
// beside it.
func (f *flags) program(ctx context.Context, fn function, c harness.Config, dev *device, _ io.Writer) (g guest, err error) {
	file, err := program.Read(fn.file)
	if err != nil {
		return g, err
	}
	function := foreign.Function{Name: fn.name, Family: c.Family, Any: fn.operands == ""}
	if !function.Any {
		if function.Asked, err = askedOf(fn, c); err != nil {
			return g, err
		}
	}
	on, closing := dev.Backend, func() error { return nil }
	if f.where.Name() == builtin.CPU {
		if on, err = dev.OpenBaseline(ctx); err != nil {
			return g, err
		}
		closing = on.Close
	}
	b, err := program.New(function, file, on)
	if err != nil {
		return g, errors.Join(err, closing())
	}
	if dev.Predicts {
		b.VerifyOn(builtin.OpenVerifier)
	}
	return guest{b, func() error { return errors.Join(b.Close(), closing()) }}, nil
}

// computesAny is an error unless a guest computes any point of a sweep: why not the first.
func computesAny(g guest, sweep harness.Sweep) (err error) {
	for p := range sweep.Points() {
		switch {
		case p.Name() != g.Name():
		case p.Status == "":
			return nil
		case err == nil:
			err = fmt.Errorf("none of the sweep is for %s: %s", g.Name(), p.Reason)
		}
	}
	return err
}
