package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"matladder/stats"

	"matladder/backend"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/backend/registry/builtin"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/tile"
)

// A function is one that --with names: [NAME=]FILE:SYMBOL[:OPERANDS].
type function struct{ name, file, symbol, operands string }

func parseFunction(text string) (function, error) {
	f := function{}
	rest := text
	if name, after, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(name, "/:") {
		f.name, rest = name, after
	}
	parts := strings.SplitN(rest, ":", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return f, cli.Usagef("--with %s: want FILE:SYMBOL, as in ./my.so:gemm, or NAME=FILE:SYMBOL:OPERANDS", text)
	}
	f.file, f.symbol, f.operands = parts[0], parts[1], tile.Float32.String()
	if len(parts) == 3 {
		f.operands = parts[2]
	}
	if f.name == "" {
		f.name = f.symbol
	}
	return f, nil
}

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
			return cli.Usagef("--with: two functions are called %s: name one of them, as in mine=%s:%s", fn.name, fn.file, fn.symbol)
		}
		seen[fn.name] = true
		if _, rung := stats.Rung(fn.name); rung || fn.name == kernels.BaselineName {
			return cli.Usagef("--with %s: %s is a kernel's name: give the function another, as in mine=%s:%s", text, fn.name, fn.file, fn.symbol)
		}
	}
	if f.where.Name() != builtin.CPU {
		return cli.Usagef("--with runs functions on backend %s, and kernels run on %s", builtin.CPU, f.where.Name())
	}
	if f.set.Changed("cache") {
		return cli.Usagef("--with and --cache cannot be combined")
	}
	return nil
}

// functions opens what --with names, and says how each is called. Those that are open are
// returned with an error too.
func (f *flags) functions(ctx context.Context, c harness.Config, dev *device, stderr io.Writer) (list []*library.Backend, err error) {
	for _, text := range f.with {
		fn, err := parseFunction(text)
		if err != nil {
			return list, err
		}
		asked, err := c.Family.Parse(fn.operands)
		if err == nil {
			asked, err = c.Family.Complete(asked)
		}
		if err != nil {
			return list, cli.Usagef("--with %s: %w", text, err)
		}
		b, err := library.Open(ctx, foreign.Function{Name: fn.name, Family: c.Family, Asked: asked},
			library.Library{File: fn.file, Symbol: fn.symbol, Threads: dev.Params.Threads}, dev.Host)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return list, ctx.Err()
		case errors.As(err, new(*backend.CrashError)), errors.Is(err, context.DeadlineExceeded):
			return list, fmt.Errorf("--with %s: %w", text, err)
		default:
			return list, cli.Usagef("--with %s: %w", text, err)
		}
		list = append(list, b)
		fmt.Fprintf(stderr, "%s is called as %s\n", fn.file, b.Signature())
		if !b.SupportsAny(c.Family, c.Asked) {
			return list, cli.Usagef("--with %s: %s computes %s, which the sweep has none of: --dtype %s asks for it", text, b.Name(), b.Asked, fn.operands)
		}
	}
	return list, nil
}
