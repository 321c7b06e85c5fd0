package tile

// String prints the program.
func (p *Program) String() string { return p.Name }
