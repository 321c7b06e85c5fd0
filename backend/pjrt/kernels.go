package pjrt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/chips"
	"matladder/lower/mosaic"
	"matladder/lower/stablehlo"
	"matladder/tile"
)

// launchOf returns what one launch of programs runs on a chip: kernels on a TPU,
// elsewhere what the programs mean.
func launchOf(chip chips.Device, programs []*tile.Program, params backend.Params) (*stablehlo.Launch, error) {
	var l *stablehlo.Launch
	var err error
	if chip.Kind == chips.TPU {
		l, err = kernels(chip, programs, params.VMEMBytes)
	} else {
		l, err = stablehlo.Interpret(programs)
	}
	return l, refused(err)
}

// kernels returns a launch of programs as Mosaic kernels, once package lower/mosaic
// has found nothing in them that the chip cannot run: the compiler may take
// minutes to find it. Of a generation that it does not know it says nothing.
func kernels(chip chips.Device, programs []*tile.Program, vmemBytes int64) (*stablehlo.Launch, error) {
	l, err := mosaic.Lower(programs, mosaic.Options{VMEMBytes: vmemBytes})
	if err != nil {
		return nil, err
	}
	if target, err := mosaic.FindTarget(strings.TrimPrefix(chip.Key, "tpu_")); err == nil {
		if err := target.Check(programs, vmemBytes); err != nil {
			return nil, err
		}
	}
	return stablehlo.NewLaunch(l.Name, arrays(l.In), arrays(l.Out), l.Function("private", "launch")), nil
}

func arrays(refs []*tile.Ref) []stablehlo.Array {
	as := make([]stablehlo.Array, len(refs))
	for i, r := range refs {
		as[i] = stablehlo.Array{Name: r.Name, Dtype: r.Dtype, Shape: r.Array}
	}
	return as
}

// refused gives the refusals of a lowering their kind.
func refused(err error) error {
	var noStableHLO *stablehlo.UnsupportedError
	var noMosaic *mosaic.UnsupportedError
	var big *mosaic.TooBigError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &noStableHLO), errors.As(err, &noMosaic):
		return fmt.Errorf("pjrt: %w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return fmt.Errorf("pjrt: %s: %w", big.Program, &backend.TooBigError{What: "VMEM", Need: big.Need, Limit: big.Limit})
	}
	return fmt.Errorf("pjrt: %w", err)
}

// module returns the program by which a method times launches.
func module(l *stablehlo.Launch, method string) string {
	switch method {
	case Wall:
		return l.Once()
	case Chain:
		return l.Chain()
	}
	return l.Loop(1)
}

// leaveInHBM tells the compiler of a TPU not to move arrays to memory nearer to the
// core before they are used. Otherwise it moves what a loop carries once, before
// the first launch, if it is small enough: VMEM, on v4 CMEM. libtpu 0.0.51 then
// leaves them in HBM on every generation.
var leaveInHBM = map[string]bool{"xla_msa_enable": false}

// keepNaN tells the compiler of a CPU that the larger of a number and NaN is NaN, as
// StableHLO has it. Otherwise it computes the largest element of a row faster, and
// without the NaN in it.
var keepNaN = map[string]bool{"xla_cpu_enable_fast_min_max": false}

// unknownOption reports whether a compiler refused a program for an option that it
// does not have.
func unknownOption(err error, options map[string]bool) bool {
	return err != nil && slices.ContainsFunc(slices.Collect(maps.Keys(options)), func(name string) bool {
		return strings.Contains(err.Error(), name)
	})
}

// nearMemories are the memories of a TPU in which its compiler may keep arrays of a
// loop, as it numbers them, the nearest first.
var nearMemories = []struct {
	space int64
	name  string
}{{1, "vmem"}, {3, "cmem"}}

// operandsOf says in which memory of a TPU launches find their operands and leave
// their results: the nearest in which a loop keeps any of them from launch to
// launch, else hbm. Without a loop all come from HBM, where arguments are; so does
// what a launch itself brings nearer.
func operandsOf(m *hlo.Module) string {
	for _, memory := range nearMemories {
		for _, loop := range m.Loops() {
			for _, a := range loop.Shape.Arrays() {
				if a.Space == memory.space {
					return memory.name
				}
			}
		}
	}
	return "hbm"
}
