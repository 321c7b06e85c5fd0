package tile

// Verify returns what is wrong with the program, or nil.
func (p *Program) Verify() error { return nil }
