package gomlx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"

	"matladder"
)

// formulas writes them; an error ends the test.
type formulas struct {
	compute.Function
	t testing.TB
}

func (f formulas) v(x compute.Value, err error) compute.Value {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("%+v", err)
	}
	return x
}

func (f formulas) mul(x, y compute.Value) compute.Value { return f.v(f.Mul(x, y)) }
func (f formulas) dot(x, y compute.Value) compute.Value {
	s, err := f.Shape(x)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.v(f.DotGeneral(x, []int{s.Rank() - 1}, nil, y, []int{0}, nil, compute.DotGeneralConfig{}))
}

func (f formulas) constant(x float32, rank int) compute.Value {
	return f.v(f.Constant([]float32{x}, slices.Repeat([]int{1}, rank)...))
}

// TestPatterns: what is written out in small operations is one program, the numbers are those
// of the Go backend, and what is nearly a pattern stays as it is.
func TestPatterns(t *testing.T) {
	const rows, cols, heads = 6, 12, 4
	wide := []shapes.Shape{f32(2, rows, cols), f32(cols), f32(cols, 20), f32(cols, 20)}
	turned := []shapes.Shape{f32(2, rows, heads, cols), f32(rows, cols/2), f32(rows, cols/2)}
	// norm has ways to write the mean, the root, and what repeats them.
	norm := func(by bool, root bool, n float32, axis int) func(f formulas, in []compute.Value) []compute.Value {
		return func(f formulas, in []compute.Value) []compute.Value {
			x := in[0]
			dims := []int{2, rows, 1}
			if axis != 2 {
				dims = []int{1, rows, cols}
			}
			mean := f.v(f.Reshape(f.v(f.ReduceSum(f.mul(x, x), axis)), dims...))
			if by {
				mean = f.v(f.Div(mean, f.constant(n, 3)))
			} else {
				mean = f.mul(f.constant(1/n, 3), mean)
			}
			mean = f.v(f.Add(mean, f.constant(1e-3, 3)))
			all := f32(2, rows, cols)
			w := f.v(f.BroadcastInDim(in[1], all, []int{2}))
			if root {
				r := f.v(f.BroadcastInDim(f.v(f.Sqrt(mean)), all, []int{0, 1, 2}))
				return []compute.Value{f.mul(f.v(f.Div(x, r)), w)}
			}
			return []compute.Value{f.mul(w, f.mul(f.v(f.Rsqrt(mean)), x))}
		}
	}
	gated := func(read bool) func(f formulas, in []compute.Value) []compute.Value {
		return func(f formulas, in []compute.Value) []compute.Value {
			gate, up := f.dot(in[0], in[2]), f.dot(in[0], in[3])
			out := []compute.Value{f.mul(up, f.mul(f.v(f.Logistic(gate)), gate))}
			if read {
				out = append(out, gate)
			}
			return out
		}
	}
	rotary := func(swapped bool) func(f formulas, in []compute.Value) []compute.Value {
		return func(f formulas, in []compute.Value) []compute.Value {
			half := f32(2, rows, heads, cols/2)
			cos, sin := f.v(f.BroadcastInDim(in[1], half, []int{1, 3})), f.v(f.BroadcastInDim(in[2], half, []int{1, 3}))
			a := f.v(f.Slice(in[0], []int{0, 0, 0, 0}, []int{2, rows, heads, cols / 2}, nil))
			b := f.v(f.Slice(in[0], []int{0, 0, 0, cols / 2}, []int{2, rows, heads, cols}, nil))
			if swapped {
				a, b = b, a
			}
			return []compute.Value{f.v(f.Concatenate(3, f.v(f.Sub(f.mul(a, cos), f.mul(b, sin))), f.v(f.Add(f.mul(a, sin), f.mul(b, cos)))))}
		}
	}
	for name, c := range map[string]struct {
		inputs []shapes.Shape
		build  func(f formulas, in []compute.Value) []compute.Value
		want   []string // names of what programs take
	}{
		"norm":                        {wide, norm(false, false, cols, 2), []string{"w x"}},
		"norm by a root":              {wide, norm(true, true, cols, 2), []string{"w x"}},
		"a sum, not the mean":         {wide, norm(true, false, 1, 2), nil},
		"norm along another axis":     {wide, norm(true, false, 2, 0), nil},
		"gated":                       {wide, gated(false), []string{"gate up x"}},
		"gated, and the gate is read": {wide, gated(true), []string{"x y", "x y"}},
		"gated by a dense layer": {wide, func(f formulas, in []compute.Value) []compute.Value {
			return []compute.Value{f.mul(f.v(f.FusedDense(in[0], in[2], nil, compute.ActivationSilu)), f.dot(in[0], in[3]))}
		}, []string{"gate up x"}},
		"gated by a layer with relu": {wide, func(f formulas, in []compute.Value) []compute.Value {
			return []compute.Value{f.mul(f.v(f.FusedDense(in[0], in[2], nil, compute.ActivationRelu)), f.dot(in[0], in[3]))}
		}, []string{"x y", "x y"}},
		"rotary":                 {turned, rotary(false), []string{"cos sin x"}},
		"rotary, halves swapped": {turned, rotary(true), nil},
	} {
		t.Run(name, func(t *testing.T) {
			build := func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
				return c.build(formulas{f, t}, in), nil
			}
			b, other, r := opened(t, 0), gobackend.GetBackend(), rand.New(rand.NewPCG(7, 8))
			var in []any
			for _, s := range c.inputs {
				in = append(in, random(r, s.Size()))
			}
			e := compiled(t, b, c.inputs, build)
			var programs []string
			for _, s := range e.(*executable).steps {
				if s.program != nil {
					names := ""
					for _, name := range slices.Sorted(slices.Values(namesOf(s.program.Inputs()))) {
						names += " " + name
					}
					programs = append(programs, names[1:])
				}
			}
			if !slices.Equal(programs, c.want) {
				t.Errorf("programs take %q, want %q", programs, c.want)
			}
			want := ran(t, other, compiled(t, other, c.inputs, build), in...)
			for i, have := range ran(t, b, e, in...) {
				w := make([]float64, len(want[i].([]float32)))
				for j, x := range want[i].([]float32) {
					w[j] = float64(x)
					if math.IsNaN(w[j]) {
						t.Fatal("the reference is NaN")
					}
				}
				near(t, fmt.Sprint("output ", i), have, w, 1e-5)
			}
		})
	}
}

func namesOf(list []matladder.Argument) (names []string) {
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}
