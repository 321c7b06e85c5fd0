package experts_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/cpu/cputest"
	"matladder/internal/thoroughtest"
	"matladder/kernels/experts"
	"matladder/kernels/experts/gate"
	"matladder/kernels/experts/route"
	visits "matladder/kernels/grouped/v3_starts"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

func TestMain(m *testing.M) { os.Exit(cputest.Main(m, 2)) }

// cases are tokens that fill blocks and do not, one choice and all, and capacities that drop
// choices, leave rows free, or do both.
func cases() []problem.Experts {
	var list []problem.Experts
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16} {
		for _, order := range []problem.GateOrder{problem.TopFirst, problem.SoftmaxFirst, problem.Renormalized} {
			for _, s := range [][4]int{{37, 40, 8, 2}, {16, 33, 5, 1}, {1, 8, 3, 3}, {50, 16, 64, 6}} {
				p := problem.Experts{Tokens: s[0], Dim: s[1], Experts: s[2], Choices: s[3], Order: order, Dtype: d}
				list = append(list, p)
				if order == problem.TopFirst {
					p.Capacity = tile.Ceil(p.Tokens*p.Choices, p.Experts)
					list = append(list, p)
					p.Capacity = tile.Ceil(4*p.Tokens*p.Choices, p.Experts)
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// A runner computes programs of one launch, its inputs by name.
type runner struct {
	name  string
	run   func(t *testing.T, programs []*tile.Program, in map[string]tile.Tensor) map[string]tile.Tensor
	round func(float64) float64 // what becomes of each product and sum
}

func runners(t *testing.T) []runner {
	device, err := cpu.Open(cpu.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { device.Close() })
	return []runner{
		{"interp", func(t *testing.T, programs []*tile.Program, named map[string]tile.Tensor) map[string]tile.Tensor {
			bound, in := bind(t, programs, named)
			out, err := interp.Run(context.Background(), programs, in)
			if err != nil {
				t.Fatal(err)
			}
			return byName(bound.Out, out)
		}, func(x float64) float64 { return x }},
		{"cpu", func(t *testing.T, programs []*tile.Program, named map[string]tile.Tensor) map[string]tile.Tensor {
			bound, in := bind(t, programs, named)
			e, err := device.Compile(context.Background(), programs, backend.Params{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			var out []tile.Tensor
			for _, r := range bound.Out {
				out = append(out, tile.NewTensor(r.Dtype, r.Array...))
			}
			if err := e.Load(in...); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Run(context.Background(), 1); err != nil {
				t.Fatal(err)
			}
			if err := e.Results(out...); err != nil {
				t.Fatal(err)
			}
			return byName(bound.Out, out)
		}, func(x float64) float64 { return float64(float32(x)) }},
	}
}

// bind gives each input its data in the shape that the programs have.
func bind(t *testing.T, programs []*tile.Program, named map[string]tile.Tensor) (tile.Bindings, []tile.Tensor) {
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	var in []tile.Tensor
	for _, r := range bound.In {
		x := named[r.Name]
		if x.Dtype != r.Dtype || int64(x.Len()) != tile.Elements(r.Array) {
			t.Fatalf("%s is %s%v, the programs have %s%v", r.Name, x.Dtype, x.Shape, r.Dtype, r.Array)
		}
		in = append(in, tile.Tensor{Dtype: x.Dtype, Shape: r.Array, Data: x.Data})
	}
	return bound, in
}

func byName(refs []*tile.Ref, list []tile.Tensor) map[string]tile.Tensor {
	named := map[string]tile.Tensor{}
	for i, r := range refs {
		named[r.Name] = list[i]
	}
	return named
}

func random(d tile.Dtype, seed uint64, shape ...int) tile.Tensor {
	x, r := tile.NewTensor(d, shape...), rand.New(rand.NewPCG(seed, 0))
	for i := range x.Len() {
		x.Set(i, r.Float64()*2-1)
	}
	return x
}

// logitsOf has equal ones among each other, and infinite ones.
func logitsOf(p problem.Experts) tile.Tensor {
	x, r := tile.NewTensor(tile.Float32, p.Tokens, p.Experts), rand.New(rand.NewPCG(7, 0))
	for i := range x.Len() {
		x.Set(i, float64(r.IntN(9)-4)*1.3)
		if r.IntN(12) == 0 {
			x.Set(i, math.Inf(-1))
		}
	}
	return x
}

// choice is an expert of a token by the reference.
type choice struct {
	token, expert int
	weight        float64
	row           int // -1 where it is dropped
}

// chosenOf is the reference of gate: a stable sort of each row, and softmax in float64, cut to
// float32 where the program keeps something.
func chosenOf(p problem.Experts, logits tile.Tensor) []choice {
	var list []choice
	f32 := func(x float64) float64 { return float64(float32(x)) }
	for token := range p.Tokens {
		row := make([]float64, p.Experts)
		order := make([]int, p.Experts)
		for e := range row {
			row[e], order[e] = max(logits.At(token*p.Experts+e), -math.MaxFloat32), e
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case row[a] > row[b]:
				return -1
			case row[a] < row[b]:
				return 1
			}
			return 0
		})
		power := func(e int) float64 { return math.Exp(row[e] - row[order[0]]) }
		all, top, kept := 0., 0., 0.
		for e := range row {
			all += power(e)
		}
		for _, e := range order[:p.Choices] {
			top += power(e)
			kept += f32(power(e) / f32(all))
		}
		for _, e := range order[:p.Choices] {
			w := power(e) / f32(top)
			switch p.Order {
			case problem.SoftmaxFirst:
				w = power(e) / f32(all)
			case problem.Renormalized:
				w = f32(power(e)/f32(all)) / f32(kept)
			}
			list = append(list, choice{token, e, f32(w), -1})
		}
	}
	return list
}

// placed is the reference of route: choices sorted by expert, cut where an expert is full.
func placed(p problem.Experts, list []choice) {
	var sorted []*choice
	for i := range list {
		sorted = append(sorted, &list[i])
	}
	slices.SortStableFunc(sorted, func(a, b *choice) int { return a.expert - b.expert })
	nth := 0
	for i, c := range sorted {
		if nth++; i == 0 || sorted[i-1].expert != c.expert {
			nth = 0
		}
		switch {
		case p.Capacity == 0:
			c.row = i
		case nth < p.Capacity:
			c.row = c.expert*p.Capacity + nth
		}
	}
}

// TestGate: experts to the bit, and weights: in the interpreter too, on cores within four
// units of the last place, as powers and sums are their own.
func TestGate(t *testing.T) {
	chosen := thoroughtest.Choose(1, 5, 5)
	for _, r := range runners(t) {
		for _, p := range cases() {
			for _, bm := range []int{8, 64} {
				if !chosen() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s %s/%d", r.name, p, p.Order, bm), func(t *testing.T) {
					programs, err := gate.Build(p, bm)
					if err != nil {
						t.Fatal(err)
					}
					logits := logitsOf(p)
					out := r.run(t, programs, map[string]tile.Tensor{"logits": logits})
					for i, c := range chosenOf(p, logits) {
						if have := int(out["experts"].At(i)); have != c.expert {
							t.Fatalf("token %d, choice %d: expert %d, want %d", c.token, i%p.Choices, have, c.expert)
						}
						have, bound := out["weights"].At(i), 0.
						if r.name != "interp" {
							bound = c.weight * 0x1p-21
						}
						if !(math.Abs(have-c.weight) <= bound) {
							t.Fatalf("token %d, choice %d: weight %v, want %v", c.token, i%p.Choices, have, c.weight)
						}
					}
				})
			}
		}
	}
}

// routed is a problem with a choice of its own and its tables.
func routed(t *testing.T, p problem.Experts) ([]choice, route.Tables, map[string]tile.Tensor) {
	list := chosenOf(p, logitsOf(p))
	ids, weights := tile.NewTensor(tile.Int32, p.Tokens, p.Choices), tile.NewTensor(tile.Float32, p.Tokens, p.Choices)
	for i, c := range list {
		ids.Set(i, float64(c.expert))
		weights.Set(i, c.weight)
	}
	tables, err := route.Of(p, ids)
	if err != nil {
		t.Fatal(err)
	}
	placed(p, list)
	return list, tables, map[string]tile.Tensor{"weights": weights, "tokens": tables.Tokens, "rows_of": tables.Rows, "offsets": tables.Offsets}
}

// TestRoute holds tables to the reference, and to each other.
func TestRoute(t *testing.T) {
	for _, p := range cases() {
		list, tables, _ := routed(t, p)
		dropped, sizes, tokens := 0, make([]int, p.Experts), make([]int, p.Rows())
		for i := range tokens {
			tokens[i] = route.Nobody
		}
		for i, c := range list {
			if have := int(tables.Rows.At(i)); have != c.row {
				t.Fatalf("%s: choice %d is row %d, want %d", p, i, have, c.row)
			}
			if sizes[c.expert]++; c.row < 0 {
				dropped++
				continue
			}
			tokens[c.row] = c.token
		}
		for row, token := range tokens {
			if have := int(tables.Tokens.At(row)); have != token {
				t.Fatalf("%s: row %d is of token %d, want %d", p, row, have, token)
			}
		}
		at := 0
		for e, n := range sizes {
			if have := int(tables.Offsets.At(e)); have != at {
				t.Fatalf("%s: expert %d begins at %d, want %d", p, e, have, at)
			}
			if at += n; p.Capacity > 0 {
				at += p.Capacity - n
			}
		}
		if tables.Dropped != dropped {
			t.Errorf("%s: %d dropped, want %d", p, tables.Dropped, dropped)
		}
	}
	p := cases()[0]
	ids := tile.NewTensor(tile.Int32, p.Tokens, p.Choices)
	ids.Set(3, float64(p.Experts))
	if _, err := route.Of(p, ids); err == nil || !strings.Contains(err.Error(), "token 1 chooses expert 8 of 8") {
		t.Errorf("an expert that there is not: %v", err)
	}
}

// hidden is x, NaN in rows of which is holds: nobody needs them.
func hidden(x tile.Tensor, is func(row int) bool) tile.Tensor {
	for i, n := 0, x.Shape[1]; i < x.Len(); i++ {
		if is(i / n) {
			x.Set(i, math.NaN())
		}
	}
	return x
}

var blocks = []tile.Blocks{{M: 8, K: 16, N: 8}, {M: 32, K: 8, N: 64}}

// TestPermute: rows are those of tokens to the bit, and 0 where nobody's are.
func TestPermute(t *testing.T) {
	chosen := thoroughtest.Choose(1, 5, 5)
	for _, r := range runners(t) {
		for _, p := range cases() {
			for _, k := range experts.All {
				for _, b := range blocks {
					if !chosen() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s %s/%s/%s", r.name, p, p.Order, k.Name(), b), func(t *testing.T) {
						list, tables, in := routed(t, p)
						programs, err := k.Permute(p, b)
						if err != nil {
							t.Fatal(err)
						}
						in["x"] = hidden(random(p.Dtype, 1, p.Tokens, p.Dim), func(token int) bool {
							return !slices.ContainsFunc(list[token*p.Choices:][:p.Choices], func(c choice) bool { return c.row >= 0 })
						})
						rows := r.run(t, programs, in)["rows"]
						for i := range p.Rows() * p.Dim {
							want := 0.
							if token := int(tables.Tokens.At(i / p.Dim)); token >= 0 {
								want = in["x"].At(token*p.Dim + i%p.Dim)
							}
							if have := rows.At(i); have != want {
								t.Fatalf("row %d, column %d is %v, want %v", i/p.Dim, i%p.Dim, have, want)
							}
						}
					})
				}
			}
		}
	}
}

