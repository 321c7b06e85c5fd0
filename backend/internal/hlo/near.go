package hlo

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
