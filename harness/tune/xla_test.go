//go:build linux && cgo

package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"matladder/backend/registry/builtin"
	"matladder/backend/xla/pjrt"
	"matladder/machine"
)

// TestXLA: on XLA's own plugin, which runs what kernels mean, a search goes on in a new
// worker when its worker is killed in the middle of a race, and keeps a time limit.
func TestXLA(t *testing.T) {
	be, err := builtin.OpenXLA(context.Background(), machine.Device{Key: "here", Names: []string{"here"}}, 1, pjrt.Options{})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "cpu") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer be.Close()
	var killed []int
	u := &Tuner{Backend: be, Space: Space{Workers: 1, Most: 2}, Versions: "v", Timeout: time.Minute, Dist: "uniform"}
	u.Observe = func(e Event) {
		if e.Round == 1 && killed == nil {
			if killed = children(t); len(killed) != 1 {
				t.Fatalf("children %v", killed)
			}
			syscall.Kill(killed[0], syscall.SIGKILL)
		}
	}
	for try := 0; killed == nil; try++ { // beside other work a race may end in its first round
		if try == 10 {
			t.Skip("no race had a second round")
		}
		row, err := u.Tune(context.Background(), job(128))
		if err != nil || row.Evidence.Seconds <= 0 || row.Evidence.Launched < 2 {
			t.Errorf("%+v, %v", row, err)
		}
	}
	if now := children(t); len(killed) != 1 || len(now) != 1 || now[0] == killed[0] {
		t.Errorf("killed %v, and now there are %v", killed, now)
	}
	if len(u.Dropped) != 1 || !strings.Contains(u.Dropped[0].String(), "killed") {
		t.Errorf("out of the race: %v", u.Dropped)
	}
	u.Timeout, u.Observe = time.Nanosecond, nil
	if _, err := u.Tune(context.Background(), job(128)); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "took longer than 1ns") {
		t.Error(err)
	}
}

// children are the processes that this one has.
func children(t *testing.T) (pids []int) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	if err != nil || files == nil {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may be gone
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
