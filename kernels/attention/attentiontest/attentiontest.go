// Package attentiontest says in float64 what attention is, makes inputs for it, and has
// the cases that implementations get wrong: those that users of other libraries reported.
package attentiontest

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"matladder/kernels"
	"matladder/kernels/attention/scores"
	sparse "matladder/kernels/attention/v6_sparse"
	"matladder/problem"
	"matladder/tile"
)

// Rungs are the kernels of attention: those of sweeps, and the sixth, whose tables are made
// for it.
func Rungs() []kernels.Kernel {
	return append(kernels.Ladder(problem.AttentionFamily), kernels.Of(sparse.Kernel))
}

// Data are the arrays of a problem and what they make: both are the same for all programs,
// and computed once.
type Data struct {
	p     problem.Attention
	seed  uint64
	named map[string]tile.Tensor
	want  *Reference
}

// Of begins the data of p without an array.
func Of(p problem.Attention, seed uint64) *Data {
	return &Data{p: p, seed: seed, named: map[string]tile.Tensor{}}
}

// Inputs returns the arrays of p and the tables of the programs that were built for blocks
// b, in the order of tile.Bind. Programs share the arrays.
func (x *Data) Inputs(b tile.Blocks, programs []*tile.Program) ([]tile.Tensor, error) {
	bound, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	lists := scores.ListOf(x.p, b, nil).Tables(scores.Most(x.p, b))
	in, fresh := make([]tile.Tensor, len(bound.In)), false
	for i, r := range bound.In {
		if list, ok := lists[r.Name]; ok {
			in[i] = list
		} else if _, ok := x.named[r.Name]; !ok {
			t := tile.NewTensor(r.Dtype, r.Array...)
			Fill(x.p, r.Name, t, x.seed)
			x.named[r.Name], fresh = t, true
		}
	}
	if fresh {
		Hide(x.p, x.named)
	}
	for i, r := range bound.In {
		if in[i].Data == nil {
			in[i] = x.named[r.Name]
		}
	}
	return in, nil
}

// Check compares outputs of programs on Inputs, in the order of tile.Bind, with the reference.
func (x *Data) Check(programs []*tile.Program, out []tile.Tensor) error {
	bound, err := tile.Bind(programs)
	if err != nil {
		return err
	}
	if x.want == nil {
		x.want = ReferenceOf(x.p, x.named)
	}
	for i, r := range bound.Out {
		if err := x.want.check(x.p, r.Name, out[i]); err != nil {
			return err
		}
	}
	return nil
}

// Inputs are those of programs that share them with no others.
func Inputs(p problem.Attention, b tile.Blocks, programs []*tile.Program, seed uint64) ([]tile.Tensor, error) {
	return Of(p, seed).Inputs(b, programs)
}

// Hide sets what no row sees of inputs by name to NaN.
func Hide(p problem.Attention, in map[string]tile.Tensor) {
	x, seen := numbersOf(in), map[string][]bool{}
	for name, t := range in {
		seen[name] = make([]bool, t.Len())
	}
	see := func(name string, row int) {
		if t, ok := in[name]; ok {
			n := t.Shape[len(t.Shape)-1]
			for d := range n {
				seen[name][row*n+d] = true
			}
		}
	}
	for b := range p.Batch {
		for i := range p.Rows {
			for j := range p.Keys {
				if !sees(p, x, b, i, j) {
					continue
				}
				for h := range p.Heads {
					row := (b*p.Heads+h)*p.Rows + i
					see("q", row)
					for _, name := range []string{"k", "v"} {
						see(name, place(p, x, b, b*p.KVHeads+h/p.Group(), j))
					}
					if p.Bias {
						seen["bias"][row*p.Keys+j] = true
					}
				}
				for _, name := range []string{"cos", "sin"} {
					see("row_"+name, b%p.RowTables()*p.Rows+i)
					see("key_"+name, j)
				}
			}
		}
	}
	for _, name := range []string{"q", "k", "v", "bias", "row_cos", "row_sin", "key_cos", "key_sin"} {
		for e, is := range seen[name] {
			if !is {
				in[name].Set(e, math.NaN())
			}
		}
	}
}

