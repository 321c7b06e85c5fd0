package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/memory"
)

// TestChain compares random chains in assembly with Go, of rows that lie apart.
func TestChain(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("this machine lacks avx2")
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for range 3000 {
		checkChain(t, rng)
	}
}

func FuzzChain(f *testing.F) {
	if !cpu.X86.HasAVX2 {
		f.Skip("this machine lacks avx2")
	}
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkChain(t, rand.New(rand.NewPCG(seed, 7))) })
}

func checkChain(t *testing.T, rng *rand.Rand) {
	t.Helper()
	all := append([]Loops{Generic}, everyFor()...)
	if cpu.X86.HasAVX512F { // and without bfloat16 instructions
		all = append(all, Loops{Chain: func(c *Chain, rows, n int) { chainAVX512(c, rows, n, false) }})
	}
	rows, n := 1+rng.IntN(5), 1+rng.IntN(300)
	if rng.IntN(3) == 0 {
		n = 64 * (1 + rng.IntN(5))
	}
	list, outs := randomChain(rng, rows, n)
	does, c := []Do(nil), &Chain{}
	for i, op := range list {
		does = append(does, op.do)
		c.Do[i], c.At[i], c.Step[i] = op.do, op.at, op.step
	}
	var want [][]byte
	for i, l := range all {
		for _, out := range outs {
			memory.Fill(out, 0x55)
		}
		l.Chain(c, rows, n)
		for j, out := range outs {
			switch {
			case i == 0:
				want = append(want, slices.Clone(out))
			case !sameFloats(out, want[j], j == 1):
				t.Fatalf("loops %d, %d rows of %d: output %d of %v differs", i, rows, n, j, does)
			}
		}
	}
}

// op is one of a chain.
type op struct {
	do   Do
	at   unsafe.Pointer
	step int
}

// sameFloats reports whether two outputs have the same bits, or both a NaN.
func sameFloats(x, y []byte, narrow bool) bool {
	if narrow {
		for i, v := range memory.View[uint16](x) {
			w := memory.View[uint16](y)[i]
			if v != w && (v&0x7fff <= 0x7f80 || w&0x7fff <= 0x7f80) {
				return false
			}
		}
		return true
	}
	for i, v := range memory.View[float32](x) {
		w := memory.View[float32](y)[i]
		if math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
			return false
		}
	}
	return true
}

// randomChain has operands of rows that are a whole number of cache lines apart, and what it
// writes: elements of float32, of bfloat16, and sums.
func randomChain(rng *rand.Rand, rows, n int) (ops []op, outs [][]byte) {
	ld := (n+31)&^31 + 32*rng.IntN(2)
	keep := new([KeptMost]float32)
	wide := rng.IntN(2) == 0 // of any size, or about 1
	operand := func(kind Do) (unsafe.Pointer, int) {
		x := randomFloats(rng, rows*ld)
		if !wide {
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
		}
		switch kind {
		case Float32s, Int32s, Number:
			return unsafe.Pointer(&x[0]), 4 * ld * rng.IntN(2)
		case BFloat16s:
			return unsafe.Pointer(&x[0]), 2 * ld
		case Kept:
			return unsafe.Pointer(keep), 0
		}
		return nil, 0
	}
	do := func(do, kind Do) {
		at, step := operand(kind)
		ops = append(ops, op{do: do + kind, at: at, step: step})
	}
	for range 3 {
		outs = append(outs, memory.NewBuffer(rows*ld*4+64))
	}
	do(Load, Do(rng.IntN(4)))
	kept := false
	for range rng.IntN(8) {
		switch what := rng.IntN(8); {
		case what == 0:
			ops, kept = append(ops, op{do: Keep, at: unsafe.Pointer(keep)}), true
		case what == 1 && n%8 == 0:
			o := &Order{}
			for i := range o.At {
				o.At[i] = uint32(rng.IntN(8) + i&^7)
				if i >= 8 {
					o.At[i] = o.At[i-8] + 8
				}
				o.Bits[i] = uint32(rng.IntN(2)) << 31
			}
			copy(o.Bits[8:], o.Bits[:8])
			ops = append(ops, op{do: Shuffle, at: unsafe.Pointer(o)})
		case what == 2:
			ops = append(ops, op{do: Round})
		default:
			kind := Do(rng.IntN(6))
			if kind == Kept && !kept {
				kind = Itself
			}
			do(Add*Do(1+rng.IntN(6)), kind)
		}
	}
	end := Turn
	if rng.IntN(2) == 0 {
		ops, end = append(ops, op{do: Sum}), TurnSum
	}
	past := Do(rng.IntN(2))
	if rng.IntN(2) == 0 {
		ops = append(ops, op{do: StoreFloat32 + past, at: unsafe.Pointer(&outs[0][0]), step: 4 * ld})
	}
	if rng.IntN(2) == 0 {
		ops = append(ops, op{do: StoreBFloat16 + past, at: unsafe.Pointer(&outs[1][0]), step: 2 * ld})
	}
	return append(ops, op{do: end, at: unsafe.Pointer(&outs[2][0]), step: 4}), outs
}
