package main

import (
	"context"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/tile"
)

// meter is a backend that adds up what launches on it take. It is no backend.Adjuster, on
// purpose: audits compare block shapes.
type meter struct {
	backend.Backend
	spent map[*tile.Program]time.Duration // of all launches, by the first program

	references seeded.References
}

func newMeter(b backend.Backend) *meter {
	return &meter{Backend: b, spent: map[*tile.Program]time.Duration{}}
}

// total is the time of all launches, warm-ups included.
func (m *meter) total() (sum time.Duration) {
	for _, d := range m.spent {
		sum += d
	}
	return sum
}

// Compile returns an executable whose launches are added up.
func (m *meter) Compile(ctx context.Context, programs []*tile.Program, p backend.Params) (backend.Executable, error) {
	exe, err := backend.Compile(ctx, m.Backend, programs, p)
	if err != nil {
		return nil, err
	}
	return &metered{seeded.Of(exe, programs, &m.references), m, programs[0]}, nil
}

// metered is an executable of a meter.
type metered struct {
	backend.Seeded
	m       *meter
	program *tile.Program
}

func (e *metered) Run(ctx context.Context, launches int) (backend.Sample, error) {
	s, err := e.Seeded.Run(ctx, launches)
	e.m.spent[e.program] += s.Elapsed
	return s, err
}
