package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/measure"
	"matladder/internal/deadline"
	"matladder/internal/each"
	"matladder/problem"
)

const (
	glance      = 2000 * time.Microsecond // of the sample by which a candidate is let into the race
	sampleTime  = 8 * time.Millisecond    // of other samples: until clock, dispatch and a cold start no longer matter
	maxLaunches = 1 << 16                 // of a sample

	shortestPart = 1000 * time.Microsecond // of a sample
	mostParts    = 4
)

// Trial is a candidate in a race.
type Trial struct {
	Candidate
	params  backend.Params
	problem problem.Problem // known once it is opened
	exe     measure.Executable
	opening time.Duration // that it took to be opened the last time
	loops   bool          // on the device: a launch is the slope over two samples
	Failed  error         // why it is out of the race: it cannot be launched any more
	fastest float64       // seconds of a launch in the fastest sample yet: says how many launches a sample takes
	first   float64       // time in the screening, or the race of adjustments, over the reference's
	Times   []float64     // seconds of a launch, one a round
}

// trial is that of a candidate compiled with the tuner's parameters.
func (t *Tuner) trial(c Candidate) *Trial { return &Trial{Candidate: c, params: t.params(c)} }

// params are those of a candidate: with the fast memory that it needs, unless they say
// how much there is.
func (t *Tuner) params(c Candidate) backend.Params {
	p := t.Params
	p.VMEMBytes = cmp.Or(p.VMEMBytes, c.Memory)
	return p
}

// Race has candidates of a job take samples in rounds as Tune has, in which they take turns
// in shuffled order, until after says that this is enough; after also returns who goes on, and
// may be nil. A trial that cannot be launched has Failed and goes no further; it is an error if
// none is left. Seed is that of the orders.
func (t *Tuner) Race(ctx context.Context, j Job, list []Candidate, rounds int, seed uint64, after func(round int, live []*Trial) ([]*Trial, bool)) ([]*Trial, error) {
	field := each.Of(list, t.trial)
	return field, t.interleave(ctx, j, field, rounds, seed, nil, after)
}

// open compiles and loads a trial and warms it up. The first time it also finds how
// long a launch takes.
func (t *Tuner) open(ctx context.Context, j Job, r *Trial) (err error) {
	begin := t.clock()
	r.problem = j.Problem
	if t.references == nil {
		t.references = seeded.Keep(seeded.Most, false)
	}
	defer func() {
		if err != nil {
			r.exe.Close()
		}
		r.opening = t.clock().Sub(begin)
	}()
	limits := measure.Limits{Timeout: cmp.Or(t.Timeout, time.Minute)}
	if r.exe, err = limits.Open(ctx, r.Programs, t.references, func(ctx context.Context) (backend.Executable, error) {
		return backend.Compile(ctx, t.Backend, r.Programs, r.params)
	}); err != nil {
		return err
	}
	if _, err = limits.Call(ctx, "inputs", func(ctx context.Context) error { return r.exe.Load(ctx, t.inputs(j)) }); err != nil {
		return err
	}
	known := r.fastest > 0
	for n := 1; ; n = min(4*n, maxLaunches) {
		s, err := r.exe.Launch(ctx, n)
		if err != nil {
			return err
		}
		if r.loops = measure.Loops(s); known {
			_, err = t.sample(ctx, r, sampleTime/16)
			return err
		}
		if r.fastest = s.Elapsed.Seconds() / float64(n); s.Elapsed >= glance/4 || n == maxLaunches {
			return t.possible(ctx, j.Problem, r.fastest)
		}
	}
}

