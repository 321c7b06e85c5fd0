package passes

import (
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/kernels"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// directRows is DirectRows of the path that multiplies d if a has few rows.
func directRows(k *gemm.Kernels, d tile.Dtype) int {
	switch d {
	case tile.BFloat16:
		return k.ThinBFloat16.DirectRows()
	case tile.Int8:
		return k.ThinInt8.DirectRows()
	}
	return k.Float32.DirectRows()
}

// unpacked compiles a program and reports whether its b, ref "b", is read where
// it lies.
func unpacked(t *testing.T, isa gemm.ISA, programs []*tile.Program) bool {
	t.Helper()
	return operandB(t, gemm.For(isa), programs).Keep == plan.KeepUnpacked
}

// operandB compiles a program and returns the operand of ref "b".
func operandB(t *testing.T, k *gemm.Kernels, programs []*tile.Program) *plan.Operand {
	t.Helper()
	p, err := Compile(programs[0], plan.Machine{Kernels: k, Workers: 2, CacheBytes: 1 << 20, OwnBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Operands {
		if p.Refs[o.Ref].Name == "b" {
			return o
		}
	}
	t.Fatal("no operand b")
	return nil
}

// TestThin_Stored: a machine with wider vectors than AVX2 reads int4 and float8 in
// place for two rows of a, and int8 never. Its table is that of AVX2 here, as its
// own need not run. Float8 is read so where the processor converts halves, and
// beyond AVX2 where it also multiplies denormal numbers as fast as others: the tables
// tell.
func TestThin_Stored(t *testing.T) {
	table := gemm.For(gemm.AVX2)
	if table == nil {
		t.Skip("this machine lacks ", gemm.AVX2.Missing())
	}
	wide := *table
	wide.ISA = gemm.AVX512
	stored := wide.ForInPlace()
	converts, quick := table.Float32.InPlace["float8_e5m2"] != nil, stored.Float32.With(stored.Choices).InPlace["float8_e5m2"] != nil
	if quick && !converts {
		t.Error("float8 in place beyond AVX2 only")
	}
	float8 := 0
	if quick {
		float8 = 2
	}
	for _, c := range []struct {
		a, b    tile.Dtype
		rows    int
		inPlace bool // on AVX2
	}{
		{tile.BFloat16, tile.Int4, 2, true}, {tile.Int8, tile.Int4, 2, true}, {tile.Float32, tile.Float8E5M2, float8, converts},
		{tile.BFloat16, tile.Float8E4M3FN, float8, converts}, {tile.BFloat16, tile.Int8, 0, true},
	} {
		for m := 1; m <= 4; m++ {
			p := problem.New(m, 64, 128, c.a)
			p.B, p.Out, p.Quant = c.b, tile.Float32, "per_channel"
			if c.a == tile.Int8 {
				p.Quant = "per_channel+token"
			}
			programs, err := problemtest.Kernel(p).Build(p, "", tile.Blocks{M: m, K: 64, N: 128})
			if err != nil {
				t.Fatal(err)
			}
			if got := operandB(t, &wide, programs).Packing.InPlace; got != (m <= c.rows) {
				t.Errorf("%d rows of %s times %s: in place %v, should be for up to %d rows", m, c.a, c.b, got, c.rows)
			}
			if got := operandB(t, table, programs).Packing.InPlace; got != c.inPlace {
				t.Errorf("%d rows of %s times %s: in place %v on AVX2, should be %v", m, c.a, c.b, got, c.inPlace)
			}
		}
	}
}

// TestThin_Rungs: every rung decides by the rows of a alone, however they are
// spread over programs.
func TestThin_Rungs(t *testing.T) {
	for _, isa := range gemm.Supported() {
		for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
			most := directRows(gemm.For(isa), d)
			for _, m := range []int{1, 2, 16, most, most + 1, 200} {
				if m == 0 {
					continue
				}
				for _, k := range kernels.Ladder(problem.MatmulFamily) {
					p := problem.New(m, 67, 130, d)
					if k.Supports(p) != nil {
						continue
					}
					blocks := k.Candidates(p, problem.Machine{Parallel: 3})
					if k.Number() > 2 {
						blocks = append(blocks, tile.Blocks{M: 7, K: 32, N: 64}.Clip(m, 67, 130))
					}
					for _, b := range blocks {
						programs, err := k.Build(p, "", b)
						if err != nil {
							t.Fatal(err)
						}
						if got := unpacked(t, isa, programs); got != (m <= most) {
							t.Errorf("%s, %s %v %v: b unpacked %v; up to %d rows are direct", isa, k.Name(), p, b, got, most)
						}
					}
				}
			}
		}
	}
}

// TestThin_Programs: what else than rows of one product counts.
func TestThin_Programs(t *testing.T) {
	const isa = gemm.AVX512
	if missing := isa.Missing(); len(missing) > 0 {
		t.Skipf("this machine lacks %v", missing)
	}
	most := directRows(gemm.For(isa), tile.Float32)
	const deep = 100 // elements of k
	zero := tile.Const(0)
	for _, c := range []struct {
		name  string
		write func(t *tile.Builder)
		want  bool
	}{
		{"a batch of one b each", func(t *tile.Builder) {
			h, block := t.Axis("h", 5, tile.Parallel), tile.Block(tile.Squeezed, most, most)
			a := t.In("a", tile.Float32, tile.Array(5, most, most), block.At(h, zero, zero))
			b := t.In("b", tile.Float32, tile.Array(5, most, most), block.At(h, zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(5, most, most), block.At(h, zero, zero)), tile.Dot(a, b))
		}, true},
		{"a batch of one b together", func(t *tile.Builder) {
			h, block := t.Axis("h", 5, tile.Parallel), tile.Block(tile.Squeezed, most, deep)
			a := t.In("a", tile.Float32, tile.Array(5, most, deep), block.At(h, zero, zero))
			b := t.In("b", tile.Float32, tile.Array(deep, most), tile.Block(deep, most).At(zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(5, most, most), tile.Block(tile.Squeezed, most, most).At(h, zero, zero)), tile.Dot(a, b))
		}, false},
		{"a shallow b", func(t *tile.Builder) {
			a := t.In("a", tile.Float32, tile.Array(9*most, 9), tile.Block(9*most, 9).At(zero, zero))
			b := t.In("b", tile.Float32, tile.Array(9, most), tile.Block(9, most).At(zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(9*most, most), tile.Block(9*most, most).At(zero, zero)), tile.Dot(a, b))
		}, true},
		{"two products with one b", func(t *tile.Builder) {
			square := tile.Block(most, deep).At(zero, zero)
			x := t.In("x", tile.Float32, tile.Array(most, deep), square)
			y := t.In("y", tile.Float32, tile.Array(most, deep), square)
			b := t.In("b", tile.Float32, tile.Array(deep, most), tile.Block(deep, most).At(zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(most, most), tile.Block(most, most).At(zero, zero)), tile.Add(tile.Dot(x, b), tile.Dot(y, b)))
		}, false},
		{"a transposed", func(t *tile.Builder) {
			a := t.In("a", tile.Float32, tile.Array(9, most), tile.Block(9, most).At(zero, zero))
			b := t.In("b", tile.Float32, tile.Array(9, 100), tile.Block(9, 100).At(zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(most, 100), tile.Block(most, 100).At(zero, zero)), tile.Dot(a, b, tile.TransA))
		}, true},
		{"b transposed", func(t *tile.Builder) {
			a := t.In("a", tile.Float32, tile.Array(most, 9), tile.Block(most, 9).At(zero, zero))
			b := t.In("b", tile.Float32, tile.Array(100, 9), tile.Block(100, 9).At(zero, zero))
			t.Store(t.Out("o", tile.Float32, tile.Array(most, 100), tile.Block(most, 100).At(zero, zero)), tile.Dot(a, b, tile.TransB))
		}, false},
		{"one axis for both, in groups of rows", func(t *tile.Builder) {
			pid := t.Axis("pid", 4*5, tile.Parallel) // of four blocks of rows and five of columns
			a := t.In("a", tile.Float32, tile.Array(4*most, deep), tile.Block(most, deep).At(tile.Mod(pid, 4), zero))
			b := t.In("b", tile.Float32, tile.Array(deep, 5*8), tile.Block(deep, 8).At(zero, tile.FloorDiv(pid, 4)))
			o := t.Out("o", tile.Float32, tile.Array(4*most, 5*8), tile.Block(most, 8).At(tile.Mod(pid, 4), tile.FloorDiv(pid, 4)))
			t.Store(o, tile.Dot(a, b))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tile.New("thin")
			c.write(b)
			programs, err := b.Programs()
			if err != nil {
				t.Fatal(err)
			}
			if got := unpacked(t, isa, programs); got != c.want {
				t.Errorf("b unpacked %v, want %v", got, c.want)
			}
		})
	}
}
