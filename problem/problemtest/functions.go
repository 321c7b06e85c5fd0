package problemtest

import (
	"math"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// A function is an elementwise one beside what float64 makes of it.
type function struct {
	name  string
	value func(tile.Value) *tile.Expr
	of    func(float64) float64
	// power is the power of e or so that the value of x, if it is small, is made of: where the
	// power is rounded to float32, the value is as many roundings off. rounded says how often it
	// is by definition.
	power   func(x float64) float64
	rounded float64
}

func none(float64) float64 { return 0 }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// argument is twice that of tanh in GeluTanh.
func argument(x float64) float64 { return 2 * math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x) }

// functions are the activations, and the functions that these and softmax are made of.
var functions = []function{
	{"relu", tile.Relu, func(x float64) float64 { return max(x, 0) }, none, 0},
	{"gelu", tile.Gelu, func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, func(x float64) float64 { return x * x }, 0},
	{"gelu_tanh", tile.GeluTanh, func(x float64) float64 { return x * logistic(argument(x)) }, argument, 4},
	{"silu", tile.Silu, func(x float64) float64 { return x * logistic(x) }, math.Abs, 0},
	{"normal_cdf", tile.NormalCDF, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }, func(x float64) float64 { return x * x }, 0},
	{"logistic", tile.Logistic, logistic, math.Abs, 0},
	{"tanh", tile.Tanh, math.Tanh, none, 0},
	{"exp", tile.Exp, math.Exp, math.Abs, 0},
	{"exp2", tile.Exp2, math.Exp2, math.Abs, 0},
	{"rsqrt", tile.Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }, none, 0},
}

// Grid is numbers of every exponent and sign, many about 0, infinities and NaN, in rows of 32.
func Grid() tile.Tensor {
	var list []float64
	for e := -149; e < 128; e++ {
		for _, m := range []float64{1, 1.2, 1.7} {
			list = append(list, math.Ldexp(m, e), -math.Ldexp(m, e))
		}
	}
	for x := -20.; x < 20; x += 1. / 32 {
		list = append(list, x)
	}
	for x := -110.; x < 90; x++ {
		list = append(list, x)
	}
	list = append(list, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN())
	x := tile.NewTensor(tile.Float32, tile.Ceil(len(list), 32), 32)
	for i, v := range list {
		x.Set(i, v)
	}
	return x
}

// Numbers holds a machine to scales, functions and norms of all numbers that there are: see
// Functions.
func Numbers(t *testing.T, loose float64, flushes bool, run Machine) {
	t.Run("scales", func(t *testing.T) {
		Scales(t, func(t *testing.T, p problem.Matmul, in map[string]tile.Tensor) tile.Tensor {
			programs := build(t, p, "")
			return run(programs, inputs(t, programs, in))["o"]
		})
	})
	t.Run("functions", func(t *testing.T) { Functions(t, loose, flushes, run) })
	t.Run("norms", func(t *testing.T) { Norms(t, run) })
}

// Functions computes each function of the Grid, and compares with float64 to 8 roundings, relative
// to the value. A machine has loose more for each unit of the power that the value is made of.
// What is not a normal number may be 0, as may its product with x. flushes says that the machine
// takes such numbers of x for 0.
func Functions(t *testing.T, loose float64, flushes bool, run Machine) {
	grid := Grid()
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			b := tile.New("function")
			const rows = 8
			i := b.Axis("i", tile.Ceil(grid.Shape[0], rows), tile.Parallel)
			block := tile.Block(rows, 32).At(i, tile.Const(0))
			x := b.In("x", tile.Float32, tile.Array(grid.Shape...), block)
			b.Store(b.Out("o", tile.Float32, tile.Array(grid.Shape...), block), f.value(x))
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			Near(t, f.name, loose, flushes, grid, run(programs, []tile.Tensor{grid})["o"])
		})
	}
}

// Near compares o, a function of x by its name, with float64.
func Near(t *testing.T, name string, loose float64, flushes bool, x, o tile.Tensor) {
	t.Helper()
	var f function
	for _, g := range functions {
		if g.name == name {
			f = g
		}
	}
	const u, least = 0x1p-24, 0x1p-126
	for i := range x.Len() {
		v, got := x.At(i), o.At(i)
		if flushes && v != 0 && math.Abs(v) < least {
			continue
		}
		want := f.of(v)
		bound := u*(8+(loose+f.rounded)*math.Abs(f.power(v)))*math.Abs(want) + least*max(1, math.Abs(v))
		if want == got || want != want && got != got || math.Abs(got-want) <= bound {
			continue
		}
		if math.IsInf(got, 0) && math.Abs(want)*(1+16*u) >= math.MaxFloat32 && got > 0 == (want > 0) {
			continue
		}
		t.Errorf("%s(%v) is %v, should be %v within %.2g", name, v, got, want, bound)
	}
}
