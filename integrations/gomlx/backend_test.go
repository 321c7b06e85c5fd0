package gomlx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/compute/support/backendtest"
)

// opened is the backend with launches from so many multiplications on.
func opened(t testing.TB, from int) *Backend {
	t.Helper()
	b, err := New("1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	b.small = from
	return b
}

// TestSuite is gomlx's own, with a launch for all that may have one, and as users have it.
func TestSuite(t *testing.T) {
	for _, from := range []int{0, small} {
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) { backendtest.RunAll(t, opened(t, from), nil) })
	}
}

// graph is a function of main, built by a test.
type graph func(f compute.Function, in []compute.Value) ([]compute.Value, error)

// single is a graph with one value.
func single(build func(f compute.Function, in []compute.Value) (compute.Value, error)) graph {
	return func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
		v, err := build(f, in)
		return []compute.Value{v}, err
	}
}

func f32(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }

// compiled is a graph on a backend.
func compiled(t testing.TB, b compute.Backend, inputs []shapes.Shape, build graph) compute.Executable {
	t.Helper()
	builder := b.Builder("test")
	f := builder.Main()
	var in []compute.Value
	for i, s := range inputs {
		v, err := f.Parameter(fmt.Sprint("x", i), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, v)
	}
	out, err := build(f, in)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	if err := f.Return(out, nil); err != nil {
		t.Fatal(err)
	}
	e, err := builder.Compile()
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(e.Finalize)
	return e
}

// ran is what an executable makes of slices.
func ran(t testing.TB, b compute.Backend, e compute.Executable, inputs ...any) []any {
	t.Helper()
	_, want := e.Inputs()
	var in []compute.Buffer
	for i, flat := range inputs {
		x, err := b.BufferFromFlatData(0, flat, want[i])
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, x)
	}
	out, err := e.Execute(in, nil, 0)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	var flats []any
	for i, o := range out {
		if s, err := o.Shape(); err != nil || !s.Equal(e.Outputs()[i]) || o.Backend() != b {
			t.Errorf("output %d: have %s of %v (%v), want %s", i, s, o.Backend(), err, e.Outputs()[i])
		}
		flat, err := o.Data()
		if err != nil {
			t.Fatal(err)
		}
		flats = append(flats, flat)
	}
	return flats
}

func random(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = r.Float32()*2 - 1
	}
	return x
}

// near compares numbers with those of float64.
func near(t testing.TB, name string, have any, want []float64, tolerance float64) {
	t.Helper()
	x, ok := have.([]float32)
	if !ok || len(x) != len(want) {
		t.Fatalf("%s: have %d of %T, want %d", name, len(x), have, len(want))
	}
	for i := range want {
		if !(math.Abs(float64(x[i])-want[i]) <= tolerance) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, x[i], want[i])
		}
	}
}

// launches counts programs that a graph runs.
func launches(e compute.Executable) (n int) {
	for _, s := range e.(*executable).steps {
		if s.program != nil {
			n++
		}
	}
	return n
}

