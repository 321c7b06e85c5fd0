package mosaic_test

import (
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// TestMeaning runs the text of every kernel, dtype, ragged shape and block shape,
// and of programs beyond them, and compares with interp.
func TestMeaning(t *testing.T) {
	backendtest.Run(t, func() backend.Backend { return device{} }, backendtest.Options{
		OneIn:     4,
		MayRefuse: []string{"unsigned", "signed by unsigned"},
	})
}

// FuzzMeaning does the same with random programs.
func FuzzMeaning(f *testing.F) {
	for _, seed := range [][]byte{nil, {1, 2, 3}, []byte("a tile program"), []byte("\x05\x03\x08\x02\x02\x02\x00\x00\x01\x00\x02\x02")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareRandom(t, data) })
}

// TestRandomMeaning is a fixed run of FuzzMeaning.
func TestRandomMeaning(t *testing.T) {
	const programs = 6000
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range programs {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if compareRandom(t, data) {
			compared++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d programs compared", compared, programs)
	if compared < programs/50 {
		t.Error("too few to mean anything")
	}
}

// compareRandom compares one random program, unless it rounds an inexact value to
// so few bits that float32 and float64 may choose different neighbours.
func compareRandom(t *testing.T, data []byte) bool {
	p, err := tiletest.Random(data)
	if err != nil {
		return false
	}
	inexact, rounds := false, false
	p.Walk(func(s *tile.Stmt) {
		if s.Value == nil {
			return
		}
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			switch e.Op {
			case tile.OpDiv, tile.OpExp, tile.OpExp2, tile.OpLog, tile.OpTanh, tile.OpErf, tile.OpLogistic, tile.OpRsqrt:
				inexact = true
			case tile.OpRoundEven:
				rounds = true
			case tile.OpCast:
				rounds = rounds || e.Dtype.Bits() <= 8
			}
		})
	})
	return !(inexact && rounds) && backendtest.Random(t, device{}, backend.Params{}, data)
}
