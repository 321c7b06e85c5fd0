package hlo

// Near is an argument of the program that is copied to a memory nearer to the core.
type Near struct {
	Parameter int64
	Space     int64 // of memory, as the device numbers them
	// Ahead says that it is copied behind the program before (XLA's cross-program prefetch).
	Ahead bool
}

// Near lists them.
func (m *Module) Near() []Near {
	numbers := map[string]int64{}
	for _, i := range m.Entry.Instructions {
		if i.Opcode == "parameter" {
			numbers[i.Name] = i.parameter
		}
	}
	var all []Near
	for _, i := range m.Entry.Instructions {
		if i.Opcode != "copy-start" || len(i.Operands) == 0 || len(i.Shape.Tuple) == 0 {
			continue
		}
		if number, ok := numbers[i.Operands[0]]; ok && i.Shape.Tuple[0].Space != 0 {
			all = append(all, Near{number, i.Shape.Tuple[0].Space, i.prefetch})
		}
	}
	return all
}