// TestDotGeneral_Axes: products with axes in every order, against sums written out over the
// letters of an einsum. Those of a last axis that no block can be of are the Go backend's.
func TestDotGeneral_Axes(t *testing.T) {
	b, r := opened(t, 0), rand.New(rand.NewPCG(1, 2))
	sizes := map[rune]int{'b': 3, 'c': 2, 'm': 5, 'n': 9, 'p': 4, 'k': 7, 'l': 6, '1': 1}
	for _, c := range []struct {
		x, y, o string
		ours    int
	}{
		{"mk", "kn", "mn", 1}, {"km", "kn", "mn", 1}, {"mk", "nk", "mn", 1}, {"km", "nk", "mn", 1},
		{"bmk", "bkn", "bmn", 1}, {"mbk", "nbk", "bmn", 1}, {"bcmk", "bcnk", "bcmn", 1}, {"bmck", "bnck", "bcmn", 1}, {"cbk", "bnck", "bcn", 1},
		{"mkl", "kln", "mn", 1}, {"mlk", "kln", "mn", 1}, {"kml", "lkn", "mn", 1}, {"mpk", "kn", "mpn", 1}, {"pkm", "kn", "pmn", 1}, {"mk", "nkp", "mnp", 1},
		{"k", "kn", "n", 1}, {"mk", "k", "m", 1}, {"1k", "kn1", "1n1", 1}, {"m1k", "k1", "m11", 1}, {"pmk", "bkn", "pmbn", 1},
		{"kl", "lk", "", 0}, {"mkb", "bkn", "bmn", 0}, {"mkl", "nlk", "mn", 0}, {"m", "n", "mn", 0}, {"bk", "bk", "b", 0},
	} {
		name := c.x + "," + c.y + "->" + c.o
		shape := func(letters string) (dims []int, n int) {
			n = 1
			for _, l := range letters {
				dims, n = append(dims, sizes[l]), n*sizes[l]
			}
			return dims, n
		}
		var sums, batch [2][]int
		for i, l := range c.x {
			switch j := strings.IndexRune(c.y, l); {
			case j < 0 || l == '1':
			case strings.ContainsRune(c.o, l):
			default:
				sums[0], sums[1] = append(sums[0], i), append(sums[1], j)
			}
		}
		for _, l := range c.o {
			if i, j := strings.IndexRune(c.x, l), strings.IndexRune(c.y, l); i >= 0 && j >= 0 && l != '1' {
				batch[0], batch[1] = append(batch[0], i), append(batch[1], j)
			}
		}
		xd, nx := shape(c.x)
		yd, ny := shape(c.y)
		x, y := random(r, nx), random(r, ny)
		e := compiled(t, b, []shapes.Shape{f32(xd...), f32(yd...)}, single(func(f compute.Function, in []compute.Value) (compute.Value, error) {
			return f.DotGeneral(in[0], sums[0], batch[0], in[1], sums[1], batch[1], compute.DotGeneralConfig{})
		}))
		if n := launches(e); n != c.ours {
			t.Errorf("%s: %d launches, want %d", name, n, c.ours)
		}
		_, no := shape(c.o)
		want := make([]float64, no)
		letters := slices.Compact(slices.Sorted(strings.SplitSeq(c.x+c.y, "")))
		at := map[rune]int{}
		index := func(list string) (i int) {
			for _, l := range list {
				i = i*sizes[l] + at[l]
			}
			return i
		}
		var sum func(rest []string)
		sum = func(rest []string) {
			if len(rest) == 0 {
				want[index(c.o)] += float64(x[index(c.x)]) * float64(y[index(c.y)])
				return
			}
			l := rune(rest[0][0])
			for at[l] = range sizes[l] {
				sum(rest[1:])
			}
			at[l] = 0
		}
		sum(letters)
		near(t, name, ran(t, b, e, x, y)[0], want, 1e-5)
	}
}

// definition is attention in float64: q (batch, heads, rows, dim), k and v of fewer heads.
// added says what is added to a score.
func definition(q, k, v []float32, batch, heads, kvHeads, rows, keys, dim int, causal bool, added func(b, h, i, j int) float64) []float64 {
	out := make([]float64, len(q))
	for at := range batch * heads * rows {
		b, h, i := at/heads/rows, at/rows%heads, at%rows
		weights, sum := make([]float64, keys), 0.0
		from := func(j int) int { return ((b*kvHeads+h*kvHeads/heads)*keys + j) * dim }
		for j := range keys {
			dot := 0.0
			for d := range dim {
				dot += float64(q[at*dim+d]) * float64(k[from(j)+d])
			}
			weights[j] = math.Exp(dot/math.Sqrt(float64(dim)) + added(b, h, i, j))
			if causal && j > i {
				weights[j] = 0
			}
			sum += weights[j]
		}
		for j, w := range weights {
			if sum == 0 {
				break
			}
			for d := range dim {
				out[at*dim+d] += w / sum * float64(v[from(j)+d])
			}
		}
	}
	return out
}

// turned has the second and the third axis change places.
func turned(x []float32, a, b, c, d int) []float32 {
	out := make([]float32, len(x))
	for i := range x {
		out[((i/(b*c*d)*c+i/d%c)*b+i/(c*d)%b)*d+i%d] = x[i]
	}
	return out
}

