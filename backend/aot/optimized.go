package aot

import (
	"context"

	"matladder/backend/internal/hlo"
)

// CompileOptimized is Compile with options of the compiler, by name, and asks for
// the optimized program too.
func (c *Compiler) CompileOptimized(ctx context.Context, topology, program string, options hlo.Options) (*Compiled, error) {
	return c.compile(ctx, request{Topology: topology, Program: program, Options: options, Optimized: true})
}
