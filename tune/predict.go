package tune

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"matladder/backend"
	"matladder/tile"
	"matladder/tuned"
)

// predict compiles all candidates ahead of time, as many at once as there are
// cores, and takes the fastest.
func (t *Tuner) predict(ctx context.Context, p backend.Predictor, list []Candidate) (tile.Blocks, tuned.Evidence, error) {
	type answer struct {
		seconds float64
		err     error
	}
	answers := make([]answer, len(list))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				prediction, err := p.Predict(ctx, list[i].Programs, t.Params)
				answers[i] = answer{prediction.Elapsed.Seconds(), err}
				mu.Lock()
				done++
				t.observe(Event{Candidates: len(list), Screened: done, Racing: len(list)})
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return tile.Blocks{}, tuned.Evidence{}, err
	}
	best := -1
	var last error
	for i, a := range answers {
		switch {
		case a.err != nil:
			last = a.err
		case best < 0 || a.seconds < answers[best].seconds:
			best = i
		}
	}
	if best < 0 {
		return tile.Blocks{}, tuned.Evidence{}, fmt.Errorf("%w: %w", ErrNone, last)
	}
	tried := map[tile.Blocks]float64{}
	for i, a := range answers {
		if a.err == nil {
			tried[list[i].Blocks] = round(a.seconds / answers[best].seconds)
		}
	}
	winner := list[best].Blocks
	seconds := answers[best].seconds
	e := tuned.Evidence{Mode: tuned.Predicted, Seconds: seconds, Low: seconds, High: seconds, Tried: tried}
	e.RunnerUp, e.Behind = runnerUp(winner, tried)
	return winner, e, nil
}
