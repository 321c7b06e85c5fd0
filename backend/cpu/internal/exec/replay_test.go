package exec

import "testing"

// TestReplay_Ends: a launch that is replayed ends when its call's context does.
func TestReplay_Ends(t *testing.T) {
	done, after := make(chan struct{}), 0
	w := &Worker{pool: NewPool(1), leaves: []func(){func() { close(done) }, func() { after++ }}}
	w.pool.done = done
	if w.replay(); after > 0 || !w.pool.stopped.Load() {
		t.Errorf("%d leaves behind the end, stopped: %v", after, w.pool.stopped.Load())
	}
}
