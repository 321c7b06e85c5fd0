package hlo

// Loops are the loops of the program itself, not those inside others.
func (m *Module) Loops() []*Instruction {
	var loops []*Instruction
	for _, i := range m.Entry.Instructions {
		if i.Opcode == "while" {
			loops = append(loops, i)
		}
	}
	return loops
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
	var arrays []Shape
	for _, part := range s.Tuple {
		arrays = append(arrays, part.Arrays()...)
	}
	elements := int64(1)
	for _, d := range s.Dimensions {
		elements *= d
	}
	if s.Tuple == nil && elements != 1 {
		arrays = append(arrays, s)
	}
	return arrays
}

// Leaves lists the arrays in a shape, scalars included.
func (s Shape) Leaves() (all []Shape) {
	if s.Tuple == nil {
		return []Shape{s}
	}
	for _, part := range s.Tuple {
		all = append(all, part.Leaves()...)
	}
	return all
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
