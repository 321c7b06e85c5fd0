package matladder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/cpu/cputest"
	"matladder/backend/registry"
	"matladder/check"
	"matladder/internal/thoroughtest"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// copyingBackend is the CPU behind the interface that devices have: arrays are copied in
// and out.
const copyingBackend = "copying"

func init() {
	registry.Register(registry.Entry{
		Name: copyingBackend, Help: "for tests", Can: registry.Measures,
		Open: func(_ context.Context, r registry.Request) (*registry.Device, error) {
			b, err := cpu.Open(cpu.Options{Threads: r.Threads, NoProbe: true})
			if err != nil {
				return nil, err
			}
			return &registry.Device{Backend: struct {
				backend.Backend
				backend.Compiler
			}{b, b}}, nil
		},
	})
}

// compile compiles p on three threads with a block shape, so that nothing depends on the
// machine.
func compile(t testing.TB, p problem.Problem, o Options) *Program {
	t.Helper()
	if o.Blocks == (tile.Blocks{}) {
		o.Blocks = tile.Blocks{M: 64, K: 64, N: 64}
	}
	if o.Threads == 0 {
		o.Threads = 3
	}
	c, err := Compile(t.Context(), p, o)
	if err != nil {
		t.Fatalf("%s: %v", problem.Title(p), err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// tensors are seeded inputs of p, and its outputs.
func tensors(t testing.TB, p problem.Problem, c *Program, seed uint64) (raw, out []tile.Tensor, in, outs []Tensor) {
	t.Helper()
	raw, err := check.Inputs(t.Context(), p, c.programs, seed, check.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range raw {
		in = append(in, FromTile(x))
	}
	for _, a := range c.Outputs() {
		x := tile.NewTensor(a.Dtype, a.Shape...)
		out, outs = append(out, x), append(outs, FromTile(x))
	}
	return raw, out, in, outs
}

// TestRun runs a problem of every spelling of every family, on both kinds of backend,
// against its reference.
func TestRun(t *testing.T) {
	run := thoroughtest.Choose(1, 1, 3)
	for _, f := range problem.Families() {
		for _, word := range slices.Concat(f.Dtypes, f.Examples) {
			asked, err := f.Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Make(f.Sample, asked)
			for _, name := range []string{"", copyingBackend} {
				if !run() {
					continue
				}
				c := compile(t, p, Options{Backend: name})
				for seed := range uint64(2) {
					raw, out, in, outs := tensors(t, p, c, seed)
					if err := c.Call(t.Context(), outs, in); err != nil {
						t.Fatalf("%s: %v", problem.Title(p), err)
					}
					result, err := check.Verify(t.Context(), p, c.programs, raw, out...)
					if err != nil || result.ErrOverBound > 1 {
						t.Errorf("%s on %s, seed %d: error/bound %v, %v", problem.Title(p), name, seed, result.ErrOverBound, err)
					}
				}
			}
		}
	}
}

// TestRun_Chosen compiles with what bench would take on a machine that has been measured.
func TestRun_Chosen(t *testing.T) {
	cputest.Use(t, 0)
	p := problem.New(130, 70, 90, tile.BFloat16)
	c, err := Compile(t.Context(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !strings.HasPrefix(c.String(), "v5_quant ") {
		t.Errorf("chose %s", c)
	}
	var plan strings.Builder
	if err := c.WritePlan(t.Context(), &plan); err != nil || !strings.Contains(plan.String(), "schedule") {
		t.Errorf("plan %q, %v", plan.String(), err)
	}
}

// integers has a and b of small ones, so that each product is exact, and what comes out.
func integers(m, k, n int) (a, b, want []float32) {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	a, b, want = make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for _, x := range [][]float32{a, b} {
		for i := range x {
			x[i] = float32(r.IntN(9) - 4)
		}
	}
	for i := range m {
		for l := range k {
			for j := range n {
				want[i*n+j] += a[i*k+l] * b[l*n+j]
			}
		}
	}
	return a, b, want
}

// spread puts rows×cols elements where strides say, behind some others, and NaN between them.
func spread(x []float32, ahead, rows, cols, down, right int) []float32 {
	s := make([]float32, ahead+(rows-1)*down+(cols-1)*right+1)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			s[ahead+i*down+j*right] = x[i*cols+j]
		}
	}
	return s
}

// TestRun_Strides: arrays may lie in any way, and what is between their elements stays.
func TestRun_Strides(t *testing.T) {
	const m, k, n = 70, 130, 90
	a, b, want := integers(m, k, n)
	type way struct{ ahead, down, right int }
	ways := func(rows, cols int) []way {
		return []way{{0, cols, 1}, {1, cols, 1}, {3, cols + 5, 1}, {0, 1, rows}, {2, 2 * cols, 2}}
	}
	for _, name := range []string{"", copyingBackend} {
		c := compile(t, problem.New(m, k, n, tile.Float32), Options{Backend: name})
		for _, x := range ways(m, k) {
			for _, y := range ways(k, n) {
				for _, z := range ways(m, n) {
					as, bs := spread(a, x.ahead, m, k, x.down, x.right), spread(b, y.ahead, k, n, y.down, y.right)
					os, ws := spread(make([]float32, m*n), z.ahead, m, n, z.down, z.right), spread(want, z.ahead, m, n, z.down, z.right)
					err := c.Run(t.Context(), Strided(os[z.ahead:], []int{m, n}, []int{z.down, z.right}),
						Strided(as[x.ahead:], []int{m, k}, []int{x.down, x.right}), Strided(bs[y.ahead:], []int{k, n}, []int{y.down, y.right}))
					same := slices.EqualFunc(os, ws, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
					if err != nil || !same {
						t.Fatalf("a %v, b %v, o %v: error %v, equal %v", x, y, z, err, same)
					}
				}
			}
		}
		if have := len(*c.variants.Load()); have > mostVariants {
			t.Errorf("%d variants are kept", have)
		}
	}
}

// TestRun_Parts multiplies parts of one large matrix into another part of it.
func TestRun_Parts(t *testing.T) {
	const m, ld = 20, 75
	a, b, want := integers(m, m, m)
	all := make([]float32, m*ld)
	for i := range m {
		copy(all[i*ld:], a[i*m:][:m])
		copy(all[i*ld+25:], b[i*m:][:m])
	}
	part := func(col int) Tensor { return Strided(all[col:], []int{m, m}, []int{ld, 1}) }
	c := compile(t, problem.New(m, m, m, tile.Float32), Options{})
	if err := c.Run(t.Context(), part(50), part(0), part(25)); err != nil {
		t.Fatal(err)
	}
	for i := range m {
		if !slices.Equal(all[i*ld+50:][:m], want[i*m:][:m]) {
			t.Fatalf("row %d: have %v, want %v", i, all[i*ld+50:][:m], want[i*m:][:m])
		}
	}
	var wrong *ArgumentError
	if err := c.Run(t.Context(), part(40), part(0), part(25)); !errors.As(err, &wrong) || wrong.Name != "o" {
		t.Errorf("columns in common: %v", err)
	}
}

// scaleAdd is o = a·b + c.
func scaleAdd(t *testing.T, n, block int) []*tile.Program {
	b := tile.New("add")
	i, j := b.Axis("i", tile.Ceil(n, block), tile.Parallel), b.Axis("j", tile.Ceil(n, block), tile.Parallel)
	k := b.Axis("k", tile.Ceil(n, block), tile.Arbitrary)
	array := tile.Array(n, n)
	at := func(name string, x, y tile.IndexExpr) *tile.Ref {
		return b.In(name, tile.Float32, array, tile.Block(block, block).At(x, y))
	}
	x, y, z := at("a", i, k), at("b", k, j), at("c", i, j)
	o := b.Out("o", tile.Float32, array, tile.Block(block, block).At(i, j))
	acc := b.Scratch("acc", tile.Float32, block, block)
	b.When(k.First(), func() { b.Fill(acc, 0) })
	b.Accumulate(acc, tile.Dot(x, y))
	b.When(k.Last(), func() { b.Store(o, tile.Add(acc, z)) })
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// TestRun_InPlace: an output may be an input that was asked for, and no other.
func TestRun_InPlace(t *testing.T) {
	const n = 100
	a, b, want := integers(n, n, n)
	programs := scaleAdd(t, n, 32)
	c, err := CompileTile(t.Context(), programs, Options{Threads: 3, InPlace: map[string]string{"o": "c"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o := slices.Repeat([]float32{5}, n*n)
	if err := c.Run(t.Context(), Of(o, n, n), Of(a, n, n), Of(b, n, n), Of(o, n, n)); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if o[i] != want[i]+5 {
			t.Fatalf("element %d: have %v, want %v", i, o[i], want[i]+5)
		}
	}
	var wrong *ArgumentError
	if err := c.Run(t.Context(), Of(a, n, n), Of(a, n, n), Of(b, n, n), Of(o, n, n)); !errors.As(err, &wrong) || wrong.Name != "o" || !wrong.Out {
		t.Errorf("o = a: %v", err)
	}
	for _, in := range []string{"a", "b", "d"} {
		var bad *OptionError
		if _, err := CompileTile(t.Context(), programs, Options{InPlace: map[string]string{"o": in}}); !errors.As(err, &bad) {
			t.Errorf("o as %s: %v", in, err)
		}
	}
}

// TestRun_Mistakes: each is an error that says what is wrong, and none a panic.
func TestRun_Mistakes(t *testing.T) {
	c := compile(t, problem.New(4, 6, 8, tile.Float32), Options{})
	a, b, o := Of(make([]float32, 24), 4, 6), Of(make([]float32, 48), 6, 8), Of(make([]float32, 32), 4, 8)
	bytes := make([]byte, 200)
	for _, test := range []struct {
		name string
		out  Tensor
		in   []Tensor
		arg  string
		want string
	}{
		{"too few", o, []Tensor{a}, "", "have 1 inputs, want 2: a, b"},
		{"the other shape", o, []Tensor{b, a}, "a", "have float32[6, 8], want float32[4, 6]"},
		{"another dtype", o, []Tensor{a, Of(make([]int32, 48), 6, 8)}, "b", "have int32[6, 8], want float32[6, 8]"},
		{"a short slice", o, []Tensor{a, Of(make([]float32, 47), 6, 8)}, "b", "float32[6, 8] has 192 bytes, its slice 188"},
		{"no slice", o, []Tensor{a, Of[float32](nil, 6, 8)}, "b", "float32[6, 8] has 192 bytes, its slice 0"},
		{"the zero tensor", Tensor{}, []Tensor{a, b}, "o", "is the zero Tensor: want float32[4, 8]"},
		{"a size of 0", o, []Tensor{a, Of[float32](nil, 0, 8)}, "b", "each size must be at least 1"},
		{"a size below 0", o, []Tensor{a, Of[float32](nil, -6, -8)}, "b", "each size must be at least 1"},
		{"sizes that overflow", o, []Tensor{a, Of[float32](nil, 1<<62, 1<<62)}, "b", "each size must be at least 1"},
		{"nine dimensions", o, []Tensor{a, Of(make([]float32, 1), 1, 1, 1, 1, 1, 1, 1, 1, 1)}, "b", "has more than 8 dimensions"},
		{"strides too far", o, []Tensor{a, Strided(make([]float32, 48), []int{6, 8}, []int{9, 1})}, "b", "strides: want"},
		{"strides below 0", o, []Tensor{a, Strided(make([]float32, 48), []int{6, 8}, []int{8, -1})}, "b", "strides: want"},
		{"a stride too few", o, []Tensor{a, Strided(make([]float32, 48), []int{6, 8}, []int{8})}, "b", "strides: want"},
		{"float16", o, []Tensor{a, Of(make([]Float16, 48), 6, 8)}, "b", "float16"},
		{"out of line", o, []Tensor{a, FromTile(tile.Tensor{Dtype: tile.Float32, Shape: []int{6, 8}, Data: bytes[1:193]})}, "b", "begins where no element may"},
		{"an output twice in memory", Strided(make([]float32, 8), []int{4, 8}, []int{0, 1}), []Tensor{a, b}, "o", "must not be the same memory"},
		{"o is a", Of(make([]float32, 48)[:32], 4, 8), []Tensor{a, b}, "", ""},
	} {
		err := c.Run(t.Context(), test.out, test.in...)
		var wrong *ArgumentError
		switch {
		case test.want == "" && err == nil:
		case test.want == "" || err == nil || !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: have %v, want %q", test.name, err, test.want)
		case test.arg != "" && (!errors.As(err, &wrong) || wrong.Name != test.arg):
			t.Errorf("%s: %#v names no %s", test.name, err, test.arg)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Run(canceled, o, a, b); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before: %v", err)
	}
}

// TestCompile_Mistakes is that for Compile.
func TestCompile_Mistakes(t *testing.T) {
	p := problem.New(4, 6, 8, tile.Float32)
	asked, err := problem.MatmulFamily.Parse("int8:bfloat16:per_channel")
	if err != nil {
		t.Fatal(err)
	}
	quantized := problem.MakeMatmul(problem.Sizes{4, 6, 8, 1}, asked)
	for _, test := range []struct {
		name string
		p    problem.Problem
		o    Options
		want string
	}{
		{"none", nil, Options{}, "no problem"},
		{"a size", problem.New(4, 0, 8, tile.Float32), Options{}, "k = 0"},
		{"a dtype", problem.New(4, 6, 8, tile.Bool), Options{}, "no product"},
		{"a dtype beyond all", problem.New(4, 6, 8, 200), Options{}, "dtype(200)"},
		{"a kernel", p, Options{Kernel: "v9"}, "option Kernel: unknown kernel"},
		{"a kernel that cannot", quantized, Options{Kernel: "v1"}, "v1_naive: unsupported"},
		{"a variant", p, Options{Variant: "odd"}, "option Variant"},
		{"blocks", p, Options{Blocks: tile.Blocks{M: 4, K: -1, N: 4}}, "option Blocks"},
		{"blocks in part", p, Options{Blocks: tile.Blocks{M: 4}}, "option Blocks"},
		{"a backend", p, Options{Backend: "abacus"}, "option Backend"},
		{"threads", p, Options{Threads: -1}, "threads = -1"},
		{"a parameter", p, Options{Params: map[string]string{"beads": "7"}}, "no such parameter"},
		{"a parameter's value", p, Options{Params: map[string]string{"isa": "mmx"}}, "mmx"},
		{"in place", p, Options{Blocks: tile.Blocks{M: 4, K: 6, N: 8}, InPlace: map[string]string{"o": "a"}}, "option InPlace"},
	} {
		if c, err := Compile(t.Context(), test.p, test.o); err == nil || !strings.Contains(err.Error(), test.want) || c != nil {
			t.Errorf("%s: %v, %v: want %q", test.name, c, err, test.want)
		}
	}
	for _, programs := range [][]*tile.Program{nil, {nil}, {{}}, {{Name: "x", Body: []*tile.Stmt{{}}}}, {{Grid: []*tile.Axis{nil}}}} {
		if c, err := CompileTile(t.Context(), programs, Options{Threads: 1}); err == nil && len(programs[0].Body) > 0 {
			t.Errorf("%v: %v", programs, c)
		} else if err == nil {
			c.Close()
		}
	}
	if len(devices.open) != 0 {
		t.Errorf("%d devices are left open", len(devices.open))
	}
}

// TestRun_Lengths: one program serves all lengths, and refuses what it has no place for.
func TestRun_Lengths(t *testing.T) {
	b := tile.New("sum")
	table := b.Table("lengths", 2)
	k := b.BoundedAxis("k", 6, tile.Arbitrary, table.At(tile.Const(1)))
	x := b.In("x", tile.Float32, tile.Array(6, 16), tile.Block(1, 16).At(k, tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(1, 16), tile.Block(1, 16).At(tile.Const(0), tile.Const(0)))
	b.When(k.First(), func() { b.Fill(o, 0) })
	b.Accumulate(o, x)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	c, err := CompileTile(t.Context(), programs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	data := make([]float32, 6*16)
	for i := range data {
		data[i] = 1
	}
	out := make([]float32, 16)
	for _, apart := range []int{1, 3} {
		for n := int32(-1); n <= 7; n++ {
			lengths := make([]int32, 1+apart)
			lengths[apart] = n
			err := c.Run(t.Context(), Of(out, 1, 16), Strided(lengths, []int{2}, []int{apart}), Of(data, 6, 16))
			var wrong *ArgumentError
			switch {
			case n < 0 || n > 6:
				if !errors.As(err, &wrong) || wrong.Name != "lengths" {
					t.Errorf("length %d: %v", n, err)
				}
			case err != nil || n > 0 && out[15] != float32(n):
				t.Errorf("length %d: sum %v, %v", n, out[15], err)
			}
		}
	}
}

// TestPrepack_Large: so are those of more than a core's own cache holds, in blocks chosen for
// it or asked for.
func TestPrepack_Large(t *testing.T) {
	run := thoroughtest.Choose(1, 1, 5)
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		for _, blocks := range []tile.Blocks{{}, {M: 16, K: 256, N: 160}} {
			if !run() {
				continue
			}
			p := problem.New(21, 2100, 1600*8/d.Bits(), d)
			c := compile(t, p, Options{Blocks: blocks})
			raw, out, in, outs := tensors(t, p, c, 1)
			packed, err := c.Prepack(t.Context(), "b", in[1])
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Call(t.Context(), outs, []Tensor{in[0], packed}); err != nil {
				t.Fatal(err)
			}
			if r, err := check.Verify(t.Context(), p, c.programs, raw, out...); err != nil || r.ErrOverBound > 1 {
				t.Errorf("%s, blocks %v: error/bound %v, %v", d, blocks, r.ErrOverBound, err)
			}
		}
	}
}

// TestPrepack: products of what was packed once are those of what is packed anew.
func TestPrepack(t *testing.T) {
	for _, word := range []string{"float32", "bfloat16", "int8", "bfloat16xint4:per_block128", "bfloat16xint8:per_channel", "bfloat16xfloat8_e5m2:per_channel"} {
		for _, m := range []int{1, 16, 150} {
			asked, err := problem.MatmulFamily.Parse(word)
			if err != nil {
				t.Fatal(err)
			}
			p := problem.MakeMatmul(problem.Sizes{m, 256, 200, 1}, asked)
			c := compile(t, p, Options{Blocks: tile.Blocks{M: 64, K: 128, N: 64}})
			raw, out, in, outs := tensors(t, p, c, 1)
			packed, err := c.Prepack(t.Context(), "b", in[1])
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			if packed.PackedBytes() == 0 || in[1].PackedBytes() != 0 {
				t.Errorf("%s: packed into %d bytes", word, packed.PackedBytes())
			}
			clear(in[1].data) // it is not read again
			args := slices.Clone(in)
			args[1] = packed
			for range 2 {
				if err := c.Call(t.Context(), outs, args); err != nil {
					t.Fatal(err)
				}
			}
			again, err := check.Inputs(t.Context(), p, c.programs, 1, check.Uniform)
			if err != nil {
				t.Fatal(err)
			}
			raw[1] = again[1]
			if r, err := check.Verify(t.Context(), p, c.programs, raw, out...); err != nil || r.ErrOverBound > 1 {
				t.Errorf("%s, %d rows: error/bound %v, %v", word, m, r.ErrOverBound, err)
			}
			var wrong *ArgumentError
			other := compile(t, p, Options{Blocks: tile.Blocks{M: 32, K: 128, N: 32}})
			if err := other.Call(t.Context(), outs, args); !errors.As(err, &wrong) && err == nil {
				t.Errorf("%s: another program took it", word)
			}
			if _, err := c.Prepack(t.Context(), "a", in[0]); !errors.Is(err, ErrUnsupported) {
				t.Errorf("a was packed: %v", err)
			}
			if err := c.Call(t.Context(), []Tensor{packed}, in); err == nil {
				t.Error("a packed output was taken")
			}
		}
	}
}

// TestRun_Allocations: calls make no garbage.
func TestRun_Allocations(t *testing.T) {
	if thoroughtest.Raced {
		t.Skip("the race detector drops what pools hold")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, n := range []int{16, 200} {
		a, b, _ := integers(n, n, n)
		o := make([]float32, n*(n+3))
		c := compile(t, problem.New(n, n, n, tile.Float32), Options{})
		packed, err := c.Prepack(ctx, "b", Of(b, n, n))
		if err != nil {
			t.Fatal(err)
		}
		for name, run := range map[string]func() error{
			"plain":  func() error { return c.Run(ctx, Of(o[:n*n], n, n), Of(a, n, n), Of(b, n, n)) },
			"packed": func() error { return c.Run(ctx, Of(o[:n*n], n, n), Of(a, n, n), packed) },
		} {
			call := func() {
				if err := run(); err != nil {
					t.Fatal(err)
				}
			}
			for range 20 { // until calls have been taped
				call()
			}
			if made := testing.AllocsPerRun(50, call); made != 0 {
				t.Errorf("%d³, %s: %v allocations a call", n, name, made)
			}
		}
	}
}

// TestRun_AtOnce calls programs of one worker and of several from 64 goroutines, some of
// whose contexts end at any time.
func TestRun_AtOnce(t *testing.T) {
	for _, n := range []int{16, 130} {
		a, b, want := integers(n, n, n)
		c := compile(t, problem.New(n, n, n, tile.Float32), Options{})
		second := compile(t, problem.New(n, n, n, tile.Float32), Options{Blocks: tile.Blocks{M: 32, K: 32, N: 32}})
		var wait sync.WaitGroup
		for g := range 64 {
			wait.Go(func() {
				c := []*Program{c, second}[g%2]
				o := make([]float32, n*n)
				for range 10 {
					ctx := t.Context()
					if g%4 == 3 {
						limited, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(200))*time.Microsecond)
						defer cancel()
						ctx = limited
					}
					clear(o)
					switch err := c.Run(ctx, Of(o, n, n), Of(a, n, n), Of(b, n, n)); {
					case errors.Is(err, context.DeadlineExceeded) && g%4 == 3:
					case err != nil || !slices.Equal(o, want):
						t.Errorf("%d³: right %v, error %v", n, slices.Equal(o, want), err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
}

// TestRun_Canceled: a context ends a launch between grid steps, and the next is whole.
func TestRun_Canceled(t *testing.T) {
	const n = 400
	a, b, want := integers(n, n, n)
	c := compile(t, problem.New(n, n, n, tile.Float32), Options{Blocks: tile.Blocks{M: 8, K: 8, N: 8}})
	o := make([]float32, n*n)
	cause := errors.New("the user left")
	ended := 0
	for range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(100*time.Microsecond, func() { cancel(cause) })
		if err := c.Run(ctx, Of(o, n, n), Of(a, n, n), Of(b, n, n)); errors.Is(err, cause) {
			ended++
		} else if err != nil {
			t.Fatal(err)
		}
		timer.Stop()
		cancel(nil)
	}
	if ended == 0 {
		t.Error("no launch of 20 was ended")
	}
	if err := c.Run(t.Context(), Of(o, n, n), Of(a, n, n), Of(b, n, n)); err != nil || !slices.Equal(o, want) {
		t.Errorf("the next: right %v, %v", slices.Equal(o, want), err)
	}
}

// TestClose waits for calls, refuses later ones, and leaves no goroutine.
func TestClose(t *testing.T) {
	const n = 130
	a, b, want := integers(n, n, n)
	before := runtime.NumGoroutine()
	for _, name := range []string{"", copyingBackend} {
		for range 20 {
			c, err := Compile(t.Context(), problem.New(n, n, n, tile.Float32), Options{Backend: name, Blocks: tile.Blocks{M: 64, K: 64, N: 64}, Threads: 3})
			if err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					o := make([]float32, n*n)
					for {
						err := c.Run(t.Context(), Of(o, n, n), Of(a, n, n), Of(b, n, n))
						if errors.Is(err, ErrClosed) {
							return
						}
						if err != nil || !slices.Equal(o, want) {
							t.Errorf("right %v, error %v", slices.Equal(o, want), err)
							return
						}
					}
				})
			}
			time.Sleep(time.Millisecond)
			for range 2 {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
			wait.Wait()
			if _, err := c.Prepack(t.Context(), "b", Of(b, n, n)); name == "" && !errors.Is(err, ErrClosed) {
				t.Errorf("packing after Close: %v", err)
			}
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// resident is this process's memory in bytes; 0 if unknown.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

// TestRun_Memory: neither calls nor programs that come and go leave anything.
func TestRun_Memory(t *testing.T) {
	calls, shapes := 1_000_000/thoroughtest.OneIn(1, 3, 500), 1000/thoroughtest.OneIn(1, 3, 20)
	a, b, _ := integers(16, 16, 16)
	o := make([]float32, 256)
	c := compile(t, problem.New(16, 16, 16, tile.Float32), Options{})
	call := func() {
		if err := c.Run(t.Context(), Of(o, 16, 16), Of(a, 16, 16), Of(b, 16, 16)); err != nil {
			t.Fatal(err)
		}
	}
	shape := func(i int) {
		m, n := 100+i%37, 100+i%41
		x, _, _ := integers(m, 1, n)
		p, err := Compile(t.Context(), problem.New(m, 1, n, tile.Float32), Options{Blocks: tile.Blocks{M: 64, K: 64, N: 64}, Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		_, y := Make[float32](m, n)
		if err := p.Run(t.Context(), y, Of(x, m, 1), Of(make([]float32, n), 1, n)); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 { // what pools and the runtime keep
		call()
		shape(i)
	}
	runtime.GC()
	start, goroutines := resident(), runtime.NumGoroutine()
	for range calls {
		call()
	}
	for i := range shapes {
		shape(i)
	}
	runtime.GC()
	const room = 24 << 20 // one program's buffers that were not kept would take more, some hundred times
	if end := resident(); end > start+room {
		t.Errorf("%d MiB before, %d after", start>>20, end>>20)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, n)
	}
}

// TestTypes converts there and back, against package tile.
func TestTypes(t *testing.T) {
	for _, x := range []float32{0, 1, -1.5, 3.14159, 1e-3, 448, 449, 6e4, 1e-8} {
		for _, test := range []struct {
			d    tile.Dtype
			have float32
		}{
			{tile.BFloat16, ToBFloat16(x).Float32()},
			{tile.Float8E4M3FN, ToFloat8E4M3FN(x).Float32()},
			{tile.Float8E5M2, ToFloat8E5M2(x).Float32()},
		} {
			want := float32(test.d.Round(float64(x)))
			if test.have != want && !(test.have != test.have && want != want) {
				t.Errorf("%v as %s: have %v, want %v", x, test.d, test.have, want)
			}
		}
	}
	if have := ToFloat16(1 + 1.0/1024).Float32(); have != 1+1.0/1024 {
		t.Errorf("float16: have %v", have)
	}
	numbers := []int8{-8, 7, 3, -1, 100}
	packed := ToInt4x2(numbers)
	x := Of(packed, 5)
	for i, want := range []float64{-8, 7, 3, -1, 7} {
		pair := packed[i/2].Int8s()
		if have := (tile.Tensor{Dtype: x.dtype, Shape: []int{5}, Data: x.data}).At(i); have != want || float64(pair[i%2]) != want {
			t.Errorf("int4 %d: have %v and %v, want %v", i, have, pair, want)
		}
	}
}

// FuzzStrided makes tensors of anything: none panics, and those without a fault are copied
// element by element.
func FuzzStrided(f *testing.F) {
	f.Add(100, 3, 4, 2, 8, 2, 1)
	f.Add(100, 3, -4, 2, 8, 2, 1)
	f.Add(10, 1<<62, 1, 2, 0, 0, 0)
	f.Fuzz(func(t *testing.T, n, x, y, z, sx, sy, sz int) {
		data := make([]float32, min(max(n, 0), 1000))
		for i := range data {
			data[i] = float32(i)
		}
		s := Strided(data, []int{x, y, z}, []int{sx, sy, sz})
		if s.fault != noFault {
			if s.complaint() == "" {
				t.Error("a fault without words")
			}
			return
		}
		if s.elements() > 1<<16 {
			return
		}
		flat := make([]float32, s.elements())
		gather(bytesOf(flat), &s)
		at := 0
		for i := range x {
			for j := range y {
				for l := range z {
					if want := float32(i*sx + j*sy + l*sz); flat[at] != want {
						t.Fatalf("element (%d, %d, %d): have %v, want %v", i, j, l, flat[at], want)
					}
					at++
				}
			}
		}
		if !repeats(&s) {
			for i := range flat {
				flat[i]++
			}
			scatter(&s, bytesOf(flat))
			again := make([]float32, len(flat))
			if gather(bytesOf(again), &s); !slices.Equal(again, flat) {
				t.Error("scattered otherwise than gathered")
			}
		}
	})
}

// TestRun_Interpreter runs a program of several refs against the interpreter.
func TestRun_Interpreter(t *testing.T) {
	programs := scaleAdd(t, 70, 32)
	c, err := CompileTile(t.Context(), programs, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, b, _ := integers(70, 70, 70)
	var raw []tile.Tensor
	for _, x := range [][]float32{a, b, a} {
		r := tile.NewTensor(tile.Float32, 70, 70)
		copy(r.Float32s(), x)
		raw = append(raw, r)
	}
	want, err := interp.Run(t.Context(), programs, raw)
	if err != nil {
		t.Fatal(err)
	}
	o, out := Make[float32](70, 70)
	if err := c.Run(t.Context(), out, FromTile(raw[0]), FromTile(raw[1]), FromTile(raw[2])); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o, want[0].Float32s()) {
		t.Error("not what the interpreter has")
	}
	if have := fmt.Sprint(out); have != "float32[70, 70]" {
		t.Error(have)
	}
}
