package exec

import (
	"sync/atomic"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
)

// Queues hand the tasks of a phase out: each worker starts with its own run of
// neighbours, which have blocks of A in common, and steals half of what the longest
// other queue has left when its own is empty.
type Queues []queue

// A queue is the tasks that a worker has: next<<32 | end.
type queue struct {
	atomic.Uint64
	_ [memory.CacheLine - 8]byte // no line of two workers
}

// Deal gives each worker its run of a phase's tasks.
func (q Queues) Deal(tasks int) {
	for i := range q {
		q[i].Store(pair(plan.Dealt(i, len(q), tasks)))
	}
}

func pair(next, end int) uint64 { return uint64(next)<<32 | uint64(end) }

// Unpair is what a queue holds.
func Unpair(v uint64) (next, end int) { return int(v >> 32), int(v & plan.MaxTasks) }

// next returns a task for a worker, which may steal it; false if none is left.
func (q Queues) next(worker int, steals bool) (int, bool) {
	for {
		v := q[worker].Load()
		next, end := Unpair(v)
		switch {
		case next >= end:
			if !steals || !q.steal(worker) {
				return 0, false
			}
		case q[worker].CompareAndSwap(v, pair(next+1, end)):
			return next, true
		}
	}
}

// steal gives a worker that has nothing the later half of the longest queue;
// false if nobody has anything.
func (q Queues) steal(worker int) bool {
	for {
		victim, left := -1, 0
		var seen uint64
		for i := range q {
			v := q[i].Load()
			if next, end := Unpair(v); end-next > left {
				victim, left, seen = i, end-next, v
			}
		}
		if victim < 0 {
			return false
		}
		next, end := Unpair(seen)
		middle := next + (end-next)/2
		if q[victim].CompareAndSwap(seen, pair(next, middle)) {
			q[worker].Store(pair(middle, end))
			return true
		}
	}
}
