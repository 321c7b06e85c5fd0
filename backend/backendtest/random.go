package backendtest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"matladder/backend"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// A RandomProgram is one made out of data, its inputs, and what interp says of it.
type RandomProgram struct {
	program  *tile.Program
	in, want []tile.Tensor
	wrong    error // of interp
	again    bool  // after launches on other inputs
}

// NewRandom makes a program out of data; false if Verify refuses it.
func NewRandom(data []byte) (*RandomProgram, bool) {
	p, err := tiletest.Random(data)
	if err != nil {
		return nil, false
	}
	r := &RandomProgram{program: p, in: tiletest.Inputs(p, uint64(len(data)))}
	if len(data) > 0 {
		r.again = data[len(data)-1]%2 > 0
	}
	r.want, r.wrong = interp.Run(context.Background(), []*tile.Program{p}, copies(r.in))
	return r, true
}

// Random makes a program out of data and compares the backend with interp on it, as
// Compare does; false if Verify refuses it.
func Random(t *testing.T, be backend.Backend, params backend.Params, data []byte) bool {
	t.Helper()
	r, ok := NewRandom(data)
	return ok && r.Compare(t, be, params)
}

// Compare compares the backend with interp. It reports whether there was something to
// compare: not if interp refuses the program, or the backend does with ErrUnsupported.
func (r *RandomProgram) Compare(t *testing.T, be backend.Backend, params backend.Params) bool {
	t.Helper()
	p, in, want, wrong := r.program, r.in, r.want, r.wrong
	programs := []*tile.Program{p}
	ctx := context.Background()
	e, err := backend.Compile(ctx, be, programs, params)
	if errors.Is(err, backend.ErrUnsupported) {
		return false
	}
	if err != nil {
		t.Fatalf("Compile: %v\n%v", err, p)
	}
	defer e.Close()
	before := copies(in)
	if r.again { // on other inputs, of which nothing may be left
		for _, x := range before {
			clear(x.Data)
		}
		if err := e.Load(before...); err != nil {
			t.Fatalf("Load: %v\n%v", err, p)
		}
		_, _ = e.Run(ctx, several) // tables of zeros may be wrong
		before = copies(in)
	}
	if err := e.Load(in...); err != nil {
		t.Fatalf("Load: %v\n%v", err, p)
	}
	if _, err = e.Run(ctx, 1); err != nil {
		if wrong != nil {
			return false
		}
		t.Fatalf("Run: %v\n%v", err, p)
	}
	if wrong != nil { // a backend need not notice what a program reads from padding
		return false
	}
	got := outputs(t, programs)
	if err := e.Results(got...); err != nil {
		t.Fatalf("Results: %v\n%v", err, p)
	}
	for i := range in {
		if !bytes.Equal(in[i].Data, before[i].Data) {
			t.Fatalf("input %d was changed\n%v", i, p)
		}
	}
	exact := true
	p.Walk(func(s *tile.Stmt) {
		if s.Value != nil {
			tile.WalkExpr(s.Value, func(e *tile.Expr) { exact = exact && !inexact(e.Op) })
		}
	})
	for o := range want {
		for i := range want[o].Len() {
			w, g := want[o].At(i), got[o].At(i)
			if w == g || w != w && g != g || !exact && near(w, g, want[o].Dtype) {
				continue
			}
			t.Fatalf("output %d: element %v is %v, should be %v\n%v", o, coordinates(want[o], i), g, w, p)
		}
	}
	return true
}

// inexact reports whether an operation rounds even on small integers.
func inexact(op tile.Op) bool {
	switch op {
	case tile.OpDiv, tile.OpExp, tile.OpExp2, tile.OpLog, tile.OpTanh, tile.OpNormalCDF, tile.OpLogistic, tile.OpRsqrt:
		return true
	}
	return false
}

// near allows what a few operations in float32 differ from float64 by, and one
// unit in the last place of a narrower output.
func near(w, g float64, d tile.Dtype) bool {
	if d.IsInteger() {
		return abs(w-g) <= 1
	}
	return abs(w-g) <= 2*d.Epsilon()*max(abs(w), abs(g))+1e-4*max(1, abs(w))
}

func abs(x float64) float64 { return max(x, -x) }
