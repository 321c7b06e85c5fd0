package gomlx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"

	_ "matladder/integrations/gomlx"
)

// The decoder is a small language model, as one is written for gomlx, with greedy decoding:
// embeddings, RMS norm, rotary positions, causal attention with grouped heads and a cache, gated
// MLP, logits. Its weights are random.

// TestDecoder decodes the same tokens on matladder and on gomlx's own Go backend.
func TestDecoder(t *testing.T) {
	ours := opened(t)
	var tokens [2][]int32
	for i, b := range []compute.Backend{ours, gobackend.GetBackend()} {
		var err error
		if tokens[i], _, err = decode(b, 64, 8); err != nil {
			t.Fatalf("%s: %v", b.Name(), err)
		}
	}
	if !slices.Equal(tokens[0], tokens[1]) {
		t.Errorf("tokens differ: %v and %v", tokens[0], tokens[1])
	}
}

// BenchmarkDecoder tells how long a prompt of 64 tokens takes, and a token behind it.
func BenchmarkDecoder(b *testing.B) {
	for _, on := range []compute.Backend{opened(b), gobackend.GetBackend()} {
		b.Run(on.Name(), func(b *testing.B) {
			var sum [2]time.Duration
			for b.Loop() {
				_, times, err := decode(on, 64, 32)
				if err != nil {
					b.Fatal(err)
				}
				sum[0], sum[1] = sum[0]+times[0], sum[1]+times[1]
			}
			b.ReportMetric(sum[0].Seconds()*1e3/float64(b.N), "ms/prompt")
			b.ReportMetric(sum[1].Seconds()*1e3/float64(b.N), "ms/token")
		})
	}
}

