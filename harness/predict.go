package harness

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"matladder/backend"
	"matladder/check"
	"matladder/results"
)

// cannotPredict is what is said of a backend that is no backend.Predictor.
const cannotPredict = "cannot predict"

// predict predicts every point that has no row yet: one row a point, the rows of a group written
// together, groups in the order of the sweep. Nothing is run, so there is nothing to verify, to
// repeat or to shuffle; the time budget, which ends rounds, has none to end.
func (r *run) predict(ctx context.Context, done map[results.PointKey]*past) error {
	if _, err := backend.As[backend.Predictor](r.opt.Backend, cannotPredict); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	groups := make(chan []chan results.Record, 2) // the next is at work while one is written
	var workers sync.WaitGroup
	defer workers.Wait()
	workers.Go(func() {
		defer close(groups)
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for _, g := range r.sweep.Groups {
			var rows []chan results.Record
			var missing []*candidate
			for _, l := range r.candidates(g, done) {
				if l.rounds == 0 {
					missing, rows = append(missing, l), append(rows, make(chan results.Record, 1))
				}
			}
			select {
			case groups <- rows:
			case <-ctx.Done():
				return
			}
			for i, l := range missing {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				workers.Go(func() {
					rows[i] <- r.prediction(ctx, l)
					<-slots
				})
			}
		}
	})
	number := 0
	for waiting := range groups {
		if err := r.written(ctx, number, waiting); err != nil {
			cancel() // ends the workers
			return err
		}
		number++
	}
	return ctx.Err()
}

// written waits for the rows of a group and writes them.
func (r *run) written(ctx context.Context, number int, waiting []chan results.Record) error {
	n := len(r.sweep.Groups)
	e := Event{Group: number + 1, Groups: n, Problem: r.sweep.Groups[number].Problem}
	at := func(part float64) float64 { return (float64(number) + part) / float64(n) }
	var rows []results.Record
	for i, c := range waiting {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case row := <-c:
			rows = append(rows, row)
		}
		turn := e
		turn.Kernel, turn.Done = rows[i].Kernel, at(float64(i+1)/float64(len(waiting)))
		r.observe(turn)
	}
	if ctx.Err() != nil { // a row may say no more than that
		return ctx.Err()
	}
	if err := r.append(rows); err != nil {
		return err
	}
	e.Rows, e.Round, e.Complete, e.Done = rows, 1, true, at(1)
	r.observe(e)
	return nil
}

// prediction is the row of one point.
func (r *run) prediction(ctx context.Context, l *candidate) results.Record {
	if l.Status != "" {
		return l.because(0, l.Status, l.Reason)
	}
	row := l.row
	begin := r.now()
	var p backend.Prediction
	_, err := r.limits().Call(ctx, "compilation", func(ctx context.Context) (err error) {
		b, _ := l.on(&r.opt)
		p, err = l.predict(ctx, b, l.Point, l.programs)
		return err
	})
	row.CompileSeconds = r.now().Sub(begin).Seconds()
	if err != nil {
		row.Status, row.Reason = classify(err), err.Error()
		if row.Status == results.TooBig { // an answer; after others p may still be written
			row.MemoryBytes = p.MemoryBytes
		}
		return row
	}
	row.Method = results.Method(p.Method)
	row.Status, row.Seconds, row.MemoryBytes = results.OK, p.Elapsed.Seconds(), p.MemoryBytes
	row.SecondsLow, row.SecondsHigh = p.Low.Seconds(), p.High.Seconds()
	if reason := r.judge(ctx, &row, l.Point, row.Seconds); reason != "" {
		row.Status, row.Reason = results.Impossible, reason
	} else {
		r.confirmHere(ctx, l, &row)
	}
	return row
}

// confirmHere has this machine compute what was predicted, if it can, and looks at the output as a
// round does: on an exact probe, and on the sweep's own inputs. The row says what came of it.
func (r *run) confirmHere(ctx context.Context, l *candidate, row *results.Record) {
	b, _ := l.on(&r.opt)
	v, ok := b.(backend.Verifiable)
	if !ok {
		return
	}
	r.verifying.Lock() // all cores are its own
	defer r.verifying.Unlock()
	p, how := l.Problem, ""
	exe, err := r.limits().Open(ctx, nil, r.references, func(ctx context.Context) (e backend.Executable, err error) {
		e, p, how, err = v.OnHost(ctx, backend.ProblemSpec{Problem: l.Problem, Variant: l.Variant})
		return e, err
	})
	defer exe.Close()
	spec := r.inputs(l.Point)
	spec.Problem = p
	dists := []string{spec.Dist}
	if check.HasExact(p) {
		dists = []string{check.Exact, spec.Dist}
	}
	for _, spec.Dist = range dists {
		if err == nil {
			err = exe.Load(ctx, spec)
		}
		if err == nil {
			_, err = exe.Launch(ctx, 1)
		}
		if err != nil {
			row.Verified = notVerified(err)
			return
		}
		res, failed := exe.Check(ctx, backend.CheckSpec{InputSpec: spec})
		if err = failed; err == nil && !res.OK {
			row.Status, row.Reason = results.Wrong, fmt.Sprintf("%s, by %s", res.Detail, how)
		}
	}
	if row.Verified = how; p != l.Problem {
		row.Verified += " at " + p.String()
	}
	if err != nil {
		row.Verified = notVerified(err)
	}
}

// notVerified is what a row says in place of how its output was verified.
func notVerified(why error) string {
	return "no: " + strings.TrimSuffix(why.Error(), ": "+backend.ErrUnsupported.Error())
}
