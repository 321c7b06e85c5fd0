package harness

import (
	"context"
	"fmt"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/measure"
	"matladder/results"
)

// Where a sweep asks for cold caches, each launch of a repetition is timed alone, behind
// one pass that puts all of its memory out of the caches.

// mostColdLaunches bounds those of a repetition: putting memory out of the caches takes
// longer than a small launch.
const mostColdLaunches = 32

// ParseCache reads what launches find in the caches: warm or cold.
func ParseCache(s string) (string, error) {
	switch s {
	case "warm":
		return "", nil
	case results.Cold:
		return s, nil
	}
	return "", fmt.Errorf("unknown %q (known: warm, cold)", s)
}

// CanCool reports why a backend cannot have its launches find cold caches; nil if it can.
func CanCool(b backend.Backend) error {
	_, err := coolerOf(b)
	return err
}

func coolerOf(b backend.Backend) (backend.Cooler, error) {
	return backend.As[backend.Cooler](b, "cannot put operands out of the caches")
}

// timed runs the launches of a repetition and returns with their time what became of the
// machine while they ran.
func (r *run) timed(ctx context.Context, l *lane, launches int) (s backend.Sample, meanwhile results.Record, err error) {
	if r.sweep.Config.Cache != results.Cold {
		from := r.watch.Glance()
		if s, err = r.launch(ctx, l, launches); err != nil {
			return s, meanwhile, err
		}
		return s, measure.Since(from, r.watch.Glance()), nil
	}
	for range launches {
		if err = r.cool(ctx, l); err != nil {
			return s, meanwhile, err
		}
		from := r.watch.Glance()
		one, err := r.launch(ctx, l, 1)
		if err != nil {
			return s, meanwhile, err
		}
		some := measure.Since(from, r.watch.Glance())
		one.Elapsed += s.Elapsed
		s = one
		meanwhile.WaitedSeconds = plus(meanwhile.WaitedSeconds, some.WaitedSeconds)
		for _, of := range []func(*results.Record) *results.Optional[int64]{
			func(r *results.Record) *results.Optional[int64] { return &r.Switches },
			func(r *results.Record) *results.Optional[int64] { return &r.Cycles },
			func(r *results.Record) *results.Optional[int64] { return &r.Instructions },
			func(r *results.Record) *results.Optional[int64] { return &r.L2Misses },
			func(r *results.Record) *results.Optional[int64] { return &r.L3Misses },
			func(r *results.Record) *results.Optional[int64] { return &r.DTLBMisses },
		} {
			*of(&meanwhile) = plus(*of(&meanwhile), *of(&some))
		}
	}
	return s, meanwhile, nil
}

func plus[T int64 | float64](a, b results.Optional[T]) results.Optional[T] {
	return results.Optional[T]{Value: a.Value + b.Value, Known: a.Known || b.Known}
}

// cool puts the memory of a lane out of the caches.
func (r *run) cool(ctx context.Context, l *lane) error {
	b, _ := l.on(&r.opt)
	cooler, err := coolerOf(b)
	if err != nil {
		return err
	}
	_, err = r.limits().Call(ctx, "putting operands out of the caches", func(ctx context.Context) error { return cooler.Cool(ctx, seeded.Inner(l.exe)) })
	return err
}
