package cpu

import (
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/cgroup"
	"matladder/internal/thoroughtest"
	"matladder/tile"
)

// open returns a function that opens the backend, whose workers give way: other tests
// may want the processors.
func open(t *testing.T, o Options) func() *Backend {
	o.NoProbe, o.Nominal, o.giveWay = true, true, true
	return func() *Backend {
		be, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return be
	}
}

// suite runs cases that follow from, which differs from one call to the next: together they
// meet more of them.
func suite(from int) backendtest.Options {
	return backendtest.Options{
		Threads: []int{1, 2, 3}, Refuses: refused(), KnowsMemory: cgroup.Total() > 0, Seeded: true, From: from,
		OneIn: thoroughtest.OneIn(1, 29, 97), FamiliesOneIn: thoroughtest.OneIn(1, 17, 47),
	}
}

// TestConformance holds every instruction set of this machine to the suite.
func TestConformance(t *testing.T) {
	for isa := gemm.Generic; isa <= gemm.NEON; isa++ {
		t.Run(isa.String(), func(t *testing.T) {
			if missing := isa.Missing(); len(missing) > 0 {
				t.Skipf("this machine lacks %v", missing)
			}
			backendtest.Run(t, open(t, Options{Threads: 2, ISA: isa.String()}), suite(int(isa)))
		})
	}
}

// TestConformance_Measured: so too where measured costs choose how B is read.
func TestConformance_Measured(t *testing.T) {
	want := suite(int(gemm.NEON) + 1)
	want.OneIn = thoroughtest.OneIn(1, 61, 97)
	backendtest.Run(t, func() backend.Backend {
		be, err := Open(Options{Threads: 2, NoProbe: true, giveWay: true})
		if err != nil {
			t.Fatal(err)
		}
		return be
	}, want)
}

// refused are programs that no micro-kernel or vector is there for.
func refused() map[string][]*tile.Program {
	one := func(name string, write func(t *tile.Builder)) []*tile.Program {
		t := tile.New(name)
		write(t)
		ps, err := t.Programs()
		if err != nil {
			panic(err)
		}
		return ps
	}
	at := func(d ...int) tile.BlockSpec { return tile.Block(d...).At(tile.Const(0), tile.Const(0)) }
	return map[string][]*tile.Program{
		"sum of float8": one("float8", func(t *tile.Builder) {
			a := t.In("a", tile.Float8E4M3FN, tile.Array(4, 4), at(4, 4))
			t.Store(t.Out("o", tile.Float8E4M3FN, tile.Array(4, 4), at(4, 4)), tile.Add(a, a))
		}),
		"widened uint8": one("mixed", func(t *tile.Builder) {
			a := t.In("a", tile.Uint8, tile.Array(4, 4), at(4, 4))
			b := t.In("b", tile.Int4, tile.Array(4, 4), at(4, 4))
			t.Store(t.Out("o", tile.Float32, tile.Array(4, 4), at(4, 4)), tile.Dot(tile.Cast(a, tile.BFloat16), tile.Cast(b, tile.BFloat16)))
		}),
		"int4 elements": one("int4", func(t *tile.Builder) {
			a := t.In("a", tile.Int4, tile.Array(4, 4), at(4, 4))
			t.Store(t.Out("o", tile.Int32, tile.Array(4, 4), at(4, 4)), tile.Cast(a, tile.Int32))
		}),
		"when inside a loop": one("loop", func(t *tile.Builder) {
			a := t.In("a", tile.Float32, tile.Array(4, 4), at(4, 4))
			o := t.Out("o", tile.Float32, tile.Array(4, 4), at(4, 4))
			t.Fill(o, 0)
			t.Loop("l", 3, func(l *tile.Axis) {
				t.When(tile.Test(l, tile.GT, tile.Const(0)), func() { t.Accumulate(o, a) })
			})
		}),
	}
}
