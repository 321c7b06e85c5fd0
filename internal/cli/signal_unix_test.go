//go:build unix

package cli

import (
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestInterruptible: a hangup cancels, and neither a second one nor one that was ignored
// before ends this process.
func TestInterruptible(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("hangups are ignored here, as under nohup: run it without")
	}
	defer signal.Reset(syscall.SIGHUP)
	ctx := interruptible()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatal("a hangup cancels nothing")
		}
		for !signal.Ignored(syscall.SIGHUP) { // until the first is dealt with
			time.Sleep(time.Millisecond)
		}
	}
	ctx = interruptible() // as under nohup
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
		t.Error("a hangup that is ignored cancels")
	case <-time.After(50 * time.Millisecond):
	}
}
