package memory

//go:noescape
func prefetch(p *byte, lines int)
