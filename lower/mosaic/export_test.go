package mosaic

// Targets are the generations, the oldest first.
func Targets() []Target { return targets }
