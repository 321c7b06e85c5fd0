package harness

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"matladder/backend"
	"matladder/backend/seeded"
	"matladder/harness/measure"
	"matladder/results"
)

// A function that somebody else wrote is not believed: see docs/trust.md. Its inputs change before
// every launch (package seeded, Guest). Here its times are held against the clock outside of its
// process, the time that processors gave it, and launches on inputs that it cannot have seen.

// mostUnseen are the launches on inputs not seen before that a guest has at most until it is accused.
// Load and cold caches make them slower than they need be, and the fastest counts.
const mostUnseen = 32

// unseen times and verifies one launch on inputs of a secret seed, which lie elsewhere in memory if
// they lie in this program's.
func (r *run) unseen(ctx context.Context, l *candidate, g *seeded.Guest) error {
	spec := r.inputs(l.Point)
	spec.Seed = g.Secret()
	if err := l.exe.Load(ctx, spec); err != nil {
		return err
	}
	if err := l.exe.Poison(ctx); err != nil {
		return err
	}
	s, err := l.exe.Launch(ctx, 1)
	if err != nil {
		return err
	}
	if took := max(s.Elapsed, l.atLeast(s)); l.fresh == 0 || took < l.fresh {
		l.fresh = took
	}
	return r.confirm(ctx, l, spec)
}

// atLeast is what a launch took as seen from outside of its process: the time until it answered, but
// no more than processors gave it where that is known, as others may have had them in between.
func (l *candidate) atLeast(s backend.Sample) time.Duration {
	took := s.Outside
	if s.Processors > 0 {
		took = min(took, s.Processors/time.Duration(max(l.row.Threads, 1)))
	}
	return took - messages
}

// remembers looks for a guest whose launches are faster in repetitions than those of inputs that it
// has not seen: it computes what changed alone, or nothing. Then the last row says so.
func (r *run) remembers(ctx context.Context, l *candidate, rows []results.Record) error {
	g, last := l.exe.Guest(), &rows[len(rows)-1]
	if g == nil || last.Status != results.OK {
		return nil
	}
	each := time.Duration(last.Seconds / float64(last.Launches) * float64(time.Second))
	most := 3*each + 500*time.Microsecond // cold caches, and threads that sleep
	if l.fresh != 0 && l.fresh <= most {
		return nil
	}
	for try := 0; try < mostUnseen && (l.fresh == 0 || l.fresh > most); try++ {
		if err := r.unseen(ctx, l, g); err != nil {
			return err
		}
	}
	if l.fresh > most {
		last.Status, last.Reason = results.Impossible, fmt.Sprintf(
			"%s a launch in repetitions, and at least %s on inputs not seen before: it does not compute all of each launch", each, l.fresh)
	}
	return l.exe.Load(ctx, r.inputs(l.Point))
}

// messages are about what a question and its answer take beside launches, and longestDoubt how long
// launches last whose time is still in doubt where they were not alone on the machine.
const (
	messages     = time.Millisecond
	longestDoubt = 500 * time.Millisecond
)

// measured times a repetition. What a guest says of a short one may be in doubt because others had
// the machine: then a longer one is taken. doubt says what is in doubt even then.
func (r *run) measured(ctx context.Context, l *candidate, launches int, cool func(context.Context, backend.Executable) error) (m measure.Measurement, doubt string, err error) {
	for {
		if m, err = l.exe.Measure(ctx, r.watch, launches, l.counts.Each, cool); err != nil || l.exe.Guest() == nil {
			return m, "", err
		}
		if doubt = l.doubt(m); doubt == "" || m.Raised != "" || m.Outside >= longestDoubt {
			return m, doubt, nil
		}
		launches *= 2
	}
}

// doubt is why what a guest says of its time is not believed; "" if it is.
func (l *candidate) doubt(m measure.Measurement) string {
	const perLaunch = 1500 * time.Nanosecond                                          // changing an element and reading the clock, in Python
	beside := messages + time.Duration(m.Launches)*perLaunch + time.Duration(l.bytes) // output copied at a GB/s
	threads := time.Duration(l.row.Threads)
	switch {
	case m.Raised != "":
		return "a thread of it has changed its priority: " + m.Raised
	case threads > 0 && m.Allowed > int(threads):
		return fmt.Sprintf("its threads may run on %d processors, and it may use %d", m.Allowed, threads)
	case m.Outside > 0 && m.Outside-m.Elapsed > beside+m.Outside/10:
		return fmt.Sprintf("its clock says %s for what took %s outside of its process", m.Elapsed, m.Outside)
	case threads > 0 && m.Processors > threads*(m.Elapsed+beside)*11/10:
		return fmt.Sprintf("it took %s of processors in %s, and may use %d threads", m.Processors, m.Elapsed, threads)
	}
	return ""
}

// upTo draws a number below n that a guest cannot foresee; 0 of others.
func (l *candidate) upTo(n int) int {
	if g := l.exe.Guest(); g != nil && n > 1 {
		return int(g.Secret() % uint64(n))
	}
	return 0
}

// stop draws after how many launches a guest's output is looked at: any power of two up to twice
// those of a repetition is as likely as any other.
func (l *candidate) stop() int {
	longest := 1 << l.upTo(bits.Len(uint(2*l.counts.Launches)))
	return longest + l.upTo(longest)
}