// TestAttention: every kind of bias, mask and lengths in both layouts and dtypes.
func TestAttention(t *testing.T) {
	const batch, heads, kvHeads, rows, keys, dim = 2, 4, 2, 5, 9, 8
	b, r := opened(t, small), rand.New(rand.NewPCG(3, 4))
	q, k, v := random(r, batch*heads*rows*dim), random(r, batch*kvHeads*keys*dim), random(r, batch*kvHeads*keys*dim)
	square, bias, columns := random(r, rows*keys), random(r, batch*heads*rows*keys), random(r, keys)
	seen, rowsOf, keysOf := make([]bool, rows*keys), []int32{5, 2}, []int32{4, 9}
	for i := range seen {
		seen[i] = i%3 != 1 && i/keys != 2 // row 2 sees nothing
	}
	hides := func(b bool) float64 {
		if b {
			return 0
		}
		return math.Inf(-1)
	}
	type options = compute.ScaledDotProductAttentionConfig
	for name, c := range map[string]struct {
		extra  []any
		shapes []shapes.Shape
		set    func(o *options, in []compute.Value)
		added  func(b, h, i, j int) float64
	}{
		"plain": {set: func(*options, []compute.Value) {}, added: func(_, _, _, _ int) float64 { return 0 }},
		"bias":  {[]any{bias}, []shapes.Shape{f32(batch, heads, rows, keys)}, func(o *options, in []compute.Value) { o.Bias = in[0] }, func(b, h, i, j int) float64 { return float64(bias[((b*heads+h)*rows+i)*keys+j]) }},
		"row":   {[]any{columns}, []shapes.Shape{f32(1, keys)}, func(o *options, in []compute.Value) { o.Bias = in[0] }, func(_, _, _, j int) float64 { return float64(columns[j]) }},
		"mask":  {[]any{square}, []shapes.Shape{f32(rows, keys)}, func(o *options, in []compute.Value) { o.Mask = in[0] }, func(_, _, i, j int) float64 { return float64(square[i*keys+j]) }},
		"truth": {[]any{seen}, []shapes.Shape{shapes.Make(dtypes.Bool, rows, keys)}, func(o *options, in []compute.Value) { o.Mask = in[0] }, func(_, _, i, j int) float64 { return hides(seen[i*keys+j]) }},
		"both": {[]any{seen, bias}, []shapes.Shape{shapes.Make(dtypes.Bool, rows, keys), f32(batch, heads, rows, keys)}, func(o *options, in []compute.Value) { o.Mask, o.Bias = in[0], in[1] }, func(b, h, i, j int) float64 {
			return float64(bias[((b*heads+h)*rows+i)*keys+j]) + hides(seen[i*keys+j])
		}},
		"lengths":    {[]any{rowsOf, keysOf}, []shapes.Shape{shapes.Make(dtypes.Int32, batch), shapes.Make(dtypes.Int32, batch)}, func(o *options, in []compute.Value) { o.QuerySeqLen, o.KeyValueSeqLen = in[0], in[1] }, func(b, _, i, j int) float64 { return hides(i < int(rowsOf[b]) && j < int(keysOf[b])) }},
		"key length": {[]any{keysOf}, []shapes.Shape{shapes.Make(dtypes.Int32, batch)}, func(o *options, in []compute.Value) { o.KeyValueSeqLen = in[0] }, func(b, _, _, j int) float64 { return hides(j < int(keysOf[b])) }},
	} {
		for _, causal := range []bool{false, true} {
			want := definition(q, k, v, batch, heads, kvHeads, rows, keys, dim, causal, c.added)
			for _, layout := range []compute.AxesLayout{compute.AxesLayoutBHSD, compute.AxesLayoutBSHD} {
				for _, d := range []dtypes.DType{dtypes.Float32, dtypes.BFloat16, dtypes.Float16} {
					name := fmt.Sprintf("%s, causal %v, %s, %s", name, causal, layout, d)
					qs, ks := f32(batch, heads, rows, dim), f32(batch, kvHeads, keys, dim)
					in := []any{q, k, v}
					if layout == compute.AxesLayoutBSHD {
						qs, ks = f32(batch, rows, heads, dim), f32(batch, keys, kvHeads, dim)
						in = []any{turned(q, batch, heads, rows, dim), turned(k, batch, kvHeads, keys, dim), turned(v, batch, kvHeads, keys, dim)}
					}
					e := compiled(t, b, append([]shapes.Shape{qs, ks, ks}, c.shapes...), single(func(f compute.Function, in []compute.Value) (compute.Value, error) {
						o := &options{Causal: causal}
						c.set(o, in[3:])
						var narrow [3]compute.Value
						for i := range narrow {
							var err error
							if narrow[i], err = f.ConvertDType(in[i], d); err != nil {
								return nil, err
							}
						}
						out, _, err := f.FusedScaledDotProductAttention(narrow[0], narrow[1], narrow[2], layout, o)
						if err != nil {
							return nil, err
						}
						return f.ConvertDType(out, dtypes.Float32)
					}))
					have := ran(t, b, e, append(in, c.extra...)...)[0].([]float32)
					if layout == compute.AxesLayoutBSHD {
						have = turned(have, batch, rows, heads, dim)
					}
					near(t, name, have, want, map[dtypes.DType]float64{dtypes.Float32: 1e-5, dtypes.BFloat16: 0.03, dtypes.Float16: 0.004}[d])
				}
			}
		}
	}
}