// Fill makes the input of a name, whatever others there are.
func Fill(p problem.Attention, name string, t tile.Tensor, seed uint64) {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	rng := rand.New(rand.NewPCG(seed, hash.Sum64()))
	for e := range t.Len() {
		t.Set(e, element(p, name, e, t.Shape[len(t.Shape)-1], rng))
	}
}

// element is one of an input. Bias hides a key here and there, and every key of some row; that of
// others is one large number, as masks have it that a softmax shall not see as infinite. One
// head has a sink that counts for nothing.
func element(p problem.Attention, name string, e, columns int, rng *rand.Rand) float64 {
	switch name {
	case "row_segment":
		return float64(e % p.Rows * 3 / p.Rows)
	case "key_segment":
		return float64(e % p.Keys * 4 / p.Keys) // the last is of no row
	case "lengths":
		whole := []int{p.Rows, p.Keys}[e%2]
		return float64([]int{whole, whole*2/3 | 1, 0}[e/2%3])
	case "pages": // in no order; behind the last, all over again, so that examples share some
		return float64((5*e + 2) % p.PageCount())
	case "row_cos", "row_sin", "key_cos", "key_sin":
		return fromCache(p, name, e, columns)
	case "bias":
		switch row := e / p.Keys % p.Rows; {
		case rng.IntN(5) == 0, row == 2:
			return math.Inf(-1)
		case row%8 == 3:
			return -1e30
		case row%8 == 4:
			return -math.MaxFloat32
		}
	case "sinks":
		if e == 1 {
			return math.Inf(-1)
		}
	case "q":
		if p.SoftCap > 0 {
			return 1e3 * rng.NormFloat64() // scores far beyond the cap
		}
	}
	return rng.NormFloat64()
}

// Reference is o and the log-sums of p, in float64 and in two passes over the keys of
// each row; and the sizes of sums, Σ probability · |v|, which rounding errors follow.
type Reference struct{ O, LogSums, Sizes []float64 }

// ReferenceOf computes the reference of inputs by name.
func ReferenceOf(p problem.Attention, named map[string]tile.Tensor) *Reference {
	x := Reference{
		O: make([]float64, p.Batch*p.Heads*p.Rows*p.ValueDim), Sizes: make([]float64, p.Batch*p.Heads*p.Rows*p.ValueDim),
		LogSums: make([]float64, p.Batch*p.Heads*p.Rows),
	}
	in := numbersOf(named)
	for b := range p.Batch {
		for kv := range p.KVHeads {
			places, k := make([]int, p.Keys), make([][]float64, p.Keys)
			for j := range k {
				places[j] = place(p, in, b, b*p.KVHeads+kv, j)
				k[j] = slices.Clone(in["k"][places[j]*p.Dim:][:p.Dim])
				if p.Rope == problem.TurnedBoth {
					rotate(p, k[j], j)
				}
			}
			for h := kv * p.Group(); h < (kv+1)*p.Group(); h++ {
				for i := range p.Rows {
					x.row(p, in, b, h, i, places, k)
				}
			}
		}
	}
	return &x
}

// row is row i of a head, of which k are the keys and places the rows that they have in k and v.
func (x *Reference) row(p problem.Attention, in numbers, b, h, i int, places []int, k [][]float64) {
	row := (b*p.Heads+h)*p.Rows + i
	s := make([]float64, p.Keys)
	largest := math.Inf(-1)
	q := slices.Clone(in["q"][row*p.Dim:][:p.Dim])
	if p.Rope != problem.TurnedNone {
		rotate(p, q, i+ahead(p, in, b))
	}
	for j := range s {
		s[j] = math.Inf(-1)
		if !sees(p, in, b, i, j) {
			continue
		}
		dot := 0.0
		for d := range q {
			dot += q[d] * k[j][d]
		}
		s[j] = dot * p.Scaled()
		if p.Bias {
			s[j] += in["bias"][row*p.Keys+j]
		}
		if p.SoftCap > 0 {
			s[j] = p.SoftCap * math.Tanh(s[j]/p.SoftCap)
		}
		largest = math.Max(largest, s[j])
	}
	sink := math.Inf(-1)
	if p.Sinks {
		sink = in["sinks"][h]
	}
	largest = math.Max(largest, sink)
	if math.IsInf(largest, -1) {
		largest = 0
	}
	sum := math.Exp(sink - largest)
	for j := range s {
		s[j] = math.Exp(s[j] - largest)
		sum += s[j]
	}
	x.LogSums[row] = largest + math.Log(sum)
	o, sizes := x.O[row*p.ValueDim:][:p.ValueDim], x.Sizes[row*p.ValueDim:]
	for j, w := range s {
		if !(w > 0) {
			continue
		}
		for d, y := range in["v"][places[j]*p.ValueDim:][:p.ValueDim] {
			v := w / sum * y
			o[d] += v
			sizes[d] += math.Abs(v)
		}
	}
}

