package counters

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// threads are those of this process and of the processes it started, with what the
// scheduler counts of each (Documentation/scheduler/sched-stats.rst).
type threads struct {
	root string
	open map[string]*thread // by path of the file

	children []int // processes
	listed   time.Time
}

// listEvery is how long threads that have just begun may be missed: to look for them
// takes as long as many readings.
const listEvery = 250 * time.Millisecond

// A thread is one of them.
type thread struct {
	file        *os.File
	ran, waited int64 // nanoseconds, when last read; ran is -1 before
}

// list finds threads that have begun since, and forgets those that have ended.
func (t *threads) list() {
	if time.Since(t.listed) < listEvery {
		return
	}
	t.listed, t.children = time.Now(), nil
	found := map[string]bool{}
	own := t.root + "/proc/self/task"
	folders := []string{own}
	children, _ := filepath.Glob(own + "/*/children")
	for _, file := range children {
		text, _ := os.ReadFile(file)
		for _, pid := range bytes.Fields(text) {
			folders = append(folders, t.root+"/proc/"+string(pid)+"/task")
			if n, err := strconv.Atoi(string(pid)); err == nil {
				t.children = append(t.children, n)
			}
		}
	}
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			path := folder + "/" + e.Name() + "/schedstat"
			found[path] = true
			if t.open[path] != nil {
				continue
			}
			if f, err := os.Open(path); err == nil {
				t.open[path] = &thread{file: f, ran: -1}
			}
		}
	}
	for path, th := range t.open {
		if !found[path] {
			th.file.Close()
			delete(t.open, path)
		}
	}
}

func (t *threads) close() {
	for path, th := range t.open {
		th.file.Close()
		delete(t.open, path)
	}
}

// waited adds to sum how long threads waited for a processor since they were last read,
// each at most as long as it ran: one that looks after others now and then may wait for
// long, and nothing waits for it.
func (t *threads) waited(buf []byte, sum *time.Duration) (known bool) {
	for _, th := range t.open {
		n, _ := th.file.ReadAt(buf, 0) // time on a processor, time in a queue, times it got one
		words := bytes.Fields(buf[:n])
		if len(words) < 2 {
			continue // it has ended
		}
		ran, err := strconv.ParseInt(string(words[0]), 10, 64)
		waited, err2 := strconv.ParseInt(string(words[1]), 10, 64)
		if err != nil || err2 != nil {
			continue
		}
		known = true
		if th.ran >= 0 {
			*sum += time.Duration(max(0, min(ran-th.ran, waited-th.waited)))
		}
		th.ran, th.waited = ran, waited
	}
	return known
}

// ran is the processor time of this process and of those it started.
func (t *threads) ran() (sum time.Duration) {
	var usage unix.Rusage
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} { // the children that have ended
		if unix.Getrusage(who, &usage) == nil {
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	for _, pid := range t.children {
		const scheduled = 2 // CPUCLOCK_SCHED of posix-timers.h: the clock of a process
		var now unix.Timespec
		if unix.ClockGettime(int32(^pid<<3|scheduled), &now) == nil {
			sum += time.Duration(now.Nano())
		}
	}
	return sum
}
