package gemm

import (
	"math"
	"sync"

	"matladder/backend/cpu/internal/amx"
	"matladder/backend/cpu/internal/probe"
)

// tilesWrong multiplies small matrices on tiles, once in a process, and names the instructions
// whose results are not those of their twins in Go: a processor, an emulator or a virtual machine
// that says it has AMX may be wrong. It takes less than a millisecond. Call it only where package
// amx finds nothing missing.
var tilesWrong = sync.OnceValue(func() []string {
	var wrong []string
	// Integers, whose sums are exact in whatever order they are added.
	floats := func(i uint32) uint32 {
		one := func(v uint32) uint32 { return math.Float32bits(float32(int32(v%17)-8)) >> 16 }
		return one(i) | one(i>>8)<<16
	}
	if !proven(stripsAMX(tilesBFloat16AMX), tilesTwin(stepBFloat16), floats) {
		wrong = append(wrong, "amxbf16 that multiplies right")
	}
	if !proven(stripsAMX(tilesInt8AMX), tilesTwin(stepInt8), func(i uint32) uint32 { return i }) {
		wrong = append(wrong, "amxint8 that multiplies right")
	}
	return wrong
})

// proven compares both on every shape of tiles, whole and cut off, from zero
// and onto what c holds; word makes an operand's word from random bits.
func proven[C Sum](fast, twin strips[C], word func(uint32) uint32) bool {
	const steps, mostRows = 2, 2*tilesMR - 1
	var a [2 * steps * tilesMR * tilesWords]uint32
	var b [steps * tilesNR * tilesWords]uint32
	var got, want [mostRows * tilesNR]C
	state := uint32(1)
	for _, operand := range [][]uint32{a[:], b[:]} {
		for i := range operand {
			state = state*1664525 + 1013904223 // Numerical Recipes, 7.1
			operand[i] = word(state ^ state>>15)
		}
	}
	for i := range got {
		got[i], want[i] = C(i%101), C(i%101)
	}
	for n, shape := range [][2]int{{mostRows, 32}, {32, 17}, {16, 32}, {3, 5}} {
		for _, x := range []struct {
			run strips[C]
			c   []C
		}{{fast, got[:]}, {twin, want[:]}} {
			const row, step = tilesNR * wordBytes, tilesMR * tilesWords * wordBytes
			x.run(&strip[C]{
				sum: &x.c[0], sumRow: row, sumPanel: tilesMR * row, sumAfter: tilesMR * row, c: &x.c[0], row: row, panel: tilesMR * row,
				a: &a[0], rowA: tilesWords * wordBytes, stepA: step, panelA: steps * step, b: &b[0], steps: steps,
				rows: shape[0], cols: shape[1], accumulate: n%2 == 1,
			})
		}
		if got != want {
			return false
		}
	}
	return true
}

// tilesAreFaster measures once whether tiles beat vectors: on every processor
// with AMX that is known they do, by several times. Under the emulator for tests they are slower, and used.
var tilesAreFaster = sync.OnceValue(func() (faster struct{ bfloat16, int8 bool }) {
	compare := func(dtype string) bool {
		if amx.Emulated {
			return true
		}
		tiles, vectors := probe.Tiles(dtype)
		return tiles > vectors
	}
	faster.bfloat16, faster.int8 = compare("bfloat16"), compare("int8")
	return faster
})
