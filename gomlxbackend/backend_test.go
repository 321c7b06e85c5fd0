package gomlxbackend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
)

// graph is a computation that both backends build.
type graph struct {
	name   string
	inputs []shapes.Shape
	build  func(f compute.Function, in []compute.Value) (compute.Value, error)

	layout  compute.AxesLayout // of attention, and its options
	options *compute.ScaledDotProductAttentionConfig
}

func f32(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

func attention(name string, layout compute.AxesLayout, o *compute.ScaledDotProductAttentionConfig, inputs ...shapes.Shape) graph {
	return graph{name, inputs, func(f compute.Function, in []compute.Value) (compute.Value, error) {
		c := *o
		if len(in) > 3 {
			c.KeyValueSeqLen = in[3]
		}
		out, _, err := f.FusedScaledDotProductAttention(in[0], in[1], in[2], layout, &c)
		return out, err
	}, layout, o}
}

var graphs = []graph{
	{name: "dot", inputs: []shapes.Shape{f32(33, 70), f32(70, 45)}, build: func(f compute.Function, in []compute.Value) (compute.Value, error) {
		return f.DotGeneral(in[0], []int{1}, nil, in[1], []int{0}, nil, compute.DotGeneralConfig{})
	}},
	{name: "dense, relu, dense", inputs: []shapes.Shape{f32(2, 9, 70), f32(70, 45), f32(45), f32(45, 3, 11)}, build: func(f compute.Function, in []compute.Value) (compute.Value, error) {
		x, err := f.FusedDense(in[0], in[1], in[2], compute.ActivationRelu)
		if err != nil {
			return nil, err
		}
		return f.FusedDense(x, in[3], nil, compute.ActivationNone)
	}},
	{name: "dense, gelu", inputs: []shapes.Shape{f32(20, 70), f32(70, 45), f32(45)}, build: func(f compute.Function, in []compute.Value) (compute.Value, error) {
		return f.FusedDense(in[0], in[1], in[2], compute.ActivationGelu)
	}},
	{name: "dense, silu", inputs: []shapes.Shape{f32(20, 70), f32(70, 45), f32(45)}, build: func(f compute.Function, in []compute.Value) (compute.Value, error) {
		return f.FusedDense(in[0], in[1], in[2], compute.ActivationSilu)
	}},
	attention("attention", compute.AxesLayoutBHSD, &compute.ScaledDotProductAttentionConfig{}, f32(2, 4, 50, 32), f32(2, 4, 70, 32), f32(2, 4, 70, 32)),
	attention("causal, two heads share", compute.AxesLayoutBHSD, &compute.ScaledDotProductAttentionConfig{Causal: true, Scale: 0.3}, f32(2, 4, 50, 32), f32(2, 2, 50, 32), f32(2, 2, 50, 32)),
	attention("rows ahead of heads", compute.AxesLayoutBSHD, &compute.ScaledDotProductAttentionConfig{Causal: true}, f32(2, 50, 4, 32), f32(2, 50, 2, 32), f32(2, 50, 2, 32)),
	attention("lengths", compute.AxesLayoutBHSD, &compute.ScaledDotProductAttentionConfig{}, f32(2, 4, 50, 32), f32(2, 4, 70, 32), f32(2, 4, 70, 32), shapes.Make(dtypes.Int32, 2)),
}

// compiled is a graph on a backend, with its inputs there.
func compiled(t testing.TB, b compute.Backend, g graph) (compute.Executable, []compute.Buffer) {
	t.Helper()
	builder := b.Builder(g.name)
	f := builder.Main()
	r := rand.New(rand.NewPCG(1, 2))
	var values []compute.Value
	var buffers []compute.Buffer
	for i, s := range g.inputs {
		v, err := f.Parameter(fmt.Sprint("x", i), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		var flat any
		if s.DType == dtypes.Int32 {
			flat = []int32{70, 33}
		} else {
			x := make([]float32, s.Size())
			for i := range x {
				x[i] = r.Float32()*2 - 1
			}
			flat = x
		}
		buffer, err := b.BufferFromFlatData(0, flat, s)
		if err != nil {
			t.Fatal(err)
		}
		values, buffers = append(values, v), append(buffers, buffer)
	}
	out, err := g.build(f, values)
	if err != nil {
		t.Fatalf("%s on %s: %v", g.name, b.Name(), err)
	}
	if err := f.Return([]compute.Value{out}, nil); err != nil {
		t.Fatal(err)
	}
	e, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return e, buffers
}

func executed(t testing.TB, b compute.Backend, g graph) []float32 {
	t.Helper()
	e, in := compiled(t, b, g)
	defer e.Finalize()
	out, err := e.Execute(in, nil, 0)
	if err != nil {
		t.Fatalf("%s on %s: %v", g.name, b.Name(), err)
	}
	s, err := out[0].Shape()
	if err != nil {
		t.Fatal(err)
	}
	if want := e.Outputs()[0]; !want.Equal(s) {
		t.Errorf("%s on %s: have %s, want %s", g.name, b.Name(), s, want)
	}
	flat := make([]float32, s.Size())
	if err := out[0].ToFlatData(flat); err != nil {
		t.Fatal(err)
	}
	return flat
}

func open(t testing.TB) compute.Backend {
	t.Helper()
	b, err := compute.NewWithConfig(Name + ":2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// inputsOf are the numbers that compiled makes.
func inputsOf(t testing.TB, buffers []compute.Buffer) (list [][]float32, lengths []int32) {
	t.Helper()
	for _, b := range buffers {
		data, err := b.Data()
		if err != nil {
			t.Fatal(err)
		}
		switch x := data.(type) {
		case []float32:
			list = append(list, x)
		case []int32:
			lengths = x
		}
	}
	return list, lengths
}

// reference is attention of g in float64. gomlx's Go backend has it switched off.
func (g graph) reference(t testing.TB, b compute.Backend) []float32 {
	t.Helper()
	_, buffers := compiled(t, b, g)
	x, lengths := inputsOf(t, buffers)
	q, k := heads(&node{shape: g.inputs[0]}, g.layout), heads(&node{shape: g.inputs[1]}, g.layout)
	scale := g.options.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(q.dims[3]))
	}
	out := make([]float32, g.inputs[0].Size())
	group := q.dims[1] / k.dims[1]
	at := func(v view, b, h, i int) int { return b*v.strides[0] + h*v.strides[1] + i*v.strides[2] }
	for b := range q.dims[0] {
		for h := range q.dims[1] {
			for i := range q.dims[2] {
				keys := k.dims[2]
				if lengths != nil {
					keys = int(lengths[b])
				}
				if g.options.Causal {
					keys = min(keys, i+1)
				}
				weights, sum := make([]float64, keys), 0.0
				for j := range weights {
					dot := 0.0
					for d := range q.dims[3] {
						dot += float64(x[0][at(q, b, h, i)+d]) * float64(x[1][at(k, b, h/group, j)+d])
					}
					weights[j] = math.Exp(dot * scale)
					sum += weights[j]
				}
				for d := range q.dims[3] {
					o := 0.0
					for j, w := range weights {
						o += w / sum * float64(x[2][at(k, b, h/group, j)+d])
					}
					out[at(q, b, h, i)+d] = float32(o)
				}
			}
		}
	}
	return out
}

// TestGraphs: what graphs compute is what gomlx's own Go backend has, or a reference.
func TestGraphs(t *testing.T) {
	b, other := open(t), gobackend.GetBackend()
	for _, g := range graphs {
		have := executed(t, b, g)
		var want []float32
		if g.options != nil {
			want = g.reference(t, b)
		} else {
			want = executed(t, other, g)
		}
		if len(have) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", g.name, len(have), len(want))
		}
		worst := 0.0
		for i := range want {
			worst = max(worst, math.Abs(float64(have[i]-want[i])))
			if have[i] != have[i] {
				worst = math.Inf(1)
			}
		}
		if worst > 1e-4 {
			t.Errorf("%s: differs by %v", g.name, worst)
		}
	}
}

// TestMissing: what matladder has no kernel for is ErrNotImplemented, as gomlx expects.
func TestMissing(t *testing.T) {
	b := open(t)
	f := b.Builder("missing").Main()
	x, err := f.Parameter("x", f32(4, 4), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"exp":          second(f.Exp(x)),
		"layer norm":   second(f.FusedLayerNorm(x, []int{1}, 1e-5, nil, nil)),
		"dense, tanh":  second(f.FusedDense(x, x, nil, compute.ActivationTanh)),
		"float64":      second(f.Parameter("y", shapes.Make(dtypes.Float64, 2), nil)),
		"no elements":  second(f.Parameter("y", f32(0, 2), nil)),
		"dot, batched": second(f.DotGeneral(x, []int{1}, []int{0}, x, []int{1}, []int{0}, compute.DotGeneralConfig{})),
	} {
		if !compute.IsNotImplemented(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := compute.NewWithConfig(Name + ":many"); err == nil {
		t.Error("a configuration that is no number was taken")
	}
}

func second(_ compute.Value, err error) error { return err }

// BenchmarkGraphs is attention, and a dense layer on both backends.
func BenchmarkGraphs(b *testing.B) {
	ours, err := compute.NewWithConfig(Name)
	if err != nil {
		b.Fatal(err)
	}
	defer ours.Finalize()
	for _, g := range []graph{
		attention("attention 8x512x64", compute.AxesLayoutBHSD, &compute.ScaledDotProductAttentionConfig{Causal: true}, f32(1, 8, 512, 64), f32(1, 8, 512, 64), f32(1, 8, 512, 64)),
		{name: "dense 128x1024x1024", inputs: []shapes.Shape{f32(128, 1024), f32(1024, 1024), f32(1024)}, build: func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.FusedDense(in[0], in[1], in[2], compute.ActivationGelu)
		}},
	} {
		for _, on := range []compute.Backend{ours, gobackend.GetBackend()} {
			if g.options != nil && on != ours {
				continue // switched off there
			}
			b.Run(g.name+"/"+on.Name(), func(b *testing.B) {
				e, in := compiled(b, on, g)
				defer e.Finalize()
				for b.Loop() {
					out, err := e.Execute(in, nil, 0)
					if err != nil {
						b.Fatal(err)
					}
					for _, o := range out {
						o.Finalize()
					}
				}
			})
		}
	}
}
