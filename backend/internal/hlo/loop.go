package hlo

import (
	"encoding/json"
	"slices"
	"strconv"

	"matladder/internal/each"
)

// Loops are the loops of the program itself, not those inside others.
func (m *Module) Loops() []*Instruction {
	return each.That(m.Entry.Instructions, func(i *Instruction) bool { return i.Opcode == "while" })
}

// Body is the computation that a loop repeats; nil if i is none.
func (m *Module) Body(i *Instruction) *Computation {
	if i.Opcode != "while" || len(i.computations) == 0 {
		return nil
	}
	return m.computation(i.computations[0]) // the second is the condition
}

// Arrays are the arrays of a shape, those of one element apart: a loop carries
// counters beside them.
func (s Shape) Arrays() []Shape {
	arrays := slices.Concat(each.Of(s.Tuple, Shape.Arrays)...)
	if s.Tuple == nil && each.Product(s.Dimensions) != 1 {
		arrays = append(arrays, s)
	}
	return arrays
}

// Leaves lists the arrays in a shape, scalars included.
func (s Shape) Leaves() []Shape {
	if s.Tuple == nil {
		return []Shape{s}
	}
	return slices.Concat(each.Of(s.Tuple, Shape.Leaves)...)
}

// Resident is an argument of the program that is copied to a memory nearer to the core.
type Resident struct {
	Parameter int64
	Space     int64 // of memory, as the device numbers them
	// Prefetched says that it is copied behind the program before (XLA's cross-program prefetch).
	Prefetched bool `json:"Ahead"`
}

// Residents lists them.
func (m *Module) Residents() []Resident {
	numbers := map[string]int64{}
	for _, i := range m.Entry.Instructions {
		if i.Opcode == "parameter" {
			numbers[i.Name] = i.parameter
		}
	}
	var all []Resident
	for _, i := range m.Entry.Instructions {
		if i.Opcode != "copy-start" || len(i.Operands) == 0 || len(i.Shape.Tuple) == 0 {
			continue
		}
		if number, ok := numbers[i.Operands[0]]; ok && i.Shape.Tuple[0].Space != 0 {
			all = append(all, Resident{number, i.Shape.Tuple[0].Space, i.prefetch})
		}
	}
	return all
}

// Windows are the blocks in which a product of XLA's own goes over its arrays, by libtpu's
// note of it. Sides are in tiles of memory, of 8 rows and 128 columns.
type Windows struct {
	Kernel string // the instruction, by which the schedule knows the kernel too
	// Left, Right and Out are rows and columns of a block of each factor and of the product.
	Left, Right, Out [2]int64
	// Blocks are how many there are along n, m and k.
	Blocks [3]int64
}

// Windows lists the products of the program itself of which libtpu notes all of that.
func (m *Module) Windows() []Windows { return windowsOf(m.Entry) }

func windowsOf(c *Computation) []Windows {
	all := []Windows{}
	for _, i := range c.Instructions {
		var note struct {
			Config *struct {
				Left   []string `json:"input_window_bounds"`
				Right  []string `json:"kernel_window_bounds"`
				Out    []string `json:"output_window_bounds"`
				Blocks []string `json:"iteration_bounds"`
			} `json:"window_config"`
		}
		if json.Unmarshal([]byte(i.Config), &note) != nil || note.Config == nil {
			continue
		}
		w := Windows{Kernel: i.Name}
		if whole(w.Left[:], note.Config.Left) && whole(w.Right[:], note.Config.Right) &&
			whole(w.Out[:], note.Config.Out) && whole(w.Blocks[:], note.Config.Blocks) {
			all = append(all, w)
		}
	}
	return all
}

// whole reads positive numbers, as many as there is room for.
func whole(to []int64, from []string) bool {
	if len(from) != len(to) {
		return false
	}
	for i, s := range from {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return false
		}
		to[i] = n
	}
	return true
}