// firstThatRuns returns the first of the candidates that can be launched, those that
// are given before others, open, and the seconds of one launch.
func (t *Tuner) firstThatRuns(ctx context.Context, j Job, list []Candidate) (r *Trial, seconds float64, err error) {
	var last error
	for _, c := range givenFirst(list) {
		r = t.trial(c)
		if last = t.open(ctx, j, r); last == nil {
			if seconds, last = t.sample(ctx, r, glance); last == nil {
				return r, seconds, nil
			}
			r.exe.Close()
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
	}
	return nil, 0, fmt.Errorf("%w: %w", ErrNone, last)
}

// sample times as many launches as take about d and returns the seconds of one.
func (t *Tuner) sample(ctx context.Context, r *Trial, d time.Duration) (seconds float64, err error) {
	n := maxLaunches
	if want := math.Ceil(d.Seconds() / r.fastest); want < maxLaunches {
		n = max(1, int(want))
	}
	if r.loops {
		seconds, err = t.slope(ctx, r, n)
	} else {
		seconds, err = t.middle(ctx, r, n, d)
	}
	if err == nil {
		r.fastest = min(r.fastest, seconds)
	}
	return seconds, err
}

// slope times a loop on the device at two numbers of launches, about n: what it takes to
// start the program cancels. Where noise hides the slope, the longer one with its start
// stands for it. Of one slope nobody can tell whether it is impossible or noisy: that is
// asked of many (measure).
func (t *Tuner) slope(ctx context.Context, r *Trial, n int) (float64, error) {
	shorter, longer := measure.LoopCounts(n)
	first, err := r.exe.Launch(ctx, shorter)
	if err != nil {
		return 0, err
	}
	second, err := r.exe.Launch(ctx, longer)
	if err != nil {
		return 0, err
	}
	each := second.Elapsed.Seconds() / float64(longer)
	if err := t.possible(ctx, r.problem, each); err != nil {
		return 0, err
	}
	if s := measure.Slope(first.Elapsed.Seconds(), second.Elapsed.Seconds(), shorter, longer); s > 0 {
		return s, nil
	}
	return each, nil
}

// middle times launches in parts, and takes the lower of the middle parts: another
// process that runs for a time slice spoils a part, not the sample.
func (t *Tuner) middle(ctx context.Context, r *Trial, n int, d time.Duration) (float64, error) {
	parts := make([]float64, min(n, max(1, min(mostParts, int(d/shortestPart)))))
	for i := range parts {
		launches := (n*(i+1))/len(parts) - (n*i)/len(parts)
		s, err := r.exe.Launch(ctx, launches)
		if err != nil {
			return 0, err
		}
		parts[i] = s.Elapsed.Seconds() / float64(launches)
	}
	slices.Sort(parts)
	middle := parts[(len(parts)-1)/2]
	return middle, t.possible(ctx, r.problem, middle)
}

func (t *Tuner) inputs(j Job) backend.InputSpec {
	return backend.InputSpec{Problem: j.Problem, Seed: t.Seed, Dist: t.Dist}
}

// AtOnce is how many trials can be loaded at the same time.
func (t *Tuner) AtOnce(j Job) int {
	memory := t.Space.Device.MemoryBytes
	if !memory.Known() {
		return math.MaxInt
	}
	return max(2, int(memory.Value/4/float64(j.Problem.Bytes())))
}

// interleave is Race for a field. While p lasts, rounds in which the machine was slow or
// disturbed are repeated; it may be nil. All are closed when it returns.
func (t *Tuner) interleave(ctx context.Context, j Job, field []*Trial, most int, seed uint64, p *patience, after func(round int, live []*Trial) ([]*Trial, bool)) error {
	field = slices.Clone(field) // the caller may cut its own
	m := t.machine
	if m == nil {
		m = t.watchOver(j)
		defer m.Close()
	}
	defer func() {
		for _, r := range field {
			r.exe.Close()
		}
	}()
	for _, r := range field {
		if r.Failed = t.open(ctx, j, r); r.Failed == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.drop(r, r.Failed)
	}
	live := inRace(field)
	rng := rand.New(rand.NewPCG(t.Seed, seed))
	for n := 1; n <= most && len(live) > 0; n++ {
		quiet, err := t.round(ctx, m, rng, live)
		if err != nil {
			return err
		}
		if live = inRace(live); len(live) == 0 {
			break
		}
		if p != nil && p.left > 0 && (!quiet || slow(live)) {
			n--
			m.Repeated++
			for _, r := range live {
				r.Times = r.Times[:len(r.Times)-1]
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
			return nil
		}
	}
	if len(inRace(field)) == 0 {
		return fmt.Errorf("%w: %w", ErrNone, field[0].Failed)
	}
	return nil
}

// inRace are those of a field that can be launched.
func inRace(field []*Trial) []*Trial {
	return slices.DeleteFunc(slices.Clone(field), func(r *Trial) bool { return r.Failed != nil })
}

// round has each trial take a sample, and reports whether the machine was quiet.
func (t *Tuner) round(ctx context.Context, m *watched, rng *rand.Rand, live []*Trial) (quiet bool, err error) {
	conditions, err := measure.Round(ctx, m.Watch, rng, live, func(_ int, r *Trial) error {
		seconds, err := t.sample(ctx, r, sampleTime)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			r.Times = append(r.Times, seconds)
			return nil
		}
		r.Failed = err
		t.drop(r, err)
		r.exe.Close()
		return nil
	})
	return m.quiet(conditions), err
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
	slowBy   = 1.2                    // times as long as the trials' fastest samples: a slow moment
	breather = 100 * time.Millisecond // before the next try
	tries    = 10
)

// slow reports whether the last round was in a slow moment.
func slow(live []*Trial) bool {
	return math.Exp(each.Sum(live, func(r *Trial) float64 { return math.Log(r.Times[len(r.Times)-1] / r.fastest) })/float64(len(live))) > slowBy
}

// wait takes breathers until a trial is about as fast as it was, or patience ends.
func (t *Tuner) wait(ctx context.Context, r *Trial, p *patience) error {
	for p.left > 0 {
		p.left--
		if t.sleep != nil {
			t.sleep(breather)
		} else {
			deadline.Sleep(ctx, breather)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seconds, err := t.sample(ctx, r, glance); err != nil || seconds < slowBy*r.fastest {
			return ctx.Err() // a trial that fails does so in its next turn again
		}
	}
	return nil
}
