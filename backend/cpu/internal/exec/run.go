package exec

import (
	"context"
	"errors"
	"fmt"
	rtrace "runtime/trace"
	"time"

	"matladder/backend"
)

// Run executes launches. Only they are timed: the workers are awake and waiting
// when the clock starts.
func (e core) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if err := ctx.Err(); err != nil {
		return backend.Sample{}, err
	}
	e.Pool.stopped.Store(false)
	free, err := e.pin()
	if err != nil {
		return backend.Sample{}, fmt.Errorf("cpu: %w", err)
	}
	defer free()
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		e.Pool.stopped.Store(true)
		close(left)
	})
	e.Pool.StayAwake(true)
	defer e.Pool.StayAwake(false)
	err = e.Pool.Run(func(int) {})
	start := time.Now()
	for l := 0; l < launches && err == nil && !e.Pool.stopped.Load(); l++ {
		err = e.launch()
	}
	elapsed := time.Since(start)
	if !stop() {
		<-left
		if err == nil {
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return backend.Sample{}, fmt.Errorf("cpu: run: %w", err)
	}
	return backend.Sample{Elapsed: elapsed, Method: "direct", Counters: e.Counters()}, nil
}

// launch runs every program once.
func (e *Executable) launch() error {
	for _, r := range e.Runs {
		if r.Replays {
			if err := e.Pool.Run(r.work); err != nil {
				return r.located(err)
			}
			continue
		}
		r.startTape()
		t := &r.Plan.Tasks
		for phase := range t.Phases() {
			for _, c := range r.caches {
				if c != nil && !c.full {
					c.forget()
				}
			}
			if len(r.Queues) > 1 {
				r.Queues.Deal(t.Count(phase))
			}
			r.phase = phase
			began := r.Workers[0].now()
			if err := e.Pool.Run(r.work); err != nil {
				return r.located(err)
			}
			r.waited(began)
			if e.Pool.stopped.Load() {
				return nil
			}
		}
		r.endTape()
	}
	return nil
}

// located says where in the grid a worker was whose panic err is.
func (r *Run) located(err error) error {
	var bug *panicError
	if errors.As(err, &bug) {
		return fmt.Errorf("%s: %w", r.Workers[bug.member], err)
	}
	return err
}

// part is one worker's part in the current phase; there may be fewer than the pool.
func (r *Run) part(member int) {
	if member >= len(r.Workers) {
		return
	}
	w := r.Workers[member]
	w.come()
	if rtrace.IsEnabled() { // go tool trace shows it by goroutine
		defer rtrace.StartRegion(context.Background(), "matladder "+r.Plan.Program.Name).End()
	}
	if r.Replays {
		w.replay()
		return
	}
	if r.phase == 0 {
		w.enter()
	}
	if len(r.Queues) == 1 { // nobody to share with
		for task := range r.Plan.Tasks.Count(r.phase) {
			if w.pool.over() {
				return
			}
			w.task(r.phase, task)
		}
		w.leave()
		return
	}
	for !w.pool.over() {
		task, ok := r.Queues.next(member, !w.Taping)
		if !ok {
			w.leave()
			return
		}
		w.task(r.phase, task)
	}
}

// Counters adds up what the workers counted in the last launch.
func (e *Executable) Counters() backend.Counters {
	var sum backend.Counters
	for _, r := range e.Runs {
		for _, w := range r.Workers {
			sum.GridSteps += w.Counters.GridSteps
			sum.BlocksLoaded += w.Counters.BlocksLoaded
			sum.BytesLoaded += w.Counters.BytesLoaded
			sum.BytesStored += w.Counters.BytesStored
		}
	}
	return sum
}