// TestCombine: sums of rows by weights, of v2_rows to the bit: each product and each sum
// rounded to float32, in the order of choices.
func TestCombine(t *testing.T) {
	chosen := thoroughtest.Choose(1, 5, 5)
	for _, r := range runners(t) {
		for _, p := range cases() {
			for _, k := range experts.All {
				for _, b := range blocks {
					if !chosen() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s %s/%s/%s", r.name, p, p.Order, k.Name(), b), func(t *testing.T) {
						list, tables, in := routed(t, p)
						programs, err := k.Combine(p, b)
						if err != nil {
							t.Fatal(err)
						}
						y := hidden(random(p.Dtype, 1, p.Rows(), p.Dim), func(row int) bool { return tables.Tokens.At(row) < 0 })
						in["y"] = y
						o := r.run(t, programs, in)["o"]
						for i := range p.Tokens {
							for d := range p.Dim {
								sum, size := 0., 0.
								for _, c := range list[i*p.Choices : (i+1)*p.Choices] {
									if c.row >= 0 {
										product := r.round(c.weight * y.At(c.row*p.Dim+d))
										sum, size = float64(float32(sum+product)), size+math.Abs(product)
									}
								}
								want, bound := p.Dtype.Round(sum), 0.
								if k.Number() == 1 { // weights are rounded to the dtype of y, and sums have another order
									bound = size * (2*p.Dtype.Epsilon() + float64(p.Choices)*tile.Float32.Epsilon())
								}
								if have := o.At(i*p.Dim + d); !(math.Abs(have-want) <= bound) {
									t.Fatalf("o[%d, %d] is %v, want %v", i, d, have, want)
								}
							}
						}
					})
				}
			}
		}
	}
}

