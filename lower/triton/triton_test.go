package triton_test

import (
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/internal/thoroughtest"
	"matladder/lower/internal/lowertest"
)

// TestMeaning runs the text of every kernel, dtype, ragged shape and block shape,
// and of programs beyond them, and compares with interp.
func TestMeaning(t *testing.T) {
	backendtest.Run(t, func() backend.Backend { return device{} }, backendtest.Options{
		// Of the few each rung is one, and each dtype.
		OneIn: thoroughtest.OneIn(16, 101, 101), From: thoroughtest.OneIn(0, 5, 5),
		MayRefuse: []string{"unsigned", "signed by unsigned", "exp2 and log", "rows stored", "rows stored by table", "bound of the grid", "blocks that overlap"},
	})
}

// FuzzMeaning does the same with random programs.
func FuzzMeaning(f *testing.F) { lowertest.Fuzz(f, device{}) }

// TestRandomMeaning is a fixed run of FuzzMeaning.
func TestRandomMeaning(t *testing.T) {
	lowertest.Random(t, device{operandBytes: 32}, 1200/thoroughtest.OneIn(1, 4, 4))
}
