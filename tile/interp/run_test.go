package interp_test

import (
	"context"
	"errors"
	"fmt"
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

// TestOneProgramAxis: an axis of one program parts nothing, whatever its
// semantics: scratch and output stay.
func TestOneProgramAxis(t *testing.T) {
	b := tile.New("sum")
	k := b.Axis("k", 4, tile.Arbitrary)
	j := b.Axis("j", 1, tile.Parallel)
	x := b.In("x", tile.Int32, tile.Array(4), tile.Block(1).At(k))
	o := b.Out("o", tile.Int32, tile.Array(1), tile.Block(1).At(j))
	acc := b.Scratch("acc", tile.Int32, 1)
	b.When(k.First(), func() { b.Fill(acc, 0); b.Fill(o, 0) })
	b.Accumulate(acc, x)
	b.Accumulate(o, acc)
	in := tile.NewTensor(tile.Int32, 4)
	copy(in.Int32s(), []int32{1, 10, 100, 1000})
	if o := run(t, must(t)(b.Programs()), in)[0].At(0); o != 1+11+111+1111 {
		t.Errorf("have %v, want 1234", o)
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
