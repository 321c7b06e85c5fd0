package worker

import (
	"bytes"
	"encoding/gob"
	"math/rand/v2"
	"reflect"
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// TestPrograms sends programs through a message and back.
func TestPrograms(t *testing.T) {
	var all []*tile.Program
	for _, k := range kernels.All {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			p := problem.New(100, 70, 90, d)
			if k.Supports(p) != nil {
				continue
			}
			for _, b := range k.Candidates(p, tile.Machine{Parallel: 2}) {
				ps, err := k.Build(p, "", b)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, ps...)
			}
		}
	}
	all = append(all, everything(t)...)
	rng := rand.New(rand.NewPCG(1, 2))
	random := 0
	for range 500 {
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if p, err := tiletest.Random(data); err == nil {
			all = append(all, p)
			random++
		}
	}
	if random < 100 {
		t.Fatalf("%d random programs", random)
	}
	sent := encode(all)
	var wire bytes.Buffer
	if err := gob.NewEncoder(&wire).Encode(sent); err != nil {
		t.Fatal(err)
	}
	var received []program
	if err := gob.NewDecoder(&wire).Decode(&received); err != nil {
		t.Fatal(err)
	}
	got := decode(received)
	for i, p := range all {
		if got[i].String() != p.String() {
			t.Errorf("sent\n%s\nreceived\n%s", p, got[i])
		}
		if err := got[i].Verify(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if !reflect.DeepEqual(encode(got), received) {
		t.Error("what was received is sent otherwise")
	}
}

// everything has each form of index expression, condition and statement, and an
// expression that is used twice.
func everything(t *testing.T) []*tile.Program {
	b := tile.New("everything")
	i, j := b.Axis("i", 6, tile.Parallel), b.Axis("j", 4, tile.Arbitrary)
	order := b.Table("order", 3)
	half := tile.FloorDiv(i, 2)
	x := b.In("x", tile.Float32, tile.Array(3, 8, 8), tile.Block(tile.Squeezed, 8, 8).At(order.At(half), tile.Mod(i, 1), tile.Const(0)))
	o := b.Out("o", tile.Float32, tile.Array(48, 8), tile.Block(8, 8).At(tile.Plus(tile.Times(half, 2), tile.Mod(i, 2)), tile.Const(0)))
	acc := b.Scratch("acc", tile.Float32, 8, 8)
	b.When(tile.All(j.First(), tile.Not(tile.Any(tile.Test(j, tile.GT, tile.Const(0))))), func() { b.Fill(acc, 0) })
	b.Loop("l", 2, func(l *tile.Axis) {
		part := tile.Slice(x, 1, tile.Times(l, 4), 4)
		sum := tile.Add(part, tile.Exp(part))
		b.Accumulate(acc, tile.Concat(1, sum, tile.Mul(sum, tile.Number(-2))))
	})
	b.When(j.Last(), func() { b.Store(o, tile.Select(tile.Compare(acc, tile.GE, tile.Number(0)), acc, tile.Neg(acc))) })
	ps, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	return ps
}
