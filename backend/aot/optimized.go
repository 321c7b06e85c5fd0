package aot

import "context"

// CompileOptimized is Compile with options of the compiler, by name, and asks for
// the optimized program too.
func (c *Compiler) CompileOptimized(ctx context.Context, topology, program string, options map[string]bool) (*Compiled, error) {
	return c.compile(ctx, request{Topology: topology, Program: program, Options: options, Optimized: true})
}
