package tune

import (
	"fmt"
	"time"

	"matladder/harness/tuned"
)

// leastOthers is how many candidates beside those that are given a search looks at
// before its row is worth keeping, if there are so many.
const leastOthers = 12

// ShareError says that a job was left alone, as there is not enough time for a search
// whose row is worth keeping.
type ShareError struct {
	Needed, Have time.Duration
}

func (e *ShareError) Error() string {
	return fmt.Sprintf("needs about %s, and has %s", roundUp(e.Needed), e.Have.Round(time.Second/10))
}

// roundUp is a duration as people name one that is not known exactly.
func roundUp(d time.Duration) time.Duration {
	unit := time.Second / 10
	if d > 10*time.Second {
		unit = time.Second
	}
	return (d + unit - 1).Truncate(unit)
}

// allowance is the time that a job has.
type allowance struct {
	clock  func() time.Time
	begin  time.Time
	budget time.Duration // 0 for no limit
	most   time.Duration // to which claim raises it
	missed bool          // something was left out for want of time
}

func (t *Tuner) allowance() *allowance {
	return &allowance{clock: t.clock, begin: t.clock(), budget: t.Budget, most: max(t.Budget, t.AtMost)}
}

// claim makes sure of a least share; it is a *ShareError if there is none.
func (a *allowance) claim(need time.Duration) error {
	if a.budget == 0 {
		return nil
	}
	if need > a.most {
		return &ShareError{Needed: need, Have: a.most}
	}
	a.budget = max(a.budget, need)
	return nil
}

// over reports whether a part of the time is over, for something that is then left out.
func (a *allowance) over(part float64) bool {
	over := a.budget > 0 && a.clock().Sub(a.begin) > time.Duration(part*float64(a.budget))
	a.missed = a.missed || over
	return over
}

// ended is what ended the search, as evidence has it.
func (a *allowance) ended() string {
	if a.missed {
		return tuned.ByBudget
	}
	return tuned.ByEvidence
}