// TestLike: what graphs compute here is what they compute on the Go backend alone, with
// operations of both in turns, functions, constants and equal operations.
func TestLike(t *testing.T) {
	dot := func(f compute.Function, x, y compute.Value) (compute.Value, error) {
		return f.DotGeneral(x, []int{1}, nil, y, []int{0}, nil, compute.DotGeneralConfig{})
	}
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		inputs   []shapes.Shape
		build    graph
		launches int
	}{
		"dense layers": {[]shapes.Shape{f32(2, 9, 70), f32(70, 45), f32(45), f32(45, 3, 11)}, single(func(f compute.Function, in []compute.Value) (compute.Value, error) {
			x, err := f.FusedDense(in[0], in[1], in[2], compute.ActivationSilu)
			if err != nil {
				return nil, err
			}
			return f.FusedDense(x, in[3], nil, compute.ActivationGelu)
		}), 2},
		"activations": {[]shapes.Shape{f32(20, 70), f32(70, 45), f32(45)}, func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
			var out []compute.Value
			for _, a := range []compute.ActivationType{compute.ActivationNone, compute.ActivationRelu, compute.ActivationTanh} {
				v, err := f.FusedDense(in[0], in[1], in[2], a)
				if err != nil {
					return nil, err
				}
				out = append(out, v)
			}
			return out, nil
		}, 2}, // the Go backend's tanh has a product of its own
		"in turns": {[]shapes.Shape{f32(20, 20), f32(20, 20)}, func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
			x, sum := in[0], in[1]
			for range 4 {
				y, err := dot(f, x, in[1])
				if err != nil {
					return nil, err
				}
				again, err := dot(f, x, in[1]) // the same operation
				if err != nil {
					return nil, err
				}
				if x, err = f.Tanh(y); err != nil {
					return nil, err
				}
				if sum, err = f.Add(sum, again); err != nil {
					return nil, err
				}
			}
			return []compute.Value{x, sum}, nil
		}, 4},
		"norm and softmax": {[]shapes.Shape{f32(3, 5, 300), f32(300), f32(300)}, func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
			x, err := f.FusedLayerNorm(in[0], []int{-1}, 1e-5, in[1], in[2])
			if err != nil {
				return nil, err
			}
			y, err := f.FusedSoftmax(x, 2)
			return []compute.Value{x, y}, err
		}, 2},
		"queries, keys, values": {[]shapes.Shape{f32(30, 20), f32(20, 24), f32(16), f32(4)}, func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
			q, k, v, err := f.FusedAttentionQKVProjection(in[0], in[1], in[2], nil, in[3], 16, 4)
			return []compute.Value{q, k, v}, err
		}, 1},
		"closures": {[]shapes.Shape{f32(20, 20), f32(20, 20)}, func(f compute.Function, in []compute.Value) ([]compute.Value, error) {
			y, err := dot(f, in[0], in[1])
			if err != nil {
				return nil, err
			}
			cond, err := f.Closure()
			if err != nil {
				return nil, err
			}
			x, err := cond.Parameter("x", f32(20, 20), nil)
			if err != nil {
				return nil, err
			}
			s, err := cond.ReduceMax(x, 0, 1)
			if err != nil {
				return nil, err
			}
			limit, err := cond.Constant([]float32{1e4})
			if err != nil {
				return nil, err
			}
			more, err := cond.LessThan(s, limit)
			if err != nil {
				return nil, err
			}
			if err := cond.Return([]compute.Value{more}, nil); err != nil {
				return nil, err
			}
			body, err := f.Closure()
			if err != nil {
				return nil, err
			}
			if x, err = body.Parameter("x", f32(20, 20), nil); err != nil {
				return nil, err
			}
			z, err := dot(body, x, y) // y is from around it
			if err != nil {
				return nil, err
			}
			if z, err = body.Abs(z); err != nil {
				return nil, err
			}
			if err := body.Return([]compute.Value{z}, nil); err != nil {
				return nil, err
			}
			out, err := f.While(cond, body, in[1])
			if err != nil {
				return nil, err
			}
			last, err := dot(f, out[0], y)
			return []compute.Value{last, y}, err
		}, 2},
	} {
		var in []any
		for _, s := range c.inputs {
			in = append(in, random(r, s.Size()))
		}
		other := gobackend.GetBackend()
		want := ran(t, other, compiled(t, other, c.inputs, c.build), in...)
		b := opened(t, 0)
		e := compiled(t, b, c.inputs, c.build)
		if n := launches(e); n != c.launches {
			t.Errorf("%s: %d launches, want %d", name, n, c.launches)
		}
		for range 2 { // the second call finds buffers of the first
			for i, have := range ran(t, b, e, in...) {
				w := make([]float64, len(want[i].([]float32)))
				top := 1.0
				for j, x := range want[i].([]float32) {
					w[j] = float64(x)
					top = max(top, math.Abs(w[j]))
				}
				near(t, fmt.Sprint(name, " ", i), have, w, 2e-5*top)
			}
		}
	}
}

