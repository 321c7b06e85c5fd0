package tune

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/stats/interval"
	"matladder/tile"
)

// TestBudget: with little time a row says so, with too little there is none, and a
// job that may have more than its share takes what a row that is worth keeping needs.
func TestBudget(t *testing.T) {
	search := func(budget, most time.Duration) (tuned.Evidence, *fake, time.Duration, error) {
		f := newFake(valley)
		u := tuner(f)
		u.Space.Most, u.Budget, u.AtMost = 1000, budget, most
		begin := f.clock
		row, err := u.Tune(context.Background(), job(4096))
		if f.open != 0 {
			t.Errorf("%v: %d executables left open", budget, f.open)
		}
		return row.Evidence, f, f.clock.Sub(begin), err
	}
	whole, _, _, err := search(0, 0)
	if err != nil || whole.Ended != tuned.ByEvidence || whole.Launched < 300 || whole.Candidates < whole.Launched {
		t.Errorf("%v %+v", err, whole)
	}
	var short *ShareError
	if _, f, _, err := search(time.Second, 0); !errors.As(err, &short) || len(f.runs) != 1 {
		t.Fatalf("%v, %d launched", err, len(f.runs))
	}
	if short.Needed < time.Second || short.Needed > 10*time.Second || short.Have != time.Second {
		t.Errorf("%+v", short)
	}
	for _, budget := range []time.Duration{time.Second, 2 * short.Needed} {
		e, f, took, err := search(budget, short.Needed)
		if err != nil || e.Ended != tuned.ByBudget || e.Launched != len(f.runs) || e.Launched < 5+leastOthers || e.Candidates != whole.Candidates || e.Samples < interval.Enough {
			t.Errorf("%v: %v, %d launched: %+v", budget, err, len(f.runs), e)
		}
		if took > 3*max(budget, short.Needed)/2 {
			t.Errorf("%v: took %v", budget, took)
		}
	}
	if e, _, _, err := search(time.Hour, 0); err != nil || e.Ended != tuned.ByEvidence || e.Launched != whole.Launched {
		t.Errorf("an hour is not enough: %v %+v", err, e)
	}
}

// slowly predicts in a second each.
type slowly struct {
	predictor
	mu *sync.Mutex
}

func (s slowly) Predict(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Prediction, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = s.clock.Add(time.Second)
	return s.predictor.Predict(ctx, programs, params)
}

// TestBudget_Predict: what is given is compiled whatever the time, others while it
// lasts; no job is begun that has too little.
func TestBudget_Predict(t *testing.T) {
	var mu sync.Mutex
	search := func(budget time.Duration) (tuned.Evidence, error) {
		f := newFake(valley)
		u := tuner(f)
		u.now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return f.clock
		}
		u.Backend, u.Space.Most, u.Budget = slowly{predictor{f}, &mu}, 1000, budget
		row, err := u.Tune(context.Background(), job(4096))
		return row.Evidence, err
	}
	whole, err := search(0)
	if err != nil || whole.Ended != tuned.ByEvidence || whole.Launched < 100 {
		t.Fatalf("%v %+v", err, whole)
	}
	e, err := search(time.Minute)
	if err != nil || e.Ended != tuned.ByBudget || e.Launched < 5+leastOthers || e.Launched >= whole.Launched || e.Candidates != whole.Candidates {
		t.Errorf("%v %+v", err, e)
	}
	var short *ShareError
	if _, err := search(time.Second / 2); !errors.As(err, &short) {
		t.Error(err)
	}
}
