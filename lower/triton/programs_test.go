package triton_test

import (
	"testing"

	"matladder/lower/internal/lowertest"
)

// refused is what the text cannot say, as the error names it.
var refused = map[string]string{
	"ragged":  "bound of s: how many programs",
	"columns": "log: it has no lowering",
}

// TestProgramMeaning runs the text of programs beyond the ladder on random
// inputs and compares with interp.
func TestProgramMeaning(t *testing.T) { lowertest.Programs(t, device{operandBytes: 32}, refused) }