// TestRules: what the interface forbids is an error at once, buffers are their owner's, and
// executables of one graph live apart.
func TestRules(t *testing.T) {
	b := opened(t, 0)
	parameter := func(f compute.Function, name string) compute.Value {
		v, err := f.Parameter(name, f32(2, 2), nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	builder, strange := b.Builder("graph"), b.Builder("strange")
	f := builder.Main()
	x, other := parameter(f, "x"), parameter(strange.Main(), "x")
	y, err := f.DotGeneral(x, []int{1}, nil, x, []int{0}, nil, compute.DotGeneralConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Return([]compute.Value{other}, nil); err == nil {
		t.Error("a value of another graph was returned")
	}
	if _, err := builder.Compile(); err == nil {
		t.Error("a graph without Return was compiled")
	}
	_, errTwice := f.Parameter("x", f32(3), nil)
	_, errOther := f.Add(x, other)
	_, errNil := f.Add(x, nil)
	_, errQuantization := f.FusedQuantizedDense(x, x, nil, nil, compute.ActivationNone)
	if err := f.Return([]compute.Value{y, y, x, x}, nil); err != nil {
		t.Fatal(err)
	}
	_, errAfter := f.Exp(x)
	_, errParameter := f.Parameter("z", f32(3), nil)
	for name, err := range map[string]error{
		"a parameter of a name that there is": errTwice, "a value of another graph": errOther, "no value": errNil, "no quantization": errQuantization,
		"an operation after Return": errAfter, "a parameter after Return": errParameter, "Return after Return": f.Return([]compute.Value{y}, nil),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	first, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	second, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	first.Finalize()
	defer second.Finalize()
	in, err := b.BufferFromFlatData(0, []float32{1, 2, 3, 4}, f32(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Execute([]compute.Buffer{in}, nil, 0); err == nil {
		t.Error("an executable runs after Finalize")
	}
	out, err := second.Execute([]compute.Buffer{in}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range out { // each is written once the one before was
		want := [][]float32{{7, 10, 15, 22}, {1, 2, 3, 4}}[i/2]
		flat, err := o.Data()
		if err != nil || !slices.Equal(flat.([]float32), want) {
			t.Errorf("output %d is %v (%v), want %v", i, flat, err, want)
		}
		clear(flat.([]float32))
	}
	if flat, err := in.Data(); err != nil || flat.([]float32)[3] != 4 {
		t.Errorf("the input is %v (%v) after outputs were written", flat, err)
	}
	for name, bad := range map[string][]compute.Buffer{"no input": nil, "nil": {nil}, "another backend's": {goBuffer(t, f32(2, 2))}} {
		if _, err := second.Execute(bad, nil, 0); err == nil {
			t.Errorf("%s was taken for an input", name)
		}
	}
	if _, err := New("many"); err == nil {
		t.Error("a configuration that is none was taken")
	}
}

func goBuffer(t *testing.T, s shapes.Shape) compute.Buffer {
	t.Helper()
	x, _, err := gobackend.GetBackend().NewSharedBuffer(0, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
