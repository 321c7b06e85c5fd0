package plan

import "testing"

// TestOperand_Slot: each block has a slot of its own, and those of a column, along k, follow
// each other, matrix by matrix.
func TestOperand_Slot(t *testing.T) {
	const matrices, down, beside = 2, 3, 5
	o := Operand{Down: [2]int{down, beside}}
	for block := range matrices * down * beside {
		matrix, row, column := block/(down*beside), block/beside%down, block%beside
		if got, want := o.Slot(block), matrix*down*beside+column*down+row; got != want {
			t.Errorf("block %d is in slot %d, want %d", block, got, want)
		}
	}
	if slot := (&Operand{}).Slot(7); slot != 7 {
		t.Errorf("of no matrix: %d", slot)
	}
}
