package aot

import (
	"context"
	"fmt"

	"matladder/backend/internal/hlo"
)

// Collective is one exchange between the devices of a pod, as libtpu compiled it.
type Collective = hlo.Collective

// Spread is what libtpu says of a program that is spread over the devices of a pod; all
// figures are of one device. It says nothing of how long the wire takes: package model
// has a model of that.
type Spread struct {
	*Compiled
	Collectives []Collective
}

// CompileSpread compiles a program whose arrays are annotated for Shardy for the first
// devices of a whole topology, such as v5e:16x16. Errors are those of Compile.
func (c *Compiler) CompileSpread(ctx context.Context, topology, program string, devices int) (*Spread, error) {
	compiled, err := c.compile(ctx, request{Topology: topology, Program: program, Partitions: devices})
	if err != nil {
		return nil, err
	}
	m, err := hlo.Read(compiled.Format, compiled.Optimized)
	if err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	return &Spread{compiled, m.Collectives()}, nil
}
