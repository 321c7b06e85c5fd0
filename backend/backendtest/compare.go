package backendtest

import (
	"bytes"
	"math"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// sameBits compares arrays element by element; -0 is 0.
func sameBits(t *testing.T, want, got []tile.Tensor) {
	t.Helper()
	for o := range want {
		if bytes.Equal(want[o].Data, got[o].Data) {
			continue
		}
		for i := range want[o].Len() {
			if w, g := want[o].At(i), got[o].At(i); w != g && (w == w || g == g) {
				t.Fatalf("array %d: element %v is %v, should be %v", o, coordinates(want[o], i), g, w)
			}
		}
	}
}

func coordinates(t tile.Tensor, i int) []int {
	at := make([]int, len(t.Shape))
	for d := len(at) - 1; d >= 0; d-- {
		at[d], i = i%t.Shape[d], i/t.Shape[d]
	}
	return at
}

// bound is how far a result may be from float64, in parts of Σ|a|·|b|.
func (s suite) bound(p problem.Matmul, programs []*tile.Program) float64 {
	// One rounding for each product and each addition, at most.
	sum := float64(2*p.K+2) * s.FloatRoundoff
	if p.Acc.IsInteger() {
		sum = 0x1p-22 // the scales: two products and two casts
	}
	rounds := 1 // of the output
	for _, prog := range programs {
		prog.Walk(func(st *tile.Stmt) {
			if st.Kind == tile.Accumulate && st.Ref.Kind == tile.Out && st.Ref.Dtype.Bits() < 32 {
				rounds = prog.Grid[len(prog.Grid)-1].Size
			}
		})
	}
	return sum + float64(rounds)*p.Out.Epsilon()*(1+sum)
}

// within compares floats with interp on in. The scale of the error is what the
// same programs give on the absolute values of in.
func within(t *testing.T, bound float64, programs []*tile.Program, in, got []tile.Tensor) {
	t.Helper()
	absolute := copies(in)
	for _, a := range absolute {
		for i := range a.Len() {
			if v := a.At(i); v < 0 {
				a.Set(i, -v)
			}
		}
	}
	want, scale := oracle(t, programs, in), oracle(t, programs, absolute)
	for o := range want {
		for i := range want[o].Len() {
			w, g := want[o].At(i), got[o].At(i)
			// interp rounds too, on both sides.
			limit := bound*scale[o].At(i)*(1+bound)*2 + 0x1p-126
			if e := math.Abs(w - g); !(e <= limit) {
				t.Fatalf("array %d: element %v is %v, should be %v within %.3g", o, coordinates(want[o], i), g, w, limit)
			}
		}
	}
}
