// Package check makes the inputs of a run from a seed and verifies its outputs.
//
//  1. Fill makes one input array, by name, from a seed and a distribution.
//  2. Verify compares an output with float64 arithmetic on the same inputs,
//     against a bound that counts the program's own roundings.
//  3. Inject damages an output in a known way, so that the check itself can be
//     tested.
//
// It refuses to call an output right because it looks plausible: NaN is wrong,
// an element never written is wrong.
package check

import (
	"context"
	"errors"

	"matladder/problem"
	"matladder/tile"
)

// Result is a verdict on an output.
type Result struct {
	OK           bool
	ErrOverBound float64 // largest error divided by its bound; 0 for an exact match, over 1 is wrong
	RelErr       float64 // ‖o - o64‖ / ‖o64‖ (Frobenius) against float64 on the same inputs
	Detail       string  // where and how it is wrong; "" if it is not
}

// Fill sets input array name of p ("a", "b", "sa", "sb") from a seed and a
// distribution; the same on every machine and for every number of workers.
func Fill(t tile.Tensor, name string, p problem.Matmul, seed uint64, dist string) error {
	return errors.New("not written yet")
}

// Verify compares out, the output of programs for p on inputs in (in the order
// of tile.Bind), with float64 arithmetic.
func Verify(ctx context.Context, p problem.Matmul, programs []*tile.Program, in []tile.Tensor, out tile.Tensor) (Result, error) {
	return Result{}, errors.New("not written yet")
}

// Faults lists what Inject can do: zeros, sign, tile, gain, nan.
func Faults() []string { return []string{"zeros", "sign", "tile", "gain", "nan"} }

// Inject damages out in place.
func Inject(fault string, out tile.Tensor) error { return errors.New("not written yet") }
