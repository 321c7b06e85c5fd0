package harness

import (
	"context"
	"errors"
	"fmt"

	"matladder/backend"
	"matladder/check"
	"matladder/harness/measure"
	"matladder/problem"
)

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
		res, err := l.exe.Check(ctx, backend.CheckSpec{InputSpec: r.inputs(l.Problem), Fault: fault})
		switch {
		case err != nil:
			return fmt.Errorf("fault %q: %w", fault, err)
		case res.OK:
			return fmt.Errorf("fault %q passes as right (err/bound %.3g): the check is broken, nothing can be measured", fault, res.ErrOverBound)
		}
	}
	return nil
}
