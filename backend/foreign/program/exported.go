package program

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"matladder/backend"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Source makes a program of each problem that it computes: package process does, of a
// function of JAX.
type Source interface {
	backend.Backend
	backend.Plugged
	Supports(p problem.Problem) error
	Variants(p problem.Problem) []string
	Export(ctx context.Context, p problem.Problem, on machine.Device) (string, error)
}

// Exported is a function whose programs are predicted, and verified by the function itself.
type Exported struct {
	Source
	on          backend.Backend
	interpreted lazy

	mu   sync.Mutex
	made map[problem.Problem]string
}

var (
	_ backend.BaselinePredictor = (*Exported)(nil)
	_ backend.Verifiable        = (*Exported)(nil)
)

// NewExported returns a function as a backend. on predicts its programs; interpreted opens
// what computes the same on this machine, kernels of Pallas in their interpret mode. Close
// closes that and from.
func NewExported(from Source, on backend.Backend, interpreted func(context.Context) (backend.Backend, error)) *Exported {
	return &Exported{Source: from, on: on, interpreted: lazy{open: interpreted}, made: map[problem.Problem]string{}}
}

// Device is that of what predicts.
func (b *Exported) Device() machine.Device { return b.on.Device() }

// Plugin is the name of the file; its hash, and the versions of what exports and compiles.
func (b *Exported) Plugin() (name, version string) {
	name, version = b.Source.Plugin()
	return name, version + compiler(b.on)
}

// compiler is name and version of what a backend compiles by, behind a space.
func compiler(on backend.Backend) string {
	p, ok := on.(backend.Plugged)
	if !ok {
		return ""
	}
	name, version := p.Plugin()
	return strings.TrimRight(" "+name+" "+version, " ")
}

// Close closes what computes and exports.
func (b *Exported) Close() error {
	if err := b.interpreted.close(); err != nil {
		return err
	}
	return b.Source.Close()
}

// program is that of a problem, exported once.
func (b *Exported) program(ctx context.Context, p problem.Problem) (string, error) {
	b.mu.Lock()
	program, ok := b.made[p]
	b.mu.Unlock()
	if ok {
		return program, nil
	}
	program, err := b.Export(ctx, p, b.on.Device())
	if err == nil {
		b.mu.Lock()
		b.made[p] = program
		b.mu.Unlock()
	}
	return program, err
}

// PredictBaseline exports the function and predicts its program.
func (b *Exported) PredictBaseline(ctx context.Context, spec backend.ProblemSpec) (none backend.Prediction, err error) {
	predictor, err := backend.As[backend.BaselinePredictor](b.on, "predicts no programs")
	if err != nil {
		return none, err
	}
	if spec.Program, err = b.program(ctx, spec.Problem); err != nil {
		return none, err
	}
	return predictor.PredictBaseline(ctx, spec)
}

// mostInterpreted are the FLOPs of a problem that takes seconds in Pallas' interpret mode.
const mostInterpreted = 5e9

// OnHost has the function compute on this machine: as it is, or where it has kernels of
// Pallas in their interpret mode, at the largest size of those below that takes seconds and
// that the kernel accepts.
func (b *Exported) OnHost(ctx context.Context, spec backend.ProblemSpec) (_ backend.Executable, p problem.Problem, how string, err error) {
	program, err := b.program(ctx, spec.Problem)
	if err != nil {
		return nil, nil, "", err
	}
	most, how := int64(mostFLOPs), "JAX on this machine's cores"
	p = spec.Problem
	if b.Device().Kind == machine.GPU {
		most, how, p = mostInterpreted, "Triton's interpreter", widened(p)
	} else if isMosaic(program) {
		most, how = mostInterpreted, "Pallas' interpret mode"
	}
	p, err = b.smaller(ctx, p, most)
	if err != nil {
		return nil, nil, "", err
	}
	host, err := b.interpreted.get(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	e, err := backend.Solve(ctx, host, backend.ProblemSpec{Problem: p, Params: spec.Params})
	return e, p, how, err
}

// widened is a problem in float32 in place of bfloat16, of which Triton's interpreter takes the bits for
// integers.
func widened(p problem.Problem) problem.Problem {
	asked := p.Asked()
	for _, d := range []*tile.Dtype{&asked.A, &asked.B, &asked.Out} {
		if *d == tile.BFloat16 {
			*d = tile.Float32
		}
	}
	return p.Family().Make(p.Sizes(), asked)
}

// isMosaic reports whether a program has kernels that a TPU alone runs.
func isMosaic(program string) bool { return strings.Contains(program, "tpu_custom_call") }

// smaller is p, or p with its sizes halved until it has no more FLOPs than that; larger where
// the function does not accept it.
func (b *Exported) smaller(ctx context.Context, p problem.Problem, most int64) (problem.Problem, error) {
	list := []problem.Problem{p}
	for last := p; last.FLOPs() > most; last = list[len(list)-1] {
		sizes := last.Sizes()
		for i, size := range p.Family().Sizes {
			if size.Default == 0 && sizes[i]%2 == 0 {
				sizes[i] /= 2
			}
		}
		if sizes == last.Sizes() {
			break
		}
		list = append(list, p.Family().Make(sizes, p.Asked()))
	}
	for n := len(list) - 1; n >= 0 && list[n].FLOPs() <= 16*most; n-- {
		if _, err := b.program(ctx, list[n]); err == nil {
			return list[n], nil
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("it accepts no size that takes this machine seconds")
}
