package cpu

import (
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/internal/thoroughtest"
)

// FuzzPrograms compares random programs with interp.
func FuzzPrograms(f *testing.F) {
	for _, seed := range [][]byte{nil, {1, 2, 3}, []byte("a tile program"), []byte("\x05\x03\x08\x02\x02\x02\x00\x00\x01\x00\x02\x02")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		be, err := Open(Options{Threads: 2, NoProbe: true})
		if err != nil {
			t.Fatal(err)
		}
		backendtest.Random(t, be, backend.Params{}, data)
	})
}

// TestRandom is a fixed run of FuzzPrograms, under every way of keeping blocks.
func TestRandom(t *testing.T) {
	count := 2000 / thoroughtest.OneIn(1, 4, 23)
	var programs []*backendtest.RandomProgram
	rng := rand.New(rand.NewPCG(1, 2))
	for range count {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		if p, ok := backendtest.NewRandom(data); ok {
			programs = append(programs, p)
		}
	}
	for name, o := range keeping() {
		t.Run(name, func(t *testing.T) {
			be := open(t, o)()
			compared := 0
			for _, p := range programs {
				if p.Compare(t, be, backend.Params{}) {
					compared++
				}
				if t.Failed() {
					break
				}
			}
			if compared < count/100 {
				t.Errorf("only %d of %d programs were compared", compared, count)
			}
			t.Logf("%d of %d programs compared", compared, count)
		})
	}
}
