package counters

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEvents_Software counts an event of the system in place of one of the processor: page
// faults, on threads that there were and on one that begins later. The way of the counts is
// the same, and every Linux has it.
func TestEvents_Software(t *testing.T) {
	r := newReader("")
	defer r.Close()
	faults := event{L2Misses, unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS}
	err := r.countEvents([]event{faults}, perfOpen)
	if errors.Is(err, ErrNoEvents) {
		t.Skip(err)
	}
	if err == nil || !strings.Contains(err.Error(), "cycles") || strings.Contains(err.Error(), "L2") {
		t.Errorf("of what is not counted it says: %v", err)
	}
	const pages, threads = 1000, 4
	before := r.Glance()
	var done sync.WaitGroup
	for range threads {
		done.Go(func() {
			runtime.LockOSThread() // and ends with its goroutine, which adds its count to that of who began it
			memory, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				t.Error(err)
				return
			}
			if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil && !errors.Is(err, unix.EINVAL) {
				t.Error(err)
			}
			for i := 0; i < len(memory); i += os.Getpagesize() {
				memory[i] = 1
			}
			unix.Munmap(memory)
		})
	}
	done.Wait()
	after := r.Glance()
	if !before.Known.Has(L2Misses) || !after.Known.Has(L2Misses) || after.Known.Has(Cycles) {
		t.Fatalf("known are %b and %b", before.Known, after.Known)
	}
	if n := after.L2Misses - before.L2Misses; n < pages*threads || n > 2*pages*threads {
		t.Errorf("%d page faults, of about %d", n, pages*threads)
	}
}

// told is a count with numbers of its own.
type told [3]uint64

func (c told) read() (value, wanted, counted uint64, ok bool) { return c[0], c[1], c[2], c[2] <= c[1] }
func (c told) close()                                         {}

// TestEvents_Shared has counters take turns: a number is of the part of the time in which
// it was counted. What was never counted is not known, and not zero.
func TestEvents_Shared(t *testing.T) {
	r := newReader("")
	defer r.Close()
	opened := map[Set]int{}
	err := r.countEvents(append(generic, cacheMisses("amd64", "GenuineIntel", 6)...), func(e event, thread int) (count, error) {
		opened[e.set]++
		switch {
		case e.set == L3Misses:
			return nil, unix.ENOENT
		case e.set == DTLBMisses:
			return told{0, 100, 0}, nil
		case e.set == L2Misses:
			return told{1, 2, 3}, nil // cannot be read
		case opened[e.set] > 1:
			return told{}, nil // a thread that has not run since
		case e.set == Cycles:
			return told{600, 100, 50}, nil
		}
		return told{500, 100, 100}, nil
	})
	if err == nil || errors.Is(err, ErrNoEvents) || !strings.Contains(err.Error(), "count L3 misses for") {
		t.Errorf("error %v", err)
	}
	now := r.Glance()
	if now.Cycles != 1200 || now.Instructions != 500 || !now.Known.Has(Cycles|Instructions) || now.Known&(L2Misses|L3Misses|DTLBMisses) != 0 {
		t.Errorf("%d cycles, %d instructions, known %b", now.Cycles, now.Instructions, now.Known)
	}
	if len(opened) != 5 {
		t.Errorf("asked for %v", opened)
	}
}

// TestEvents_None wants one line that says why.
func TestEvents_None(t *testing.T) {
	for failed, want := range map[error]string{
		unix.ENOENT: "virtual machines", unix.EACCES: "perf_event_paranoid", unix.ENOSYS: "no perf_event_open", unix.EMFILE: "ulimit", unix.EIO: "input/output error",
	} {
		r := newReader("")
		err := r.countEvents(generic, func(event, int) (count, error) { return nil, failed })
		if !errors.Is(err, ErrNoEvents) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", failed, err)
		}
		if r.Glance().Known&Events != 0 {
			t.Errorf("%v: events are known", failed)
		}
		r.Close()
	}
}
