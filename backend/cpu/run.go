package cpu

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
func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	switch {
	case e.closed:
		return backend.Sample{}, errClosed
	case e.pages == nil:
		return backend.Sample{}, errors.New("cpu: run: nothing was loaded")
	case launches < 1:
		return backend.Sample{}, fmt.Errorf("cpu: run: launches = %d: must be at least 1", launches)
	}
	if err := ctx.Err(); err != nil {
		return backend.Sample{}, err
	}
	e.pool.stopped.Store(false)
	free, err := e.pin()
	if err != nil {
		return backend.Sample{}, fmt.Errorf("cpu: %w", err)
	}
	defer free()
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		e.pool.stopped.Store(true)
		close(left)
	})
	e.pool.stayAwake(true)
	defer e.pool.stayAwake(false)
	err = e.pool.run(func(int) {})
	start := time.Now()
	for l := 0; l < launches && err == nil && !e.pool.stopped.Load(); l++ {
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
	return backend.Sample{Elapsed: elapsed, Method: "direct", Counters: e.counters()}, nil
}

// launch runs every program once.
func (e *executable) launch() error {
	for _, r := range e.runs {
		t := &r.plan.tasks
		for phase := range t.phases() {
			for _, c := range r.caches {
				if c != nil && !c.full {
					c.forget()
				}
			}
			r.queues.deal(t.count(phase))
			r.phase = phase
			began := r.workers[0].now()
			if err := e.pool.run(r.work); err != nil {
				return r.located(err)
			}
			r.waited(began)
			if e.pool.stopped.Load() {
				return nil
			}
		}
	}
	return nil
}

// located says where in the grid a worker was whose panic err is.
func (r *run) located(err error) error {
	var bug *panicError
	if errors.As(err, &bug) {
		return fmt.Errorf("%s: %w", r.workers[bug.member], err)
	}
	return err
}

// part is one worker's part in the current phase; there may be fewer than the pool.
func (r *run) part(member int) {
	if member >= len(r.workers) {
		return
	}
	w := r.workers[member]
	w.come()
	if rtrace.IsEnabled() { // go tool trace shows it by goroutine
		defer rtrace.StartRegion(context.Background(), "matladder "+r.plan.program.Name).End()
	}
	if r.phase == 0 {
		w.enter()
	}
	for !w.pool.over() {
		task, ok := r.queues.next(member)
		if !ok {
			w.leave()
			return
		}
		w.task(r.phase, task)
	}
}

// counters adds up what the workers counted in the last launch.
func (e *executable) counters() backend.Counters {
	var sum backend.Counters
	for _, r := range e.runs {
		for _, w := range r.workers {
			sum.GridSteps += w.counters.GridSteps
			sum.BlocksLoaded += w.counters.BlocksLoaded
			sum.BytesLoaded += w.counters.BytesLoaded
			sum.BytesStored += w.counters.BytesStored
		}
	}
	return sum
}