// TestLayer goes the whole way: logits to experts, rows there, each multiplied by the matrix
// of its expert, and back, against sums in float64 that know nothing of rows.
func TestLayer(t *testing.T) {
	chosen := thoroughtest.Choose(1, 5, 5)
	const n = 24
	for _, r := range runners(t) {
		for _, p := range cases() {
			if !chosen() {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s %s", r.name, p, p.Order), func(t *testing.T) {
				k, b := experts.All[1], tile.Blocks{M: 8, K: p.Dim, N: 16}
				logits := logitsOf(p)
				in := map[string]tile.Tensor{"logits": logits, "x": random(p.Dtype, 2, p.Tokens, p.Dim), "w": random(p.Dtype, 3, p.Experts, p.Dim, n)}
				step := func(programs []*tile.Program, err error) {
					if err != nil {
						t.Fatal(err)
					}
					for name, x := range r.run(t, programs, in) {
						in[name] = x
					}
				}
				step(gate.Build(p, 16))
				tables, err := route.Of(p, in["experts"])
				if err != nil {
					t.Fatal(err)
				}
				in["tokens"], in["rows_of"], in["offsets"] = tables.Tokens, tables.Rows, tables.Offsets
				step(k.Permute(p, b))
				wide := p
				wide.Dim = n
				x := in["x"]
				in["x"] = in["rows"]
				grouped := problem.Grouped{Rows: p.Rows(), K: p.Dim, N: n, Groups: p.Experts, Dtype: p.Dtype}
				for name, list := range tiles(tables.Offsets, b.M, grouped) {
					in[name] = list
				}
				step(visits.Kernel.Build(grouped, "", b))
				in["y"] = in["o"]
				step(k.Combine(wide, b))

				list := chosenOf(p, logits)
				placed(p, list)
				for i := range p.Tokens {
					for j := range n {
						want, size := 0., 0.
						for _, c := range list[i*p.Choices : (i+1)*p.Choices] {
							for d := range p.Dim {
								if c.row >= 0 {
									product := c.weight * x.At(i*p.Dim+d) * in["w"].At((c.expert*p.Dim+d)*n+j)
									want, size = want+product, size+math.Abs(product)
								}
							}
						}
						unit := 1e-6
						if p.Dtype == tile.BFloat16 {
							unit = 1. / 128
						}
						if have := in["o"].At(i*n + j); !(math.Abs(have-want) <= unit*size) {
							t.Fatalf("o[%d, %d] is %v, want %v", i, j, have, want)
						}
					}
				}
			})
		}
	}
}

