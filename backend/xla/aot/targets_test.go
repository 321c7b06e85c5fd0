package aot

import (
	"strings"
	"testing"

	"matladder/lower/mosaic"
	"matladder/machine"
)

// TestTargets: what lower/mosaic says of the generations is what the chip table
// says, and the two know the same.
func TestTargets(t *testing.T) {
	if _, err := mosaic.FindTarget(""); err == nil || strings.Count(err.Error(), ", ")+1 != len(topologies) {
		t.Errorf("%d topologies, and: %v", len(topologies), err)
	}
	for _, top := range topologies {
		target, err := mosaic.FindTarget(top.Name)
		if err != nil {
			t.Error(err)
		}
		chip, ok := machine.Lookup(top.Chip)
		if !ok {
			t.Fatalf("no chip %s", top.Chip)
		}
		if float64(target.VMEMBytes) != chip.FastBytes.Value || float64(target.DefaultVMEMBytes) != chip.FastDefaultBytes.Value {
			t.Errorf("%s: VMEM %d, by default %d; the chip table has %.0f and %.0f", top.Name,
				target.VMEMBytes, target.DefaultVMEMBytes, chip.FastBytes.Value, chip.FastDefaultBytes.Value)
		}
	}
}
