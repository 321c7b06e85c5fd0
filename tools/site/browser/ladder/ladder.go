// Package ladder times products of the CPU backend on one thread where a page calls it: the five
// rungs, or the steps of package anatomy that need no assembly.
//
//  1. New lists the rows of a ladder.
//  2. Prepare compiles one, verifies its output against float64 arithmetic, and finds how many
//     launches make a sample that the clock of a browser can time.
//  3. Sample times one row once more. Whoever calls has rows take turns.
//
// Each call is short, so that its caller can stop between two.
package ladder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/kernels"
	"matladder/model/anatomy"
	"matladder/problem"
	"matladder/stats/interval"
	"matladder/tile"
)

// shortest is how long a sample lasts at least, and ticks how many steps of the clock.
const (
	shortest = 40 * time.Millisecond
	ticks    = 50
)

// A Row is a rung or a step, and what is known of its time by now.
type Row struct {
	Name, Idea string
	Blocks     string
	Missing    string // why it is not measured; "" where it is
	Verified   bool
	Launches   int // in a sample
	Samples    int
	Seconds    float64 // of a launch, the median
	Spread     float64 // how far its interval reaches, as a fraction
	GFLOPs     float64
	Low, High  float64 // of that, by the interval
	Over       float64 // how many times as fast as the first row, in pairs
}

// A Ladder is what is timed in turns.
type Ladder struct {
	Rows []Row
	Tick float64 // seconds between two readings of the clock that differ

	problem problem.Matmul
	cpu     *cpu.Backend
	seeded  *seeded.References
	least   time.Duration // of a sample
	entries []entry
}

type entry struct {
	kernel  kernels.Kernel
	blocks  []tile.Blocks // of which the fastest counts
	params  backend.Params
	exe     backend.Seeded // nil until it is prepared
	samples []float64
}

// New lists the rows: the rungs, or with steps those of package anatomy. Products are
// of matrices of size × size float32.
func New(size int, steps bool) (*Ladder, error) {
	b, err := cpu.Open(cpu.Options{Threads: 1, ISA: "generic", Nominal: true, NoProbe: true})
	if err != nil {
		return nil, err
	}
	p := problem.New(size, size, size, tile.Float32)
	l := &Ladder{problem: p, cpu: b, seeded: seeded.Keep(1, true)}
	step := tick()
	l.Tick, l.least = step.Seconds(), max(shortest, ticks*step)
	machine := problem.Machine{Parallel: 1}
	if !steps {
		for _, k := range kernels.Ladder(p.Family())[:5] {
			l.Rows = append(l.Rows, Row{Name: k.Name()})
			l.entries = append(l.entries, entry{kernel: k, blocks: k.Candidates(p, machine)})
		}
		return l, nil
	}
	v4, err := kernels.Find("v4")
	if err != nil {
		return nil, err
	}
	for i, s := range anatomy.Steps[:anatomy.Threads] {
		e := entry{kernel: v4, params: backend.Params{Extra: map[string]string{anatomy.Param: s.Word}}}
		if e.blocks = []tile.Blocks{{M: size, K: size, N: size}}; i == anatomy.Blocking {
			e.blocks = v4.Candidates(p, machine)
		}
		l.Rows, l.entries = append(l.Rows, Row{Name: s.Name, Idea: s.Idea}), append(l.entries, e)
	}
	return l, nil
}

// tick is a step of the clock, which browsers make longer than it is.
func tick() (least time.Duration) {
	least = time.Second
	for range 5 {
		begin := time.Now()
		for time.Since(begin) == 0 {
		}
		least = min(least, time.Since(begin))
	}
	return least
}

// Prepare makes a row ready, or says in Missing why there is none.
func (l *Ladder) Prepare(ctx context.Context, i int) (Row, error) {
	r, e := &l.Rows[i], &l.entries[i]
	fastest := math.Inf(1)
	for _, blocks := range e.blocks {
		exe, seconds, err := l.open(ctx, e, blocks)
		if errors.Is(err, backend.ErrUnsupported) {
			r.Missing = "a routine in assembly: here all is Go"
			return *r, nil
		} else if err != nil {
			return *r, fmt.Errorf("%s: %w", r.Name, err)
		}
		if seconds >= fastest {
			exe.Close()
			continue
		}
		if e.exe != nil {
			e.exe.Close()
		}
		fastest, e.exe, r.Blocks = seconds, exe, blocks.String()
	}
	r.Verified = true
	r.Launches = int(math.Ceil(l.least.Seconds() / fastest))
	return *r, nil
}

// open compiles and verifies, and returns how long a launch takes.
func (l *Ladder) open(ctx context.Context, e *entry, blocks tile.Blocks) (exe backend.Seeded, seconds float64, err error) {
	programs, err := e.kernel.Build(l.problem, "", blocks)
	if err != nil {
		return nil, 0, err
	}
	compiled, err := l.cpu.Compile(ctx, programs, e.params)
	if err != nil {
		return nil, 0, err
	}
	exe = seeded.Of(compiled, programs, l.seeded)
	defer func() {
		if err != nil {
			exe.Close()
		}
	}()
	spec := backend.InputSpec{Problem: l.problem, Seed: 1, Dist: check.Uniform}
	if err = exe.LoadSeeded(ctx, spec); err != nil {
		return nil, 0, err
	}
	if err = exe.Poison(ctx); err != nil {
		return nil, 0, err
	}
	if _, err = exe.Run(ctx, 1); err != nil {
		return nil, 0, err
	}
	checked, err := exe.Check(ctx, backend.CheckSpec{InputSpec: spec})
	if err == nil && !checked.OK {
		err = fmt.Errorf("its output is wrong: %s", checked.Detail)
	}
	if err != nil {
		return nil, 0, err
	}
	// A browser compiles what runs often once more, in the background: early launches do not count.
	for n, calm := 1, 0; calm < 2; {
		s, err := exe.Run(ctx, n)
		if err != nil {
			return nil, 0, err
		}
		last := seconds
		seconds = s.Elapsed.Seconds() / float64(n)
		switch {
		case s.Elapsed < l.least/2:
			n *= 2
		case seconds > 0.95*last:
			calm++
		default:
			calm = 0
		}
	}
	return exe, seconds, nil
}

// Sample times a row that is prepared once more.
func (l *Ladder) Sample(ctx context.Context, i int) (Row, error) {
	r, e := &l.Rows[i], &l.entries[i]
	if e.exe == nil {
		return *r, fmt.Errorf("%s is not prepared", r.Name)
	}
	s, err := e.exe.Run(ctx, r.Launches)
	if err != nil {
		return *r, fmt.Errorf("%s: %w", r.Name, err)
	}
	e.samples = append(e.samples, s.Elapsed.Seconds()/float64(r.Launches))
	in := interval.Of(e.samples)
	r.Samples, r.Seconds, r.Spread = in.N, in.Median, in.Spread()
	work := float64(l.problem.FLOPs()) / 1e9
	r.GFLOPs, r.Low, r.High = work/in.Median, work/in.Hi, work/in.Lo
	r.Over = interval.OfRatios(l.entries[0].samples, e.samples).Median
	return *r, nil
}

// Close frees the arrays.
func (l *Ladder) Close() error {
	var errs []error
	for _, e := range l.entries {
		if e.exe != nil {
			errs = append(errs, e.exe.Close())
		}
	}
	return errors.Join(append(errs, l.cpu.Close())...)
}
