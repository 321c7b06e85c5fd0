package lowertest

import (
	"math/rand/v2"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// Fuzz compares a device with interp on random programs.
func Fuzz(f *testing.F, be backend.Backend) {
	for _, seed := range [][]byte{nil, {1, 2, 3}, []byte("a tile program"), []byte("\x05\x03\x08\x02\x02\x02\x00\x00\x01\x00\x02\x02")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { CompareRandom(t, be, data) })
}

// Random is a fixed run of Fuzz, on a number of programs.
func Random(t *testing.T, be backend.Backend, programs int) {
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for range programs {
		data := make([]byte, 64)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if CompareRandom(t, be, data) {
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

// CompareRandom compares a device with interp on one random program, unless it rounds an inexact value to
// so few bits that float32 and float64 may choose different neighbours.
func CompareRandom(t *testing.T, be backend.Backend, data []byte) bool {
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
			case tile.OpDiv, tile.OpExp, tile.OpExp2, tile.OpLog, tile.OpTanh, tile.OpNormalCDF, tile.OpLogistic, tile.OpRsqrt:
				inexact = true
			case tile.OpRoundEven:
				rounds = true
			case tile.OpCast:
				rounds = rounds || e.Dtype.Bits() <= 8
			}
		})
	})
	return !(inexact && rounds) && backendtest.Random(t, be, backend.Params{}, data)
}
