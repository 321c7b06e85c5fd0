package cpu

import "sync/atomic"

// shares hands the tasks of a phase out: each worker starts with its own run of
// neighbours, which have blocks of a in common, and takes half of what the
// richest other has left when its own are done.
type shares []workerShare

// A workerShare is the tasks that a worker has: next<<32 | end.
type workerShare struct {
	atomic.Uint64
	_ [cacheLine - 8]byte // no line of two workers
}

// maxTasks is what shares can count.
const maxTasks = 1<<32 - 1

func (s shares) deal(tasks int) {
	for i := range s {
		s[i].Store(pair(dealt(i, len(s), tasks)))
	}
}

// dealt is the run of tasks that a worker starts with.
func dealt(worker, workers, tasks int) (next, end int) {
	return worker * tasks / workers, (worker + 1) * tasks / workers
}

func pair(next, end int) uint64 { return uint64(next)<<32 | uint64(end) }

func unpair(v uint64) (next, end int) { return int(v >> 32), int(v & maxTasks) }

// next returns a task for a worker; false if none is left.
func (s shares) next(worker int) (int, bool) {
	for {
		v := s[worker].Load()
		next, end := unpair(v)
		switch {
		case next >= end:
			if !s.steal(worker) {
				return 0, false
			}
		case s[worker].CompareAndSwap(v, pair(next+1, end)):
			return next, true
		}
	}
}

// steal gives a worker that has nothing the later half of the largest share;
// false if nobody has anything.
func (s shares) steal(worker int) bool {
	for {
		victim, left := -1, 0
		var seen uint64
		for i := range s {
			v := s[i].Load()
			if next, end := unpair(v); end-next > left {
				victim, left, seen = i, end-next, v
			}
		}
		if victim < 0 {
			return false
		}
		next, end := unpair(seen)
		middle := next + (end-next)/2
		if s[victim].CompareAndSwap(seen, pair(next, middle)) {
			s[worker].Store(pair(middle, end))
			return true
		}
	}
}
