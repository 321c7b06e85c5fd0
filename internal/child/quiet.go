package child

import "time"

// quietLooks is how often a child is looked at in the time that it may be silent.
const quietLooks = 8

// quiet is how long a child was not heard of while this process ran. One that was
// stopped itself (Ctrl-Z, a suspended machine) has not listened: the gap that its clock
// shows afterwards is nobody's silence.
type quiet struct {
	limit, silent time.Duration
	last          time.Time // looked at
	heard         int64     // of it then
}

// over takes another look and reports whether the worker was silent for too long.
func (q *quiet) over(now time.Time, heard int64) bool {
	gap := now.Sub(q.last)
	if q.last = now; heard != q.heard {
		q.heard, q.silent = heard, 0
		return false
	}
	q.silent += min(gap, 2*q.limit/quietLooks)
	return q.silent > q.limit
}