// numbers are the elements of inputs by name.
type numbers map[string][]float64

func numbersOf(in map[string]tile.Tensor) numbers {
	x := numbers{}
	for name, t := range in {
		x[name] = t.Floats()
	}
	return x
}

// place is the row of k and v that key j of an example has.
func place(p problem.Attention, in numbers, b, kv, j int) int {
	if p.PageSize == 0 {
		return kv*p.Keys + j
	}
	page := int(in["pages"][b*p.PagesEach()+j/p.PageSize])
	return (kv%p.KVHeads*p.PageCount()+page)*p.PageSize + j%p.PageSize
}

// Check is that of programs which share inputs, in the order of tile.Bind, with no others.
func Check(p problem.Attention, programs []*tile.Program, in, out []tile.Tensor) error {
	bound, err := tile.Bind(programs)
	if err != nil {
		return err
	}
	x := Of(p, 0)
	for i, r := range bound.In {
		x.named[r.Name] = in[i]
	}
	return x.Check(programs, out)
}

// CheckOutput compares output o or lse with the reference of inputs by name.
func CheckOutput(p problem.Attention, in map[string]tile.Tensor, name string, out tile.Tensor) error {
	return ReferenceOf(p, in).check(p, name, out)
}

func (x *Reference) check(p problem.Attention, name string, out tile.Tensor) error {
	for e := range out.Len() {
		got, w, bound := out.At(e), 0.0, 0.0
		if name == "o" {
			// Probabilities and results are rounded to the dtype, those of blocks before the
			// row's largest score more than once; scores to float32, of which exponentials
			// make an error as large as the score.
			w, bound = x.O[e], (3.2*p.Dtype.Epsilon()+200*tile.Float32.Epsilon())*x.Sizes[e]
		} else {
			w = x.LogSums[e]
			bound = 200 * tile.Float32.Epsilon() * (1 + math.Abs(w))
		}
		if !(math.Abs(got-w) <= bound || got == w) {
			return fmt.Errorf("%s[%d] is %v, want %v ± %v", name, e, got, w, bound)
		}
	}
	return nil
}

// sees reports whether row i sees key j, the definition as it is written for people.
func sees(p problem.Attention, in numbers, b, i, j int) bool {
	rows, keys := lengths(p, in, b)
	beside := i + ahead(p, in, b)
	switch {
	case i >= rows || j >= keys:
		return false
	case p.Causal && j > beside:
		return false
	case p.Window && p.Left >= 0 && j < beside-p.Left, p.Window && p.Right >= 0 && j > beside+p.Right:
		return false
	case p.Segments:
		return in["row_segment"][b*p.Rows+i] == in["key_segment"][b*p.Keys+j]
	}
	return true
}

// lengths are the rows and keys of an example.
func lengths(p problem.Attention, in numbers, b int) (rows, keys int) {
	if p.Lengths {
		return int(in["lengths"][2*b]), int(in["lengths"][2*b+1])
	}
	return p.Rows, p.Keys
}

// ahead is how many keys the one beside the first row has before it.
func ahead(p problem.Attention, in numbers, b int) int {
	if !p.AtEnd {
		return 0
	}
	rows, keys := lengths(p, in, b)
	return keys - rows
}