func opened(t testing.TB) compute.Backend {
	b, err := compute.NewWithConfig("matladder")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// The model's sizes, and the slots of its cache.
const (
	width, heads, kvHeads, dim = 512, 8, 2, 64
	hidden, layers, vocabulary = 1408, 6, 4096
	slots                      = 128
)

// decode runs the prompt in one call and then token by token. It tells the tokens, and the
// time of the prompt and the median of a token.
func decode(b compute.Backend, prompt, count int) (tokens []int32, times [2]time.Duration, err error) {
	inputs := make([]compute.Buffer, len(weights)+2*layers)
	r := rand.New(rand.NewPCG(1, 2))
	for i, s := range slices.Concat(weights, slices.Repeat([]shapes.Shape{cache}, 2*layers)) {
		flat := make([]float32, s.Size())
		for j := range flat {
			switch {
			case i >= len(weights): // nothing is in the cache
			case s.Rank() == 1: // of a norm
				flat[j] = 1 + r.Float32()/4
			default:
				flat[j] = float32(r.NormFloat64()) / float32(math.Sqrt(float64(s.Dimensions[0])))
			}
		}
		if inputs[i], err = b.BufferFromFlatData(0, flat, s); err != nil {
			return nil, times, err
		}
	}
	next := make([]int32, prompt)
	for i := range next {
		next[i] = r.Int32N(vocabulary)
	}
	each := make([]time.Duration, count)
	var e compute.Executable
	for i, at := 0, 0; i < count; i++ {
		if i < 2 { // a graph for the prompt, and one for a token
			if e, err = build(b, len(next)); err != nil {
				return nil, times, err
			}
			defer e.Finalize()
		}
		start := time.Now()
		last, err := step(b, e, inputs, next, int32(at))
		if err != nil {
			return nil, times, err
		}
		each[i] = time.Since(start)
		at += len(next)
		tokens, next = append(tokens, last), []int32{last}
	}
	times[0] = each[0]
	slices.Sort(each[1:])
	times[1] = each[(count+1)/2]
	return tokens, times, nil
}

// step runs a graph, which writes on the cache, and tells the token that follows.
func step(b compute.Backend, e compute.Executable, inputs []compute.Buffer, tokens []int32, at int32) (int32, error) {
	now, err := b.BufferFromFlatData(0, tokens, shapes.Make(dtypes.Int32, len(tokens)))
	if err != nil {
		return 0, err
	}
	position, err := b.BufferFromFlatData(0, []int32{at}, shapes.Make(dtypes.Int32))
	if err != nil {
		return 0, err
	}
	in := append(slices.Clip(inputs), now, position)
	donate := make([]bool, len(in))
	for i := range 2 * layers {
		donate[len(weights)+i] = true
	}
	out, err := e.Execute(in, donate, 0)
	if err != nil {
		return 0, err
	}
	copy(inputs[len(weights):], out[1:])
	token := make([]int32, 1)
	err = out[0].ToFlatData(token)
	return token[0], err
}

var cache = shapes.Make(dtypes.Float32, slots, kvHeads, dim)

// weights are the model's: embeddings, nine of each layer, a norm and what makes logits.
var weights = func() []shapes.Shape {
	f32 := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	list := []shapes.Shape{f32(vocabulary, width)}
	for range layers {
		list = append(list, f32(width), f32(width, heads*dim), f32(width, kvHeads*dim), f32(width, kvHeads*dim), f32(heads*dim, width),
			f32(width), f32(width, hidden), f32(width, hidden), f32(hidden, width))
	}
	return append(list, f32(width), f32(width, vocabulary))
}()

// graph is a function whose first error is kept, so that formulas can be written.
type graph struct {
	compute.Function
	err             error
	rows            int
	positions, seen compute.Value
	cos, sin        compute.Value
}

func (g *graph) v(x compute.Value, err error) compute.Value {
	if g.err == nil {
		g.err = err
	}
	return x
}

func (g *graph) add(x, y compute.Value) compute.Value          { return g.v(g.Add(x, y)) }
func (g *graph) mul(x, y compute.Value) compute.Value          { return g.v(g.Mul(x, y)) }
func (g *graph) as(x compute.Value, dims ...int) compute.Value { return g.v(g.Reshape(x, dims...)) }
func (g *graph) dot(x, w compute.Value) compute.Value {
	return g.v(g.DotGeneral(x, []int{1}, nil, w, []int{0}, nil, compute.DotGeneralConfig{}))
}
func (g *graph) number(x float32) compute.Value { return g.v(g.Constant([]float32{x}, 1, 1)) }

// build makes the graph of so many rows: inputs are weights, cache, tokens, and the position
// of the first; outputs are the token that follows and the cache.
func build(b compute.Backend, rows int) (compute.Executable, error) {
	builder := b.Builder("decoder")
	g := &graph{Function: builder.Main(), rows: rows}
	var in []compute.Value
	for i, s := range slices.Concat(weights, slices.Repeat([]shapes.Shape{cache}, 2*layers), []shapes.Shape{shapes.Make(dtypes.Int32, rows), shapes.Make(dtypes.Int32)}) {
		in = append(in, g.v(g.Parameter(fmt.Sprint("p", i), s, nil)))
	}
	w, caches, tokens, at := in[:len(weights)], in[len(weights):len(in)-2], in[len(in)-2], in[len(in)-1]

	row := shapes.Make(dtypes.Int32, rows)
	g.positions = g.add(g.v(g.Iota(row, 0)), g.v(g.BroadcastInDim(at, row, nil)))
	pairs := shapes.Make(dtypes.Int32, rows, slots)
	g.seen = g.v(g.LessOrEqual(g.v(g.Iota(pairs, 1)), g.v(g.BroadcastInDim(g.positions, pairs, []int{0}))))
	frequencies := make([]float32, dim/2)
	for i := range frequencies {
		frequencies[i] = float32(math.Pow(10000, -2*float64(i)/dim))
	}
	angles := g.mul(g.as(g.v(g.ConvertDType(g.positions, dtypes.Float32)), rows, 1, 1), g.v(g.Constant(frequencies, 1, 1, dim/2)))
	g.cos, g.sin = g.v(g.Cos(angles)), g.v(g.Sin(angles))

	x := g.v(g.Gather(w[0], g.as(tokens, rows, 1), 1, []int{1}, []int{0}, []int{0}, []int{1, width}, false))
	for i := range layers {
		l := w[1+9*i:]
		h := g.norm(x, l[0])
		q := g.rotated(g.dot(h, l[1]), heads)
		k, v := g.rotated(g.dot(h, l[2]), kvHeads), g.as(g.dot(h, l[3]), rows, kvHeads, dim)
		caches[2*i], caches[2*i+1] = g.put(caches[2*i], k), g.put(caches[2*i+1], v)
		x = g.add(x, g.dot(g.attention(q, caches[2*i], caches[2*i+1]), l[4]))
		h = g.norm(x, l[5])
		gate := g.dot(h, l[6])
		x = g.add(x, g.dot(g.mul(g.mul(gate, g.v(g.Logistic(gate))), g.dot(h, l[7])), l[8]))
	}
	last := g.v(g.Slice(x, []int{rows - 1, 0}, []int{rows, width}, nil))
	logits := g.dot(g.norm(last, w[len(w)-2]), w[len(w)-1])
	token := g.v(g.ArgMinMax(logits, 1, dtypes.Int32, false))
	if g.err == nil {
		g.err = g.Return(append([]compute.Value{token}, caches...), nil)
	}
	if g.err != nil {
		return nil, g.err
	}
	return builder.Compile()
}

// norm is x / √(mean of squares + ε) · w, row by row.
func (g *graph) norm(x, w compute.Value) compute.Value {
	squares := g.v(g.ReduceSum(g.mul(x, x), 1))
	s, err := g.Shape(squares)
	g.v(nil, err)
	mean := g.mul(g.as(squares, s.Size(), 1), g.number(1.0/width))
	return g.mul(g.mul(x, g.v(g.Rsqrt(g.add(mean, g.number(1e-5))))), g.as(w, 1, width))
}

// rotated turns the pairs of each head by the position of the row.
func (g *graph) rotated(x compute.Value, heads int) compute.Value {
	x = g.as(x, g.rows, heads, dim)
	a := g.v(g.Slice(x, []int{0, 0, 0}, []int{g.rows, heads, dim / 2}, nil))
	b := g.v(g.Slice(x, []int{0, 0, dim / 2}, []int{g.rows, heads, dim}, nil))
	return g.v(g.Concatenate(2, g.v(g.Sub(g.mul(a, g.cos), g.mul(b, g.sin))), g.add(g.mul(b, g.cos), g.mul(a, g.sin))))
}

// put writes rows into a cache, where nothing was.
func (g *graph) put(cache, x compute.Value) compute.Value {
	return g.v(g.ScatterSum(cache, g.as(g.positions, g.rows, 1), x, 1, []int{1, 2}, []int{0}, []int{0}, true, true))
}

// attention is fused where the backend has that, as gomlx's layers have it.
func (g *graph) attention(q, k, v compute.Value) compute.Value {
	fused, _, err := g.FusedScaledDotProductAttention(g.as(q, 1, g.rows, heads, dim), g.as(k, 1, slots, kvHeads, dim), g.as(v, 1, slots, kvHeads, dim),
		compute.AxesLayoutBSHD, &compute.ScaledDotProductAttentionConfig{Mask: g.seen})
	if !compute.IsNotImplemented(err) {
		return g.as(g.v(fused, err), g.rows, heads*dim)
	}
	const group = heads / kvHeads
	scores := g.v(g.DotGeneral(g.as(q, g.rows, kvHeads, group, dim), []int{3}, []int{1}, k, []int{2}, []int{1}, compute.DotGeneralConfig{}))
	s := shapes.Make(dtypes.Float32, kvHeads, g.rows, group, slots)
	seen := g.v(g.BroadcastInDim(g.seen, shapes.Make(dtypes.Bool, s.Dimensions...), []int{1, 3}))
	scores = g.v(g.Where(seen, g.mul(scores, g.v(g.Constant([]float32{1.0 / 8}, 1, 1, 1, 1))), g.v(g.BroadcastInDim(g.v(g.Constant([]float32{-1e9})), s, nil))))
	o := g.v(g.DotGeneral(g.v(g.FusedSoftmax(scores, 3)), []int{3}, []int{0}, v, []int{0}, []int{1}, compute.DotGeneralConfig{}))
	return g.as(g.v(g.Transpose(o, 1, 0, 2, 3)), g.rows, heads*dim)
}
