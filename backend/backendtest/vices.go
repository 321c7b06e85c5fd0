package backendtest

import (
	"context"

	"matladder/backend"
	"matladder/check"
	"matladder/tile"
)

// Vice says what goes wrong in a launch, counted from 1 since the executable was made:
// nothing (""), the launch returns at once (Idle), or an output that is damaged by a
// fault of package check: one that no other fault, of a self-test, takes back.
type Vice func(launch int) string

// Idle is a launch that does nothing.
const Idle = "idle"

// Vices are by name what launches of a broken backend do.
var Vices = map[string]Vice{
	"right":                      func(int) string { return "" },
	"every second returns":       func(n int) string { return pick(n%2 == 0, Idle) },
	"every odd returns":          func(n int) string { return pick(n%2 == 1, Idle) },
	"all but the first return":   func(n int) string { return pick(n > 1, Idle) },
	"every odd is wrong":         func(n int) string { return pick(n%2 == 1, "gain") },
	"every even is wrong":        func(n int) string { return pick(n%2 == 0, "gain") },
	"one in a hundred is wrong":  func(n int) string { return pick(n%100 == 41, "nan") },
	"one in a hundred returns":   func(n int) string { return pick(n%100 == 99, Idle) },
	"right in the first launch":  func(n int) string { return pick(n > 1, "gain") },
	"right but after two others": func(n int) string { return pick(n > 2, "tile") },
}

func pick(is bool, vice string) string {
	if is {
		return vice
	}
	return ""
}

// Broken is a backend whose launches have a vice. Launches are run one by one.
func Broken(be backend.Backend, vice Vice) backend.Backend { return broken{be, vice} }

type broken struct {
	backend.Backend
	vice Vice
}

func (b broken) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	e, err := backend.Compile(ctx, b.Backend, programs, params)
	if err != nil {
		return nil, err
	}
	return &brokenExecutable{Executable: e, vice: b.vice}, nil
}

type brokenExecutable struct {
	backend.Executable
	vice  Vice
	count int
	fault string // of what the last launch wrote
}

func (e *brokenExecutable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	sum := backend.Sample{Elapsed: 1, Method: "direct"}
	for range launches {
		e.count++
		vice := e.vice(e.count)
		if vice == Idle {
			continue
		}
		s, err := e.Executable.Run(ctx, 1)
		if err != nil {
			return s, err
		}
		e.fault = vice
		s.Elapsed += sum.Elapsed
		sum = s
	}
	return sum, nil
}

// Results are damaged as the last launch would have it.
func (e *brokenExecutable) Results(out ...tile.Tensor) error {
	if err := e.Executable.Results(out...); err != nil || e.fault == "" {
		return err
	}
	return check.Inject(e.fault, out[0])
}
