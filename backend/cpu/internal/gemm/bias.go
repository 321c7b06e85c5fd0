package gemm

import (
	"sync"
	"unsafe"
)

// A bias is what the sums of each row of a start from, by rows; none where they start from zero.
// It covers all steps of a sum and is added once, by the run that begins at step first; runs
// that begin later add to what is there.
type bias[C Sum] struct {
	rows  []C
	first int
}

// biasRows is how many rows of memory a bias is computed of together.
const biasRows = 4

// biasOf is the bias of m rows of a over steps from first on, in some memory.
func (k *kernel[C]) biasOf(a left, mr, m, first, steps int, memory *[]uint32) bias[C] {
	if k.bias == nil || steps == 0 {
		return bias[C]{}
	}
	n := m + max(2*mr, biasRows) // whole tiles from any row of a panel on
	if cap(*memory) < n {
		*memory = make([]uint32, n)
	}
	words := (*memory)[:n]
	if a.packed {
		for i := 0; i < m; i += mr {
			k.bias(&words[i], a.at(i/mr, first), steps)
		}
	} else {
		k.rows.bias(&words[0], a.at(0, first), a.row, steps, m)
	}
	return bias[C]{unsafe.Slice((*C)(unsafe.Pointer(&words[0])), n), first}
}

// at is what the sums of row i and the next ones start from at a step; nil for zero.
func (b bias[C]) at(i, step int) *C {
	if b.rows == nil || step != b.first {
		return nil
	}
	return &b.rows[i]
}

// biases are memory for those of calls.
var biases = sync.Pool{New: func() any { return new([]uint32) }}
