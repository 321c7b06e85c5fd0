package mosaic_test

import (
	"testing"

	"matladder/lower/internal/lowertest"
	"matladder/lower/mosaic"
	"matladder/tile/tiletest"
)

// TestProgramMeaning runs the text of programs beyond the ladder on random
// inputs and compares with interp.
func TestProgramMeaning(t *testing.T) { lowertest.Programs(t, device{}, nil) }

// TestTiled: programs whose blocks are whole tiles pass every check.
func TestTiled(t *testing.T) {
	cases, err := tiletest.Tiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if _, err := mosaic.Lower(c.Programs, mosaic.Options{}); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for _, target := range mosaic.Targets()[1:] {
			if err := target.Check(c.Programs, mosaic.Options{}); err != nil {
				t.Errorf("%s on %s: %v", c.Name, target.Name, err)
			}
		}
	}
}
