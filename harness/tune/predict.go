package tune

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"matladder/backend"
	"matladder/harness/tuned"
	"matladder/tile"
)

// predict compiles candidates ahead of time, as many at once as there are cores, those
// that are given first and others while there is time, and takes the fastest.
func (t *Tuner) predict(ctx context.Context, p backend.Predictor, j Job, list []Candidate, a *allowance) (tile.Blocks, tuned.Evidence, error) {
	type answer struct {
		seconds float64
		err     error
	}
	list = givenFirst(list)
	answers := make([]answer, len(list))
	var mu sync.Mutex
	done := 0
	try := func(i int) {
		prediction, err := p.Predict(ctx, list[i].Programs, t.params(list[i]))
		mu.Lock()
		if err == nil {
			err = t.possible(ctx, j.Problem, prediction.Elapsed.Seconds())
		}
		if answers[i] = (answer{prediction.Elapsed.Seconds(), err}); err != nil && ctx.Err() == nil {
			t.drop(t.racer(list[i]), err)
		}
		done++
		t.observe(Event{Candidates: len(list), Screened: done, Racing: len(list)})
		mu.Unlock()
	}
	given, workers := countGiven(list), min(len(list), runtime.GOMAXPROCS(0))
	if a.budget > 0 { // the first says how long one takes
		try(0)
		turns := tile.Ceil(min(len(list), given+leastOthers)-1, workers)
		if err := a.claim(t.clock().Sub(a.begin) * time.Duration(1+turns)); err != nil {
			return tile.Blocks{}, tuned.Evidence{}, err
		}
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				try(i)
			}
		})
	}
	for i := done; i < len(list) && (i < given || !a.over(1)); i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return tile.Blocks{}, tuned.Evidence{}, err
	}
	best := -1
	var last error
	answers = answers[:done]
	for i, x := range answers {
		switch {
		case x.err != nil:
			last = x.err
		case best < 0 || x.seconds < answers[best].seconds:
			best = i
		}
	}
	if best < 0 {
		return tile.Blocks{}, tuned.Evidence{}, fmt.Errorf("%w: %w", ErrNone, last)
	}
	tried := map[tile.Blocks]float64{}
	for i, x := range answers {
		if x.err == nil {
			tried[list[i].Blocks] = round(x.seconds / answers[best].seconds)
		}
	}
	winner := list[best].Blocks
	seconds := answers[best].seconds
	e := tuned.Evidence{Mode: tuned.Predicted, Seconds: seconds, Low: seconds, High: seconds, Tried: tried, Launched: len(tried)}
	e.RunnerUp, e.Behind = runnerUp(winner, tried)
	return winner, e, nil
}
