package child

import (
	"testing"
	"time"
)

// TestQuiet: a child that is silent for the limit is given up, one whose parent stood
// still is not.
func TestQuiet(t *testing.T) {
	const limit = 8 * time.Second
	at := time.Now()
	q := quiet{limit: limit, last: at}
	look := func(after time.Duration, heard int64) bool {
		at = at.Add(after)
		return q.over(at, heard)
	}
	if look(time.Hour, 0) {
		t.Error("an hour in which this process was stopped is taken for silence")
	}
	if look(time.Second, 1) {
		t.Error("a child that was heard of is given up")
	}
	for i := range 8 {
		if look(time.Second, 1) {
			t.Errorf("given up after %d seconds of %v", i+1, limit)
		}
	}
	if !look(time.Second, 1) {
		t.Errorf("not given up after more than %v", limit)
	}
}
