package tune

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"matladder/backend"
)

const (
	glance      = 2000 * time.Microsecond // of the sample by which a candidate is let into the race
	sampleTime  = 8 * time.Millisecond    // of other samples: until clock, dispatch and a cold start no longer matter
	maxLaunches = 1 << 16                 // of a sample

	shortestPart = 1000 * time.Microsecond // of a sample
	mostParts    = 4
)

// racer is a candidate in the race.
type racer struct {
	Candidate
	params  backend.Params
	exe     backend.Executable
	opening time.Duration // that it took to be opened the last time
	fastest float64       // seconds of a launch in the fastest sample yet: says how many launches a sample takes
	first   float64       // time in the screening, or the race of adjustments, over the reference's
	times   []float64     // seconds of a launch, one a round
}

// racer is that of a candidate compiled with the tuner's parameters.
func (t *Tuner) racer(c Candidate) *racer { return &racer{Candidate: c, params: t.Params} }

func (t *Tuner) field(list []Candidate) []*racer {
	var field []*racer
	for _, c := range list {
		field = append(field, t.racer(c))
	}
	return field
}

// open compiles and loads a racer and warms it up. The first time it also finds how
// long a launch takes.
func (t *Tuner) open(ctx context.Context, j Job, r *racer) (err error) {
	begin := t.clock()
	if r.exe, err = t.Backend.Compile(ctx, r.Programs, r.params); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.exe.Close()
			r.exe = nil
		}
		r.opening = t.clock().Sub(begin)
	}()
	if err = r.exe.LoadSeeded(ctx, t.inputs(j)); err != nil {
		return err
	}
	known := r.fastest > 0
	for n := 1; ; n = min(4*n, maxLaunches) {
		s, err := r.exe.Run(ctx, n)
		if err != nil {
			return err
		}
		if known {
			_, err = r.sample(ctx, sampleTime/16)
			return err
		}
		if r.fastest = s.Elapsed.Seconds() / float64(n); s.Elapsed >= glance/4 || n == maxLaunches {
			return nil
		}
	}
}

// firstThatRuns returns the first of the candidates that can be launched, those that
// are given before others, open.
func (t *Tuner) firstThatRuns(ctx context.Context, j Job, list []Candidate) (*racer, error) {
	var last error
	for _, c := range givenFirst(list) {
		r := t.racer(c)
		if last = t.open(ctx, j, r); last == nil {
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("%w: %w", ErrNone, last)
}

// shut closes a racer's executable, if it is open.
func (r *racer) shut() {
	if r.exe != nil {
		r.exe.Close()
		r.exe = nil
	}
}

// sample times as many launches as take about d, in parts, and returns the seconds of
// one in the lower of the middle parts: another process that runs for a time slice
// spoils a part, not the sample.
func (r *racer) sample(ctx context.Context, d time.Duration) (float64, error) {
	n := maxLaunches
	if want := math.Ceil(d.Seconds() / r.fastest); want < maxLaunches {
		n = max(1, int(want))
	}
	parts := make([]float64, min(n, max(1, min(mostParts, int(d/shortestPart)))))
	for i := range parts {
		launches := (n*(i+1))/len(parts) - (n*i)/len(parts)
		s, err := r.exe.Run(ctx, launches)
		if err != nil {
			return 0, err
		}
		parts[i] = s.Elapsed.Seconds() / float64(launches)
	}
	slices.Sort(parts)
	seconds := parts[(len(parts)-1)/2]
	r.fastest = min(r.fastest, seconds)
	return seconds, nil
}

func (t *Tuner) inputs(j Job) backend.InputSpec {
	return backend.InputSpec{Problem: j.Problem, Seed: t.Seed, Dist: t.Dist}
}

// atOnce is how many racers can be loaded at the same time.
func (t *Tuner) atOnce(j Job) int {
	memory := t.Space.Device.MemoryBytes
	if !memory.Known() {
		return math.MaxInt
	}
	return max(2, int(memory.Value/4/float64(j.Problem.Bytes())))
}

// interleave loads a field and takes it through rounds in which its racers take
// turns in shuffled order, until after says that this is enough; after returns also
// who goes on, and may be nil. While p lasts, slow rounds are repeated; it may be nil.
// Racers that cannot be launched take no part; it is an error if the first cannot.
// All are closed when it returns.
func (t *Tuner) interleave(ctx context.Context, j Job, field []*racer, most int, seed uint64, p *patience, after func(round int, live []*racer) ([]*racer, bool)) (err error) {
	field = append([]*racer(nil), field...) // the caller may cut its own
	defer func() {
		for _, r := range field {
			r.shut()
		}
	}()
	var live []*racer
	for i, r := range field {
		switch err := t.open(ctx, j, r); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			live = append(live, r)
		case i == 0:
			return err
		}
	}
	rng := rand.New(rand.NewPCG(t.Seed, seed))
	for n := 1; n <= most; n++ {
		rng.Shuffle(len(live), func(a, b int) { live[a], live[b] = live[b], live[a] })
		for _, r := range live {
			seconds, err := r.sample(ctx, sampleTime)
			if err != nil {
				return err
			}
			r.times = append(r.times, seconds)
		}
		if p != nil && p.left > 0 && slow(live) {
			n--
			for _, r := range live {
				r.times = r.times[:len(r.times)-1]
			}
			if err := t.wait(ctx, live[0], p); err != nil {
				return err
			}
			continue
		}
		if after == nil {
			continue
		}
		var enough bool
		if live, enough = after(n, live); enough {
			break
		}
	}
	return nil
}

// patience is how long a race may still wait for a better moment: neighbours that
// come for seconds do not slow all block shapes down alike.
type patience struct{ left int } // breathers

// patience is that of a race of a job.
func (t *Tuner) patience() *patience {
	left := tries
	if t.Budget > 0 {
		left = min(left, int(t.Budget/breather/20))
	}
	return &patience{left}
}

const (
	slowBy   = 1.2                    // times as long as the racers' fastest samples: a slow moment
	breather = 100 * time.Millisecond // before the next try
	tries    = 10
)

// slow reports whether the last round was in a slow moment.
func slow(live []*racer) bool {
	logs := 0.0
	for _, r := range live {
		logs += math.Log(r.times[len(r.times)-1] / r.fastest)
	}
	return math.Exp(logs/float64(len(live))) > slowBy
}

// wait takes breathers until a racer is about as fast as it was, or patience ends.
func (t *Tuner) wait(ctx context.Context, r *racer, p *patience) error {
	for p.left > 0 {
		p.left--
		if t.sleep != nil {
			t.sleep(breather)
		} else {
			select {
			case <-ctx.Done():
			case <-time.After(breather):
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seconds, err := r.sample(ctx, glance); err != nil || seconds < slowBy*r.fastest {
			return err
		}
	}
	return nil
}
