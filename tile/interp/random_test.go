package interp_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/tile"
	"matladder/tile/interp"
	"matladder/tile/tiletest"
)

// TestRandomPrograms runs what tiletest makes of a few thousand strings of
// random bytes.
func TestRandomPrograms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	accepted := 0
	programs := 4000 / thoroughtest.OneIn(1, 4, 4)
	for range programs {
		data := make([]byte, random.IntN(60))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if checkRandom(t, data) {
			accepted++
		}
	}
	t.Logf("%d of %d programs are accepted by Verify", accepted, programs)
	if accepted < programs/20 {
		t.Errorf("too few to mean anything")
	}
}

// FuzzPrograms does the same with bytes that the fuzzer chooses.
func FuzzPrograms(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("ragged blocks over a grid of three axes"))
	f.Add([]byte{10, 10, 10, 4, 4, 4, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 7, 2, 2})
	f.Fuzz(func(t *testing.T, data []byte) { checkRandom(t, data) })
}

// checkRandom checks that a program that Verify accepts runs without an error,
// to the same result in any order of its parallel programs, and that padding is
// where the analysis of overhangs says. It reports whether Verify accepts.
func checkRandom(t *testing.T, data []byte) bool {
	p, err := tiletest.Random(data)
	if err != nil {
		return false
	}
	in, programs := tiletest.Inputs(p, 1), []*tile.Program{p}
	out, err := interp.RunWith(context.Background(), programs, in, interp.CheckMasks(func(difference string) {
		t.Errorf("%s\n%v\n%s", difference, data, p)
	}))
	if err != nil {
		t.Errorf("%v\n%v\n%s", err, data, p)
		return true
	}
	shuffled, err := interp.RunWith(context.Background(), programs, in, interp.Options{Shuffle: 1})
	if err != nil {
		t.Errorf("shuffled: %v\n%v\n%s", err, data, p)
		return true
	}
	for i := range out {
		if !bytes.Equal(out[i].Data, shuffled[i].Data) {
			t.Errorf("shuffled, output %d differs\n%v\n%s", i, data, p)
		}
	}
	return true
}