// Case is a problem that has a name.
type Case struct {
	Name string
	problem.Attention
}

// Cases are what implementations get wrong, small enough to interpret.
func Cases() []Case {
	var all []Case
	add := func(name string, change func(p *problem.Attention)) {
		p := problem.Self(37, 16, tile.Float32)
		p.Batch, p.Heads, p.KVHeads = 2, 4, 2
		change(&p)
		all = append(all, Case{name, p})
	}
	add("plain", func(p *problem.Attention) {})
	add("bfloat16", func(p *problem.Attention) { p.Dtype = tile.BFloat16 })
	add("one row and key", func(p *problem.Attention) { p.Rows, p.Keys = 1, 1 })
	add("one row", func(p *problem.Attention) { p.Rows, p.Causal, p.AtEnd = 1, true, true })
	for _, end := range []bool{false, true} {
		at := map[bool]string{false: "start", true: "end"}[end]
		for _, n := range []struct{ rows, keys int }{{37, 37}, {20, 37}, {37, 20}} {
			size := fmt.Sprintf(" %d×%d at the %s", n.rows, n.keys, at)
			shaped := func(p *problem.Attention) { p.Rows, p.Keys, p.AtEnd, p.Batch = n.rows, n.keys, end, 1 }
			add("causal"+size, func(p *problem.Attention) { shaped(p); p.Causal = true })
			add("window"+size, func(p *problem.Attention) { shaped(p); p.Window, p.Left, p.Right = true, 5, 3 })
			add("causal window"+size, func(p *problem.Attention) { shaped(p); p.Causal, p.Window, p.Left, p.Right = true, true, 9, -1 })
		}
	}
	add("window of one", func(p *problem.Attention) { p.Window = true })
	add("window of all", func(p *problem.Attention) { p.Window, p.Left, p.Right = true, 100, 100 })
	add("window without ends", func(p *problem.Attention) { p.Window, p.Left, p.Right = true, -1, -1 })
	add("scaled before", func(p *problem.Attention) { p.Scale, p.Causal = math.Ln2, true })
	add("soft cap", func(p *problem.Attention) { p.SoftCap = 30 })
	add("sinks", func(p *problem.Attention) { p.Sinks, p.Causal, p.LogSums = true, true, true })
	add("sinks of hidden rows", func(p *problem.Attention) { p.Sinks, p.Causal, p.AtEnd, p.Keys, p.LogSums = true, true, true, 20, true })
	add("sinks of lengths", func(p *problem.Attention) { p.Sinks, p.Lengths, p.Batch, p.LogSums = true, true, 3, true })
	add("sinks of a window and segments", func(p *problem.Attention) {
		p.Sinks, p.Segments, p.Window, p.Left, p.Right, p.LogSums = true, true, true, 2, -1, true
	})
	add("bias and sinks of all keys", func(p *problem.Attention) { p.Bias, p.Sinks, p.LogSums = true, true, true })
	add("segments", func(p *problem.Attention) { p.Segments, p.LogSums = true, true })
	add("causal segments", func(p *problem.Attention) { p.Segments, p.Causal = true, true })
	add("bias", func(p *problem.Attention) { p.Bias, p.Causal, p.LogSums = true, true, true })
	add("lengths", func(p *problem.Attention) { p.Lengths, p.Batch, p.LogSums = true, 3, true })
	add("causal lengths at the end", func(p *problem.Attention) { p.Lengths, p.Batch, p.Causal, p.AtEnd = true, 3, true, true })
	add("window of lengths at the start", func(p *problem.Attention) {
		p.Lengths, p.Batch, p.Window, p.Left, p.Right = true, 3, true, 4, 4
	})
	add("a chunk of rows over pages", func(p *problem.Attention) {
		p.Batch, p.Rows, p.Keys, p.PageSize, p.Causal, p.AtEnd, p.Dtype = 2, 21, 64, 16, true, true, tile.BFloat16
	})
	add("a chunk of rows over pages of lengths", func(p *problem.Attention) {
		p.Batch, p.Rows, p.Keys, p.PageSize, p.Causal, p.AtEnd, p.Lengths, p.LogSums = 3, 21, 64, 16, true, true, true, true
	})
	add("a page filled in part", func(p *problem.Attention) {
		p.Batch, p.Rows, p.Keys, p.PageSize, p.LogSums = 2, 21, 59, 16, true
	})
	add("a page filled in part, with all else", func(p *problem.Attention) {
		p.Batch, p.Rows, p.Keys, p.PageSize, p.Causal, p.AtEnd, p.Dtype = 2, 21, 59, 16, true, true, tile.BFloat16
		p.SoftCap, p.Bias, p.Sinks, p.Segments, p.LogSums, p.Rope = 5, true, true, true, true, problem.TurnedBoth
	})
	for _, pages := range []int{12, 9} {
		paged := func(p *problem.Attention) { p.Batch, p.Keys, p.PageSize, p.Pages = 3, 64, 16, pages }
		of := fmt.Sprintf("%d pages", pages)
		add(of, func(p *problem.Attention) { paged(p); p.Rows = 1 })
		add(of+" of lengths", func(p *problem.Attention) { paged(p); p.Rows, p.Lengths, p.LogSums = 1, true, true })
		add(of+" and new rows at the end", func(p *problem.Attention) {
			paged(p)
			p.Rows, p.Lengths, p.Causal, p.AtEnd, p.Dtype = 5, true, true, true, tile.BFloat16
		})
		add(of+", a window and sinks", func(p *problem.Attention) {
			paged(p)
			p.Rows, p.Causal, p.AtEnd, p.Window, p.Left, p.Right, p.Sinks = 2, true, true, true, 20-pages%2, -1, true
			if pages == 9 {
				p.Dtype = tile.BFloat16
			}
		})
	}
	for _, c := range rotations {
		add("turned"+c.name, func(p *problem.Attention) { p.Rope, p.Causal, p.Rotation = problem.TurnedBoth, true, c.Rotation })
		add("rows turned"+c.name, func(p *problem.Attention) {
			p.Rope, p.Dtype, p.Rotation, p.Rows, p.AtEnd = problem.TurnedRows, tile.BFloat16, c.Rotation, 20, true
		})
		add("turned in pages of lengths"+c.name, func(p *problem.Attention) {
			p.Batch, p.Rows, p.Keys, p.PageSize, p.Causal, p.AtEnd, p.Lengths = 3, 5, 64, 16, true, true, true
			p.Rope, p.Dtype, p.Rotation = problem.TurnedBoth, tile.BFloat16, c.Rotation
		})
		add("turned lengths"+c.name, func(p *problem.Attention) {
			p.Rope, p.Lengths, p.Batch, p.AtEnd, p.Causal, p.Bias, p.Sinks, p.Rotation = problem.TurnedBoth, true, 3, true, true, true, true, c.Rotation
		})
	}
	add("log-sums of hidden rows", func(p *problem.Attention) { p.Causal, p.AtEnd, p.Keys, p.LogSums = true, true, 20, true })
	add("everything", func(p *problem.Attention) {
		p.Dtype, p.Causal, p.Window, p.Left, p.Right = tile.BFloat16, true, true, 11, -1
		p.SoftCap, p.Bias, p.Sinks, p.Segments, p.LogSums = 5, true, true, true, true
	})
	for _, d := range []struct{ dim, value int }{{64, 64}, {80, 80}, {128, 128}, {192, 128}, {256, 256}} {
		add(fmt.Sprintf("dims %d and %d", d.dim, d.value), func(p *problem.Attention) {
			p.Batch, p.Heads, p.KVHeads, p.Rows, p.Keys, p.Dim, p.ValueDim, p.Causal = 1, 2, 1, 20, 20, d.dim, d.value, true
		})
	}
	return all
}

// Pieces is a case whose blocks are met in pieces of their keys, the last of which end in the
// midst of one, and these blocks.
func Pieces() (problem.Attention, tile.Blocks) {
	p := problem.Self(20, 8, tile.Float32)
	p.Keys, p.Causal, p.AtEnd, p.Bias, p.Segments = 45, true, true, true, true
	return p, tile.Blocks{M: 16, K: 24, N: 8}
}
