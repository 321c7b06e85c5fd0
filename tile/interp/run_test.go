package interp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

func TestInputErrors(t *testing.T) {
	programs := must(t)(kernels.All[4].Build(problem.New(4, 3, 2, tile.Float32), "", tile.Blocks{M: 2, K: 2, N: 2}))
	a, b := tile.NewTensor(tile.Float32, 4, 3), tile.NewTensor(tile.Float32, 3, 2)
	torn := b
	torn.Data = torn.Data[:20]
	for _, c := range []struct {
		name string
		in   []tile.Tensor
		want string
	}{
		{"too few", []tile.Tensor{a}, "interp: 1 inputs given, the programs take 2: a, b"},
		{"too many", []tile.Tensor{a, b, b}, "interp: 3 inputs given, the programs take 2: a, b"},
		{"shape", []tile.Tensor{a, a}, "interp: input b: have float32[4, 3], want float32[3, 2]"},
		{"dtype", []tile.Tensor{tile.NewTensor(tile.Int32, 4, 3), b}, "interp: input a: have int32[4, 3], want float32[4, 3]"},
		{"bytes", []tile.Tensor{a, torn}, "interp: input b: have 20 bytes, want 24"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := interp.Run(context.Background(), programs, c.in); err == nil || err.Error() != c.want {
				t.Errorf("have %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestContext ends the context before the first step, between two, and in the
// middle of one that would take long.
func TestContext(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, block int
		ctx         context.Context
		err         error
		want        string
	}{
		{"before", 8, 4, &endsAfter{Context: context.Background()}, context.Canceled, "interp: v3_block stopped after 0 of 8 grid steps: context canceled"},
		{"between", 8, 4, &endsAfter{Context: context.Background(), checks: 10}, context.Canceled, "interp: v3_block stopped after 2 of 8 grid steps: context canceled"},
		{"within", 2500, 2500, deadline(t), context.DeadlineExceeded, "interp: v3_block stopped after 0 of 1 grid steps: context deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			programs := must(t)(kernels.All[2].Build(problem.New(c.size, c.size, c.size, tile.Int8), "", tile.Blocks{M: c.block, K: c.block, N: c.block}))
			in := tile.NewTensor(tile.Int8, c.size, c.size)
			_, err := interp.Run(c.ctx, programs, []tile.Tensor{in, in})
			if !errors.Is(err, c.err) || err.Error() != c.want {
				t.Errorf("have %v\nwant %s", err, c.want)
			}
		})
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// endsAfter is a context that is canceled once it was asked checks times.
type endsAfter struct {
	context.Context
	checks int
}

func (c *endsAfter) Err() error {
	if c.checks--; c.checks < 0 {
		return context.Canceled
	}
	return nil
}

// TestCounters compares with figures worked out by hand for 5×6×7 in blocks of
// 2×4×3: a grid of 3×3×2 programs, k fastest.
func TestCounters(t *testing.T) {
	p := problem.New(5, 6, 7, tile.BFloat16)
	programs := must(t)(kernels.All[4].Build(p, "", tile.Blocks{M: 2, K: 4, N: 3}))
	var c interp.Counters
	if _, err := interp.RunWith(context.Background(), programs, inputs(t, programs), interp.Options{Counters: &c}); err != nil {
		t.Fatal(err)
	}
	// a: each row block is read once for every j: 3 × whole a; b: once for every
	// i; never twice in a row, since k has two blocks.
	want := interp.Counters{
		GridSteps:    18,
		BlocksLoaded: 18 + 18,
		BytesLoaded:  3*5*6*2 + 3*6*7*2,
		BlocksStored: 9,
		BytesStored:  5 * 7 * 2,
	}
	want.Refs = []interp.RefCounters{
		{Ref: ref(programs[0], "a"), Blocks: 18, Bytes: 3 * 5 * 6 * 2},
		{Ref: ref(programs[0], "b"), Blocks: 18, Bytes: 3 * 6 * 7 * 2},
		{Ref: ref(programs[0], "o"), Blocks: 9, Bytes: 5 * 7 * 2},
	}
	if have, want := fmt.Sprintf("%+v", c), fmt.Sprintf("%+v", want); have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

// TestCountersReuse: with one block along k, a block of a stays while j moves on.
func TestCountersReuse(t *testing.T) {
	p := problem.New(6, 4, 9, tile.Int8)
	programs := must(t)(kernels.All[4].Build(p, "", tile.Blocks{M: 2, K: 4, N: 3}))
	var c interp.Counters
	if _, err := interp.RunWith(context.Background(), programs, inputs(t, programs), interp.Options{Counters: &c}); err != nil {
		t.Fatal(err)
	}
	if have, want := [2]int64{c.Refs[0].Blocks, c.Refs[1].Blocks}, [2]int64{3, 9}; have != want {
		t.Errorf("a and b were loaded %v times, want %v", have, want)
	}
}

// TestOrder: a program that records its steps shows that shuffling moves
// parallel programs about, keeps the steps of each in order, and loses none.
func TestOrder(t *testing.T) {
	b := tile.New("order")
	i := b.Axis("i", 4, tile.Parallel)
	j := b.Axis("j", 3, tile.Parallel)
	k := b.Axis("k", 5, tile.Arbitrary)
	o := b.Out("o", tile.Int32, tile.Array(4, 3), tile.Block(tile.Squeezed, tile.Squeezed).At(i, j))
	b.When(k.First(), func() { b.Fill(o, 0) })
	// o counts in base 10 which steps it saw, the latest last.
	b.Store(o, tile.Add(tile.Mul(o, tile.Number(10)), tile.IndexValue(k)))
	programs := must(t)(b.Programs())
	for i, x := range run(t, programs)[0].Int32s() {
		if x != 1234 {
			t.Errorf("program %d saw its steps in the order %05d", i, x)
		}
	}
}

// TestValues checks what the package comment says of values, on one row each.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		name string
		in   tile.Dtype
		x, y []float64
		out  tile.Dtype
		f    func(x, y tile.Value) tile.Value
		want []float64
	}{
		{"int8 addition wraps", tile.Int8, []float64{127, -128, 5}, []float64{1, -1, 6}, tile.Int8,
			func(x, y tile.Value) tile.Value { return tile.Add(x, y) }, []float64{-128, 127, 11}},
		{"int32 product wraps", tile.Int32, []float64{1 << 30, 65537, -(1 << 31)}, []float64{4, 65537, -1}, tile.Int32,
			func(x, y tile.Value) tile.Value { return tile.Mul(x, y) }, []float64{0, 131073, -(1 << 31)}},
		{"int4 negation wraps", tile.Int4, []float64{-8, 7, 0}, []float64{0, 0, 0}, tile.Int4,
			func(x, _ tile.Value) tile.Value { return tile.Neg(x) }, []float64{-8, -7, 0}},
		{"uint8 subtraction wraps", tile.Uint8, []float64{3, 255, 0}, []float64{5, 254, 0}, tile.Uint8,
			func(x, y tile.Value) tile.Value { return tile.Sub(x, y) }, []float64{254, 1, 0}},
		{"row sum wraps in its dtype", tile.Int8, []float64{100, 100, 100}, []float64{0, 0, 0}, tile.Int8,
			func(x, _ tile.Value) tile.Value { return tile.RowSum(x) }, []float64{44, 44, 44}},
		{"cast to an integer saturates", tile.Float32, []float64{300, -2.5, 1.5}, []float64{0, 0, 0}, tile.Int8,
			func(x, _ tile.Value) tile.Value { return tile.Cast(x, tile.Int8) }, []float64{127, -2, 2}},
		{"float32 is not rounded before memory", tile.Float32, []float64{1, 1, 1}, []float64{0x1p-30, 0x1p-40, 0}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Sub(tile.Add(x, y), x) }, []float64{0x1p-30, 0x1p-40, 0}},
		{"cast rounds", tile.Float32, []float64{1.00390625, 1.01171875, 3}, []float64{0, 0, 0}, tile.Float32,
			func(x, _ tile.Value) tile.Value { return tile.Cast(tile.Cast(x, tile.BFloat16), tile.Float32) }, []float64{1, 1.015625, 3}},
		{"a constant is of its dtype", tile.BFloat16, []float64{1, 2, 0}, []float64{0, 0, 0}, tile.Float32,
			func(x, _ tile.Value) tile.Value { return tile.Cast(tile.Mul(x, tile.Number(0.1)), tile.Float32) }, []float64{0.10009765625, 0.2001953125, 0}},
		{"select", tile.Float32, []float64{1, 5, -3}, []float64{2, 4, -3}, tile.Float32,
			func(x, y tile.Value) tile.Value {
				either := tile.Or(tile.Compare(x, tile.GT, y), tile.Invert(tile.Compare(x, tile.NE, y)))
				return tile.Select(either, x, tile.Number(0))
			}, []float64{0, 5, -3}},
		{"min, max and abs", tile.Float32, []float64{1, 5, -3}, []float64{2, 4, -7}, tile.Float32,
			func(x, y tile.Value) tile.Value { return tile.Sub(tile.Abs(tile.Max(x, y)), tile.Min(x, y)) }, []float64{1, 1, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("values")
			row := func() tile.BlockSpec { return tile.Block(3).At(tile.Const(0)) }
			x, y := b.In("x", c.in, tile.Array(3), row()), b.In("y", c.in, tile.Array(3), row())
			o := b.Out("o", c.out, tile.Array(3), row())
			b.Store(o, c.f(x, y))
			programs := must(t)(b.Programs())
			in := []tile.Tensor{tile.NewTensor(c.in, 3), tile.NewTensor(c.in, 3)}
			for i := range 3 {
				in[0].Set(i, c.x[i])
				in[1].Set(i, c.y[i])
			}
			out := run(t, programs, in...)[0]
			have := []float64{out.At(0), out.At(1), out.At(2)}
			if !slices.Equal(have, c.want) {
				t.Errorf("have %v, want %v", have, c.want)
			}
		})
	}
}

// TestBindError: programs that disagree about an array are refused.
func TestBindError(t *testing.T) {
	first := must(t)(kernels.All[0].Build(problem.New(2, 2, 2, tile.Float32), "", tile.Blocks{M: 2, K: 2, N: 2}))
	_, err := interp.Run(context.Background(), append(first, first...), nil)
	if err == nil || !strings.Contains(err.Error(), "o is an array of an earlier program already") {
		t.Errorf("error %v", err)
	}
}