// tiles are the tables of v3_starts.
func tiles(offsets tile.Tensor, bm int, g problem.Grouped) map[string]tile.Tensor {
	var first, owner []int
	for e := range g.Groups {
		for at := int(offsets.At(e)); at < int(offsets.At(e+1)); at += bm {
			first, owner = append(first, at), append(owner, e)
		}
	}
	table := func(list []int, n int) tile.Tensor {
		x := tile.NewTensor(tile.Int32, n)
		for i := range n {
			x.Set(i, float64(list[min(i, len(list)-1)]))
		}
		return x
	}
	most := (g.Rows + g.Groups*(bm-1)) / bm
	return map[string]tile.Tensor{
		fmt.Sprintf("tiles_%d", bm): table([]int{len(first)}, 1), fmt.Sprintf("first_%d", bm): table(first, most), fmt.Sprintf("owner_%d", bm): table(owner, most),
	}
}

// TestRefused: what makes no sense is refused in words.
func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*problem.Experts){
		"9 choices of 8 experts": func(p *problem.Experts) { p.Choices = 9 },
		"capacity -1":            func(p *problem.Experts) { p.Capacity = -1 },
		`order "sigmoid"`:        func(p *problem.Experts) { p.Order = "sigmoid" },
		"dtype int8":             func(p *problem.Experts) { p.Dtype = tile.Int8 },
		"overflows":              func(p *problem.Experts) { p.Tokens = 1 << 40 },
	} {
		p := cases()[0]
		change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestShort holds each rung to what one reads on a screen or little more.
func TestShort(t *testing.T) {
	for _, k := range experts.All {
		text, err := os.ReadFile(filepath.Join(k.Name(), "kernel.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 80 {
			t.Errorf("%s has %d lines", k.Name(), n)
		}
	}
}
