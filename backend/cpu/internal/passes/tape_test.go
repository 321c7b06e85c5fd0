package passes

import (
	"slices"
	"testing"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// TestProduct_Tape: small products in each way tape what they call, and the tape computes what they
// computed, of what the operands hold then.
func TestProduct_Tape(t *testing.T) {
	const m, n, k = 4, 24, 8
	for _, isa := range gemm.Supported() {
		p := productOf(gemm.For(isa), tile.Float32, tile.Float32, tile.Float32, tile.Float32)
		a, b := make([]float32, m*k), make([]float32, k*n)
		panels := memory.NewBuffer(tile.Ceil(n, p.B.Lanes) * p.B.Panel(k))
		left := memory.NewBuffer(tile.Ceil(m, p.A.Lanes) * p.A.Panel(k))
		fill := func(by float32) {
			for i := range a {
				a[i] = by + float32(i%7)
			}
			for i := range b {
				b[i] = by - float32(i%5)
			}
			p.A.Pack(left, p.A.Panel(k), memory.BytesOf(a), 0, k, m, k, false, plan.ScalesOfGroups{})
			p.B.Pack(panels, p.B.Panel(k), memory.BytesOf(b), 0, n, n, k, true, plan.ScalesOfGroups{})
		}
		packed, rows := plan.Factor{Mem: left, Packed: true}, plan.Factor{Mem: memory.BytesOf(a), LD: k}
		for name, way := range map[string]struct {
			multiply func(plan.Call)
			a, b     plan.Factor
			there    bool
		}{
			"packed":  {p.Multiply, packed, plan.Factor{Mem: panels, Packed: true}, true},
			"direct":  {p.Unpacked.Multiply, packed, plan.Factor{Mem: memory.BytesOf(b), LD: n}, p.Unpacked.Rows > 0},
			"columns": {p.Columns.Multiply, rows, plan.Factor{Mem: memory.BytesOf(b), LD: n}, p.PaysColumns(m, 1, k)},
		} {
			if !way.there {
				continue
			}
			fill(1)
			c, tape := make([]float32, m*n), new(gemm.Tape)
			x := plan.Call{C: memory.BytesOf(c), LDC: n, M: m, N: n, K: k, Depth: k, A: way.a, B: way.b, Tape: tape}
			way.multiply(x)
			if tape.Spoiled || len(tape.Calls) == 0 {
				t.Errorf("%v, %s: %d calls on the tape, spoiled %v", isa, name, len(tape.Calls), tape.Spoiled)
			}
			fill(2)
			for _, call := range tape.Calls {
				call()
			}
			got := slices.Clone(c)
			x.Tape = nil
			if way.multiply(x); !slices.Equal(got, c) {
				t.Errorf("%v, %s: the tape computes %v, want %v", isa, name, got, c)
			}
		}
	}
}
