package kernels

import (
	"testing"

	"matladder/problem"
)

// TestChoosesBlocks: whether a block shape is a choice does not depend on the machine. A small
// L2 leaves some kernels a single one to propose (flash attention with 512 KiB), and no machine
// has more than one proposed by a kernel that takes no choice.
func TestChoosesBlocks(t *testing.T) {
	single := 0
	for _, k := range All {
		f := k.Family()
		asked, err := f.Parse(f.Dtypes[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, bytes := range []int64{0, 64 << 10, 512 << 10, 16 << 20, 128 << 20} {
			n := len(k.Candidates(f.Make(f.Equal(1<<14), asked), problem.Machine{FastBytes: bytes, Parallel: 4}))
			switch chooses := ChoosesBlocks(k); {
			case n > 1 && !chooses:
				t.Errorf("%s/%s takes no choice and proposes %d block shapes where L2 holds %d bytes", f.Name, k.Name(), n, bytes)
			case n == 1 && chooses:
				single++
			}
		}
	}
	if single == 0 {
		t.Error("no kernel has a machine that leaves it one block shape: nothing was tested")
	}
}
