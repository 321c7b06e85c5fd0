// Package anatomy has the steps by which a CPU climbs from three loops to its peak: what each
// adds to the one before, and what limits it by the counts of a machine model. The CPU
// backend takes them as a parameter (passes=registers), and so does nothing beyond that step.
package anatomy

// A Step is what the backend does with a product, one idea more than the step before.
type Step struct {
	Word string // of the parameter
	Name string
	Idea string // what is new

	Inner string // the innermost loop in Go; "" where a routine in assembly has it
}

// Param is the parameter of the CPU backend that names the last step taken.
const Param = "passes"

// Places of steps in Steps.
const (
	Loops = iota
	Order
	Vectors
	Registers
	Packing
	Blocking
	Threads
)

// Steps are all of them, in their order. The last is what the backend does unless asked.
var Steps = []Step{
	{"loops", "three loops", "three loops; the innermost goes down a column of B", "for l { s += a[i,l] * b[l,j] }"},
	{"order", "loop order", "the innermost loop goes along a row of B and a row of C", "for j { c[i,j] += a[i,l] * b[l,j] }"},
	{"vectors", "SIMD", "vectors of columns, whose sums stay in registers", ""},
	{"registers", "register tile", "a register tile: many rows of A meet each vector of B", ""},
	{"packing", "packing", "A and B are copied to panels in the order in which tiles read them", ""},
	{"blocking", "cache blocking", "loops are divided so that panels stay in L1 and L2 (k_c, m_c, n_c)", ""},
	{"threads", "threads", "programs of the grid are dealt to all cores", ""},
}
