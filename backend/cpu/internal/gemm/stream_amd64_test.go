package gemm

import (
	"math/rand/v2"
	"testing"

	"matladder/backend/cpu/internal/gemm/pack"
)

// eachStream calls the function of the type of each stream of this machine.
func eachStream(floats func(streamTwins[float32, float32]), halves func(streamTwins[uint16, float32]), bytes func(streamTwins[int8, int32])) {
	if len(AVX2.Missing()) > 0 {
		return
	}
	floats(streamTwins[float32, float32]{"float32", streamFloat32AVX2, streamWords(pack.AsFloat32), smallFloat, smallNumber})
	halves(streamTwins[uint16, float32]{"bfloat16", streamBFloat16AVX2, streamWords(pack.AsBFloat16), smallFloat, smallBFloat16})
	bytes(streamTwins[int8, int32]{"int8", streamPairsAVX2, streamPairs, bytePairs, anyByte})
}

func TestStream(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	eachStream(func(x streamTwins[float32, float32]) { testStream(t, r, x) }, func(x streamTwins[uint16, float32]) { testStream(t, r, x) },
		func(x streamTwins[int8, int32]) { testStream(t, r, x) })
}

func FuzzStream(f *testing.F) {
	for which := range uint8(3) {
		f.Add(uint64(which), which, uint8(3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, which, columns uint8) {
		r := rand.New(rand.NewPCG(seed, 19))
		var checks []func()
		add := func(check func()) { checks = append(checks, check) }
		cols := (1 + int(columns)) * streamColumns
		eachStream(func(x streamTwins[float32, float32]) { add(func() { checkStream(t, r, x, cols) }) },
			func(x streamTwins[uint16, float32]) { add(func() { checkStream(t, r, x, cols) }) },
			func(x streamTwins[int8, int32]) { add(func() { checkStream(t, r, x, cols) }) })
		if len(checks) > 0 {
			checks[int(which)%len(checks)]()
		}
	})
}
