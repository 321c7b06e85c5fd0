// Package check makes the inputs of a run from a seed and verifies its outputs.
//
// Each problem family says how (Family); what follows is how products do it
// (matmul.go), and in principle all.
//
//  1. Fill makes one input array, by name, from a seed and a distribution.
//  2. NewReference computes, once for all kernels of a problem, what float64
//     arithmetic gives on those inputs: whole rows of the output (all of them up
//     to about 256³, a sample above) and random combinations of every row
//     (Freivalds 1977).
//  3. Of a quantized problem, Unquantized computes the rows on the operands before
//     they were quantized, so that the loss can be told from the rounding.
//  4. Verify compares an output with it, against a bound that counts the
//     program's own roundings.
//  5. Of an exact probe (the distribution Exact) each element has one answer: small
//     integers, of which no right program rounds a sum but in the way that is known.
//     A missing element of k or a swapped column cannot hide behind a bound there.
//  6. Inject damages an output in a known way, so that the check itself can be
//     tested; Damage does so to one of several, and FaultsOf lists all that there is.
//
// It refuses to call an output right because it looks plausible: NaN is wrong,
// and so is an element that was never written.
package check

import (
	"context"
	"fmt"
	"math"

	"matladder/problem"
	"matladder/tile"
)

// Result is a verdict on an output.
type Result struct {
	OK           bool
	ErrOverBound float64 // largest error divided by its bound: 0 for an exact match, over 1 is wrong, +Inf for NaN
	RelErr       float64 // ‖o - o64‖ / ‖o64‖ (Frobenius) against float64 on the same inputs; NaN if o has one
	Detail       string  // where and how it is wrong; "" if it is not

	// How far o is from float64 on operands before they were quantized, where the
	// problem is quantized and Unquantized was called.
	Quantized   bool
	QuantRelErr float64 // ‖o - o64‖ / ‖o64‖ (Frobenius)
	QuantMaxErr float64 // the largest |o - o64|
	QuantSNRdB  float64 // 20·log10(‖o64‖ / ‖o - o64‖)
}

// join takes in a verdict on another part of the output: of wrong ones the worst is reported.
func (r *Result) join(part Result) {
	if !part.OK && (r.OK || part.ErrOverBound > r.ErrOverBound) {
		r.OK, r.Detail = false, part.Detail
	}
	r.ErrOverBound, r.RelErr = max(r.ErrOverBound, part.ErrOverBound), max(r.RelErr, part.RelErr)
}

// note takes in an error over its bound, of which the first above 1 is reported; NaN is worse than any.
func (r *Result) note(over float64, detail func() string) {
	if over != over {
		over = math.Inf(1)
	}
	if over > 1 && r.OK {
		r.OK, r.Detail = false, detail()
	}
	r.ErrOverBound = max(r.ErrOverBound, over)
}

// Inputs makes all inputs of programs in the order of tile.Bind.
func Inputs(ctx context.Context, p problem.Problem, programs []*tile.Program, seed uint64, dist string) ([]tile.Tensor, error) {
	b, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	in := make([]tile.Tensor, len(b.In))
	for i, r := range b.In {
		in[i] = tile.NewTensor(r.Dtype, r.Array...)
		if err := Fill(ctx, in[i], r.Name, p, seed, dist); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// Verify compares out, the outputs of programs for p on inputs in (both in the order
// of tile.Bind), with float64 arithmetic. To verify several programs on the
// same inputs, make one ReferenceOf and use it for all.
func Verify(ctx context.Context, p problem.Problem, programs []*tile.Program, in []tile.Tensor, out ...tile.Tensor) (Result, error) {
	b, err := tile.Bind(programs)
	if err != nil {
		return Result{}, err
	}
	if len(in) != len(b.In) || len(out) != len(b.Out) {
		return Result{}, fmt.Errorf("check: %d inputs for %d arrays, %d outputs for %d", len(in), len(b.In), len(out), len(b.Out))
	}
	named, outputs := byName(b.In, in), byName(b.Out, out)
	ref, err := ReferenceOf(ctx, p, named, 0, given)
	if err != nil {
		return Result{}, err
	}
	return ref.Verify(ctx, programs, named, outputs)
}

func byName(refs []*tile.Ref, arrays []tile.Tensor) map[string]tile.Tensor {
	named := map[string]tile.Tensor{}
	for i, r := range refs {
		named[r.Name] = arrays[i]
	}
	return named
}

// A Family is how inputs of a problem family are made and outputs of it verified.
type Family struct {
	// Fill sets input array name of p. Of exact probes it is asked only where HasExact.
	Fill func(ctx context.Context, t tile.Tensor, name string, p problem.Problem, seed uint64, dist string) error
	// HasExact reports whether there are exact probes of p; nil if there are none.
	HasExact func(p problem.Problem) bool
	// Reference computes what outputs are compared with, of inputs that Fill made. in may be
	// nil for exact probes.
	Reference func(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error)
}

// A Verifier compares outputs with what they must be. It does not keep the inputs, which are given
// again to Verify, and may be used for many programs, by one goroutine at a time.
type Verifier interface {
	// Verify compares all outputs, by name, with what inputs lead to. programs, nil if they
	// are not known, say how often a result is rounded on its way.
	Verify(ctx context.Context, programs []*tile.Program, in, out map[string]tile.Tensor) (Result, error)
	// ProductsOff says that the device's products of float32 numbers are off by up to a part
	// of themselves.
	ProductsOff(part float64)
}

// families are those of this program, by name.
var families = map[string]Family{}

// Register adds a problem family. It panics if that is registered already: call it in an
// init function, or in a test before others begin.
func Register(f *problem.Family, how Family) {
	if _, ok := families[f.Name]; ok || how.Fill == nil || how.Reference == nil {
		panic("check: family " + f.Name + " is registered twice, or lacks something")
	}
	families[f.Name] = how
}

func familyOf(p problem.Problem) (Family, error) {
	f, ok := families[p.Family().Name]
	if !ok {
		return f, fmt.Errorf("check: nothing says how problems of %s are verified", p.Family().Name)
	}
	return f, nil
}

// HasExact reports whether there are exact probes of p.
func HasExact(p problem.Problem) bool {
	f, err := familyOf(p)
	return err == nil && f.HasExact != nil && f.HasExact(p)
}

// ReferenceOf computes what outputs of p are compared with on the inputs that Fill makes
// from a seed and a distribution. in may be nil for exact probes.
func ReferenceOf(ctx context.Context, p problem.Problem, in map[string]tile.Tensor, seed uint64, dist string) (Verifier, error) {
	f, err := familyOf(p)
	if err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return f.Reference(ctx, p, in, seed, dist)
}

// HasExactFamily reports whether there are exact probes of any problem of p's family.
func HasExactFamily(p problem.Problem) bool {
	f, err := familyOf(p)
	return err == nil && f.HasExact != nil
}
