package aot

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/lower/mosaic"
	"matladder/tile"
)

// CompileKernels compiles tile programs for a generation, as one launch. What
// lower/mosaic already knows not to work never reaches the compiler, whose own
// answer may take minutes.
func (c *Compiler) CompileKernels(ctx context.Context, topology string, programs []*tile.Program, params backend.Params) (*Compiled, error) {
	top, err := FindTopology(topology)
	if err != nil {
		return nil, err
	}
	target, err := mosaic.FindTarget(topology)
	if err != nil {
		return nil, err
	}
	launch, err := mosaic.Lower(programs, mosaic.Options{VMEMBytes: params.VMEMBytes})
	if err == nil {
		err = target.Check(programs, params.VMEMBytes)
	}
	if err != nil {
		return nil, refusal(err)
	}
	return c.Compile(ctx, top.Libtpu, launch.Module())
}

// refusal is an error of lower/mosaic as one of package backend.
func refusal(err error) error {
	var unsupported *mosaic.UnsupportedError
	var big *mosaic.TooBigError
	switch {
	case errors.As(err, &unsupported):
		return fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return &backend.TooBigError{What: "VMEM", Need: big.Need, Limit: big.Limit}
	}
	return err
}
