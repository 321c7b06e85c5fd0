package aot

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/lower/mosaic"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/model"
	"matladder/tile"
)

// CompileKernels compiles tile programs for a generation, as one launch. What lower/mosaic
// already knows not to work never reaches the compiler, whose own answer may take minutes.
func (c *Compiler) CompileKernels(ctx context.Context, topology string, programs []*tile.Program, params backend.Params) (*Compiled, error) {
	var b Backend
	if err := b.aim(topology); err != nil {
		return nil, err
	}
	launch, err := lowered(b.target, b.device, programs, params)
	if err != nil {
		return nil, err
	}
	return c.Compile(ctx, b.topology.Libtpu, launch.Module(), optionsOf(params))
}

// lowered is a launch of programs for a generation that can run them.
func lowered(target mosaic.Target, device machine.Device, programs []*tile.Program, params backend.Params) (*mosaic.Launch, error) {
	o := mosaic.Options{VMEMBytes: params.VMEMBytes}
	if params.Prefetch { // as XLA treats its own product; otherwise as Pallas would write it
		const side = 128
		if device.MXUSide == side {
			o.Pieces = side
		}
		ahead, err := model.Prefetched(programs, device.Prefetch().Apart)
		if err != nil {
			return nil, err
		}
		if ahead != nil {
			o.Prefetched = ahead.Name
		}
	}
	launch, err := mosaic.Lower(programs, o)
	if err == nil {
		err = target.Check(programs, o)
	}
	if err != nil {
		return nil, refusal(err)
	}
	return launch, nil
}

// optionsOf are those that libtpu needs for what params ask of programs. A kernel says itself
// what it may take of VMEM; what comes ahead has the rest if that is said of the whole program.
func optionsOf(params backend.Params) hlo.Options {
	if !params.Prefetch {
		return nil
	}
	options := libtpu.Prefetch()
	if limit, err := libtpu.VMEMLimit(params.VMEMBytes); err == nil { // else no block fits either
		maps.Copy(options, limit)
	}
	return options
}

// refusal is an error of lower/mosaic or lower/triton as one of package backend.
func refusal(err error) error {
	var unsupported *triton.UnsupportedError
	var big *mosaic.TooBigError // triton's too
	switch {
	case errors.As(err, &unsupported):
		return fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return &backend.TooBigError{What: big.What, Needed: big.Needed, Limit: big.Limit}
	}
	return err
}
