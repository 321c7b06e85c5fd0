package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/harness/measure"
	"matladder/machine"
	"matladder/problem"
)

// wrongError is an output that is not what it must be, found outside of the repetitions
// of a round.
type wrongError struct{ detail string }

func (e *wrongError) Error() string { return e.detail }

// prove runs a candidate that has just been compiled on an exact probe, before anything is
// measured: each element must be what it must be. A family without such probes is looked at as
// often on the sweep's own inputs. Meanwhile it finds how many launches make a repetition.
func (r *run) prove(ctx context.Context, l *candidate) error {
	spec := r.inputs(l.Point)
	switch {
	case check.HasExact(l.Problem):
		spec.Dist = check.Exact
	case check.HasExactFamily(l.Problem):
		return nil
	default:
		spec.Dist = check.Telling(spec.Dist)
	}
	if err := l.exe.Load(ctx, spec); err != nil {
		return err
	}
	if err := r.look(ctx, l, spec, 1); err != nil {
		return err
	}
	if err := l.exe.Poison(ctx); err != nil {
		return err
	}
	if err := r.calibrate(ctx, l); err != nil {
		return err
	}
	looks := l.looks(r.sweep.Device)
	if err := r.confirm(ctx, l, spec); err != nil || looks == 0 {
		return err
	}
	for range looks {
		if err := r.look(ctx, l, spec, 1); err != nil {
			return err
		}
	}
	for trips := 2; l.counts.Longer > 0 && trips < 6; trips++ {
		if err := r.look(ctx, l, spec, trips+r.rng.IntN(2)); err != nil {
			return err
		}
	}
	return nil
}

// Of brief launches, mostLooks are looked at one after another: what goes wrong in one of a
// hundred is found among them. Of longer ones, as many as take about looksTake. A launch of
// little work is brief however long it took, so that a busy machine does not see less of it.
const (
	briefLaunch = 250 * time.Microsecond
	briefFLOPs  = 1 << 19 // of 64×64×64
	mostLooks   = 104
	looksTake   = 20 * time.Millisecond
	lookBytes   = 256 << 20 // of arrays that all looks together bring from a device's own memory, about
)

// looks is how many launches of a calibrated candidate are looked at; none of those that are
// repetitions of their own, which are verified in each round. What a device has in memory of
// its own takes longer to bring here and to verify than to launch: fewer of large outputs.
func (l *candidate) looks(d machine.Device) int {
	switch {
	case l.counts.Each <= briefLaunch, l.Problem.FLOPs() <= briefFLOPs:
		if d.Kind == machine.CPU {
			return mostLooks
		}
		return int(max(2, min(mostLooks, lookBytes/l.bytes)))
	case l.counts.Each >= measure.LongestSettling:
		return 0
	}
	return max(2, int(looksTake/l.counts.Each))
}

// look verifies what the last of a few launches writes to an output that nothing was
// left in before them.
func (r *run) look(ctx context.Context, l *candidate, spec backend.InputSpec, launches int) error {
	if err := r.alone(ctx, l, launches); err != nil {
		return err
	}
	return r.confirm(ctx, l, spec)
}

// alone runs launches on a poisoned output.
func (r *run) alone(ctx context.Context, l *candidate, launches int) error {
	if err := l.exe.Poison(ctx); err != nil {
		return err
	}
	_, err := l.exe.Launch(ctx, launches)
	return err
}

// single leaves, at random, what the last repetition wrote, or lets one launch rewrite
// it behind none to three others: a backend cannot tell which launch is verified.
// Long launches are repetitions of their own, which are verified in each round.
func (r *run) single(ctx context.Context, l *candidate) error {
	if l.counts.Each >= measure.LongestSettling || r.rng.IntN(2) == 0 {
		return nil
	}
	if l.exe.Guest() != nil {
		return r.alone(ctx, l, l.stop())
	}
	if ahead := r.rng.IntN(4); ahead > 0 {
		if _, err := l.exe.Launch(ctx, ahead); err != nil {
			return err
		}
	}
	launches := 1
	if l.counts.Longer > 0 {
		launches += r.rng.IntN(4) // of a loop in one program
	}
	return r.alone(ctx, l, launches)
}

// varied adds a launch to many, or none: which of them is the last is not to be known.
func (r *run) varied(l *candidate, launches int) int {
	if l.exe.Guest() != nil {
		return launches + l.upTo(launches)
	}
	if l.counts.Longer > 0 || launches < 4 {
		return launches
	}
	return launches + r.rng.IntN(2)
}

// confirm verifies the output of a probe. What cannot be verified here cannot be after a
// round either, whose rows will say so.
func (r *run) confirm(ctx context.Context, l *candidate, spec backend.InputSpec) error {
	res, err := l.exe.Check(ctx, backend.CheckSpec{InputSpec: spec})
	if err == nil && !res.OK {
		return &wrongError{res.Detail}
	}
	if gone, ok := errors.AsType[*backend.CrashError](err); ok {
		return gone
	}
	return ctx.Err()
}

// testCheck damages an output in each known way, once for each kind of operands
// of the sweep, and returns an error unless the check calls each wrong: a check
// that lets them pass would vouch for anything.
func (r *run) testCheck(ctx context.Context) error {
	tested := map[problem.Problem]bool{}
	for _, c := range r.sweep.Config.sweeps() {
		for _, asked := range c.Asked {
			p := c.Family.Make(c.Family.Sample, asked)
			if tested[p] {
				continue
			}
			tested[p] = true
			if err := r.testOperands(ctx, c, p); err != nil {
				return fmt.Errorf("self-test of the check on %s: %w", asked, err)
			}
		}
	}
	return nil
}

// testOperands uses the first kernel of a sweep that runs on p. If none does,
// there will be nothing to verify either.
func (r *run) testOperands(ctx context.Context, c Config, p problem.Problem) error {
	c.Blocks = nil
	for _, number := range c.Kernels {
		for _, point := range points(p, number, c, r.sweep.Device, r.sweep.Params) {
			if point.Status != "" {
				continue
			}
			point.Inputs = check.Telling(r.sweep.Config.Inputs[0])
			l := &candidate{Point: point, bytes: point.bytes(), counts: measure.Counts{Launches: 1}}
			if l.prepare(); l.Status != "" || len(l.programs) == 0 { // of others than kernels nothing may be open
				continue
			}
			if err := r.open(ctx, l); err == nil {
				return errors.Join(r.injectAll(ctx, l), l.exe.Close())
			} else if ctx.Err() != nil {
				return errors.Join(ctx.Err(), l.exe.Close())
			}
			if err := l.exe.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// injectAll runs the candidate once and expects each fault to be found.
func (r *run) injectAll(ctx context.Context, l *candidate) error {
	if _, err := l.exe.Launch(ctx, 1); err != nil {
		return ctx.Err() // the sweep will say what is wrong with it
	}
	for _, fault := range check.FaultsOf(l.Problem) {
		res, err := l.exe.Check(ctx, backend.CheckSpec{InputSpec: r.inputs(l.Point), Fault: fault})
		switch {
		case err != nil:
			return fmt.Errorf("fault %q: %w", fault, err)
		case res.OK:
			return fmt.Errorf("fault %q passes as right (err/bound %.3g): the check is broken, nothing can be measured", fault, res.ErrOverBound)
		}
	}
	return nil
}
