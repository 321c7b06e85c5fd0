package peer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/chips"
	"matladder/problem"
	"matladder/tile"
)

// Unsigned is the variant in which an int8 operand a is handed over as uint8, 128
// added to each element, for libraries that multiply uint8 by int8 faster or not
// otherwise. The 128 is taken out again where the output is verified, outside the
// timed region; in a scaled product the library does so itself, as the zero point
// of a.
const Unsigned = "uint8"

// Options are for Open.
type Options struct {
	Program    string // of Build
	Library    Library
	Threads    int          // that the library may use; at least 1
	Host       chips.Device // the machine, which the library is a program of
	References *References  // shared by all peers of a sweep; nil for its own

	// CallTimeout limits what takes no context: inputs, check, results. 10 minutes
	// if 0.
	CallTimeout time.Duration
}

// Backend is one library.
type Backend struct {
	options Options
	version string
	has     []string // names of forms
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Plugged = (*Backend)(nil)
)

// Open loads the library once to see that it works and what it has.
func Open(ctx context.Context, o Options) (*Backend, error) {
	if o.Threads < 1 {
		return nil, fmt.Errorf("peer: %d threads", o.Threads)
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = 10 * time.Minute
	}
	if o.References == nil {
		o.References = &References{}
	}
	b := &Backend{options: o}
	p, err := start(o)
	if err != nil {
		return nil, err
	}
	defer p.end()
	ready, err := p.greeting(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", o.Library.Name, o.Library.Path, err)
	}
	has, version, _ := strings.Cut(ready, " ")
	b.has, b.version = strings.Split(has, ","), strings.TrimSpace(version)
	return b, nil
}

// Name is the library's.
func (b *Backend) Name() string { return b.options.Library.Name }

// Device is the machine.
func (b *Backend) Device() chips.Device { return b.options.Host }

// Plugin is the library's file and its version, with the cores that it takes
// those of this machine for, where it says so.
func (b *Backend) Plugin() (name, version string) {
	return filepath.Base(b.options.Library.Path), b.version
}

// Close frees nothing: processes belong to executables.
func (b *Backend) Close() error { return nil }

// Compile answers that a peer runs no tile programs.
func (b *Backend) Compile(context.Context, []*tile.Program, backend.Params) (backend.Executable, error) {
	return nil, fmt.Errorf("%s runs no tile programs: %w", b.Name(), backend.ErrUnsupported)
}

// Supports returns why the library has no product like p, or nil.
func (b *Backend) Supports(asked problem.Problem) error {
	p, ok := asked.(problem.Matmul)
	if !ok {
		return fmt.Errorf("%s is a library of matrix products", b.Name())
	}
	if p.Batch != 1 || p.TransB || p.Epilogue() != "" {
		return fmt.Errorf("%s is asked for one product at a time, without bias or activation", b.Name())
	}
	if _, err := scalesOf(p); err != nil {
		return fmt.Errorf("%s is %w", b.Name(), err)
	}
	if len(b.formsOf(p)) == 0 {
		return fmt.Errorf("%s %s has no product %s", b.Name(), b.version, strings.TrimSpace(fmt.Sprintf("%s×%s→%s %s", p.A, p.B, p.Out, p.Quant)))
	}
	return nil
}

// Variants lists the forms in which the library computes p: "" as asked, or
// Unsigned.
func (b *Backend) Variants(asked problem.Problem) []string {
	p, _ := asked.(problem.Matmul)
	var list []string
	for _, f := range b.formsOf(p) {
		list = append(list, f.variant)
	}
	return list
}

// A form is a product that the C program knows.
type form struct {
	name, variant string
	a, b, out     tile.Dtype
	scaled        bool // by scales of a and of b
}

var forms = []form{
	{"f32", "", tile.Float32, tile.Float32, tile.Float32, false},
	{"bf16_f32", "", tile.BFloat16, tile.BFloat16, tile.Float32, false},
	{"bf16_bf16", "", tile.BFloat16, tile.BFloat16, tile.BFloat16, false},
	{"s8_s32", "", tile.Int8, tile.Int8, tile.Int32, false},
	{"u8_s32", Unsigned, tile.Int8, tile.Int8, tile.Int32, false},
	{"u8_s32", "", tile.Uint8, tile.Int8, tile.Int32, false},
	{"s8_f32", "", tile.Int8, tile.Int8, tile.Float32, true},
	{"s8_bf16", "", tile.Int8, tile.Int8, tile.BFloat16, true},
	{"u8_f32", Unsigned, tile.Int8, tile.Int8, tile.Float32, true},
	{"u8_bf16", Unsigned, tile.Int8, tile.Int8, tile.BFloat16, true},
}

// formsOf are the forms of p that the library has.
func (b *Backend) formsOf(p problem.Matmul) []form {
	var list []form
	for _, f := range forms {
		if f.a == p.A && f.b == p.B && f.out == p.Out && f.scaled == (p.Quant != problem.NoQuant) && slices.Contains(b.has, f.name) {
			list = append(list, f)
		}
	}
	return list
}

// Products lists what the library multiplies, for people.
func (b *Backend) Products() []string {
	var list []string
	for _, f := range forms {
		if f.variant == "" && slices.Contains(b.has, f.name) {
			s := fmt.Sprintf("%s×%s→%s", f.a, f.b, f.out)
			if f.scaled {
				s += " scaled"
			}
			list = append(list, s)
		}
	}
	return list
}

// Baseline starts a process that computes the product.
func (b *Backend) Baseline(ctx context.Context, spec backend.BaselineSpec) (backend.Executable, error) {
	if err := b.Supports(spec.Problem); err != nil {
		return nil, fmt.Errorf("%w: %w", err, backend.ErrUnsupported)
	}
	p := spec.Problem.(problem.Matmul) // or it is not supported
	fits := b.formsOf(p)
	i := slices.IndexFunc(fits, func(f form) bool { return f.variant == spec.Variant })
	if i < 0 {
		return nil, fmt.Errorf("%s has no variant %q of %s: %w", b.Name(), spec.Variant, spec.Problem, backend.ErrUnsupported)
	}
	process, err := start(b.options)
	if err != nil {
		return nil, err
	}
	scales, err := scalesOf(p)
	if err != nil {
		process.end()
		return nil, err
	}
	e := &executable{backend: b, process: process, problem: p, scales: scales, unsigned: spec.Variant == Unsigned}
	_, err = process.greeting(ctx)
	if err == nil {
		_, err = process.ask(ctx, fmt.Sprintf("product %s %d %d %d %d %d", fits[i].name, p.M, p.K, p.N, scales.a, scales.b), nil, nil)
	}
	if err != nil {
		process.end()
		return nil, err
	}
	return e, nil
}
