package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"matladder/problem"
	"matladder/tile"
)

// The faults that Inject knows, each one that a kernel can really have.
const (
	FaultZeros = "zeros" // nothing was written
	FaultSign  = "sign"  // the largest element has the wrong sign
	FaultTile  = "tile"  // the columns of one block are off by one
	FaultGain  = "gain"  // everything is 1.05 times too large; of integers, by 1 at least
	FaultNaN   = "nan"   // one element is NaN (for integers: the smallest number)
)

// Faults lists what Inject can do.
func Faults() []string { return []string{FaultZeros, FaultSign, FaultTile, FaultGain, FaultNaN} }

// FaultsOf lists what Damage can do to the outputs of p.
func FaultsOf(p problem.Problem) []string {
	var list []string
	for _, o := range p.Operands() {
		if !o.Out {
			continue
		}
		for _, fault := range Faults() {
			if o.Name != "o" {
				fault += ":" + o.Name
			}
			list = append(list, fault)
		}
	}
	return list
}

// Damage returns outputs of which one is a damaged copy: o, or that whose name stands
// behind a colon after the fault. Without a fault they are out.
func Damage(fault string, out map[string]tile.Tensor) (map[string]tile.Tensor, error) {
	if fault == "" {
		return out, nil
	}
	fault, name, ok := strings.Cut(fault, ":")
	if !ok {
		name = "o"
	}
	bad, ok := out[name]
	if !ok {
		return nil, fmt.Errorf("fault %q: there is no output %q", fault, name)
	}
	bad.Data = slices.Clone(bad.Data)
	out = maps.Clone(out)
	out[name] = bad
	return out, Inject(fault, bad)
}

// faultTile is the side of the block that FaultTile damages.
const faultTile = 128

// Inject damages an output in place; the elements of a batch as one matrix.
func Inject(fault string, out tile.Tensor) error {
	n := out.Len()
	switch fault {
	case FaultZeros:
		clear(out.Data)
	case FaultSign:
		at := 0
		for i := range n {
			if math.Abs(out.At(i)) > math.Abs(out.At(at)) {
				at = i
			}
		}
		out.Set(at, -out.At(at))
	case FaultTile:
		rotateTile(out)
	case FaultGain:
		for i := range n {
			v := out.At(i)
			by := v * 0.05
			if out.Dtype.IsInteger() && math.Abs(by) < 1 {
				by = 1
			}
			out.Set(i, v+by)
		}
	case FaultNaN:
		bad := math.NaN()
		if lo, _ := out.Dtype.Range(); out.Dtype.IsInteger() {
			bad = lo
		}
		out.Set(n/2, bad)
	default:
		return fmt.Errorf("unknown fault %q (known: %s)", fault, strings.Join(Faults(), ", "))
	}
	return nil
}

// rotateTile moves each row of the last block of out one column to the left,
// or, where the block has one column, each column one row up.
func rotateTile(out tile.Tensor) {
	n := out.Shape[len(out.Shape)-1]
	m := out.Len() / n
	r0, c0 := max(0, m-faultTile), max(0, n-faultTile)
	if n-c0 > 1 {
		for r := r0; r < m; r++ {
			first := out.At(r*n + c0)
			for c := c0; c < n-1; c++ {
				out.Set(r*n+c, out.At(r*n+c+1))
			}
			out.Set(r*n+n-1, first)
		}
		return
	}
	for c := c0; c < n; c++ {
		first := out.At(r0*n + c)
		for r := r0; r < m-1; r++ {
			out.Set(r*n+c, out.At((r+1)*n+c))
		}
		out.Set((m-1)*n+c, first)
	}
}
