package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An event is how the system is asked for one of Events.
type event struct {
	set    Set
	kind   uint32
	config uint64
}

// generic are the events that the system knows by name (linux/perf_event.h).
var generic = []event{
	{Cycles, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
	{Instructions, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{DTLBMisses, unix.PERF_TYPE_HW_CACHE, unix.PERF_COUNT_HW_CACHE_DTLB | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 | unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16},
}

// cacheMisses is what counts the misses of L2 and L3, which differs: "cache misses" of the
// system are those of the last level on Intel and of L2 on AMD (arch/x86/events/amd/core.c,
// amd_zen_perfmon_event_map); others go by the maker's number of the event.
func cacheMisses(arch, vendor string, family int) []event {
	misses := event{L3Misses, unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES}
	switch {
	case arch == "arm64": // L2D_CACHE_REFILL and L3D_CACHE_REFILL (Arm Architecture Reference Manual, PMUv3 common events)
		return []event{{L2Misses, unix.PERF_TYPE_RAW, 0x17}, {L3Misses, unix.PERF_TYPE_RAW, 0x2a}}
	case vendor == "GenuineIntel" && family == 6: // L2_RQSTS.MISS, from Skylake on (Intel SDM 3B, chapter 21)
		return []event{{L2Misses, unix.PERF_TYPE_RAW, 0x3f24}, misses}
	case vendor == "AuthenticAMD" && family >= 0x17:
		misses.set = L2Misses
		if family < 0x19 {
			return []event{misses} // L3 counts for all its cores, not for a thread
		}
		// Fills of L1 from memory, near and far (PPR of families 19h and 1Ah, PMCx044): what
		// no cache had.
		return []event{misses, {L3Misses, unix.PERF_TYPE_RAW, 0x4844}}
	}
	return []event{misses}
}

// host is the maker of the processor and its family.
func (r *Reader) host() (vendor string, family int) {
	for line := range strings.Lines(string(r.text(r.root + "/proc/cpuinfo"))) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "vendor_id":
			vendor = value
		case "cpu family":
			family, _ = strconv.Atoi(value)
			return vendor, family
		}
	}
	return vendor, family
}

// A count is an event of one thread, and of all that it starts.
type count interface {
	// read is its number, and how long it was wanted and in fact counted: there are fewer
	// counters than events.
	read() (value, wanted, counted uint64, ok bool)
	close()
}

// open begins a count; a variable of the Reader for tests.
type open func(e event, thread int) (count, error)

// CountEvents begins to count Events, on every thread that there is and on those that these start.
// It returns what cannot be counted as an error, which wraps ErrNoEvents if it is everything.
func (r *Reader) CountEvents() error {
	vendor, family := r.host()
	return r.countEvents(append(generic, cacheMisses(runtime.GOARCH, vendor, family)...), perfOpen)
}

func (r *Reader) countEvents(events []event, open open) error {
	paths, err := filepath.Glob(r.root + "/proc/self/task/*")
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("%w: no threads in /proc/self/task", ErrNoEvents)
	}
	var known Set
	for _, e := range events {
		var counts []count
		for _, path := range paths {
			thread, _ := strconv.Atoi(filepath.Base(path))
			c, failed := open(e, thread)
			if errors.Is(failed, unix.ESRCH) {
				continue // it has ended
			}
			if failed != nil {
				err = failed
				for _, c := range counts {
					c.close()
				}
				counts = nil
				break
			}
			counts = append(counts, c)
		}
		if counts != nil {
			known |= e.set
			r.events = append(r.events, running{e.set, counts})
		}
	}
	if known == 0 {
		return fmt.Errorf("%w: %s", ErrNoEvents, why(err))
	}
	var missing []string
	for _, e := range eventNames {
		if known&e.set == 0 {
			missing = append(missing, e.name)
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("this processor or system does not count %s for a thread", strings.Join(missing, ", "))
}

// why says what a person can do about an error of perf_event_open.
func why(err error) string {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
		return "the system knows no counters of this processor, as in most virtual machines"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		text, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		return fmt.Sprintf("not permitted: /proc/sys/kernel/perf_event_paranoid is %s, and wants to be 2 or less; a container may forbid perf_event_open besides", strings.TrimSpace(string(text)))
	case errors.Is(err, unix.ENOSYS):
		return "the system has no perf_event_open, or a container forbids it"
	case errors.Is(err, unix.EMFILE):
		return "more counters than files may be open: raise ulimit -n"
	}
	return fmt.Sprintf("perf_event_open: %v", err)
}

// running is an event while it is counted.
type running struct {
	set    Set
	counts []count
}

// happened adds what was counted since the beginning to a reading.
func (r *Reader) happened(now *Reading) {
	for _, e := range r.events {
		sum, known := 0.0, false
		for _, c := range e.counts {
			value, wanted, counted, ok := c.read()
			if !ok || wanted > 0 && counted == 0 {
				continue
			}
			known = true
			if counted > 0 {
				sum += float64(value) * float64(wanted) / float64(counted)
			}
		}
		if known {
			i := slices.IndexFunc(eventNames, func(n eventName) bool { return n.set == e.set })
			*eventNames[i].of(now) = int64(sum)
			now.Known |= e.set
		}
	}
}

// perfOpen is perf_event_open.
func perfOpen(e event, thread int) (count, error) {
	attr := &unix.PerfEventAttr{
		Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return perfFile(fd), nil
}

type perfFile int

func (f perfFile) read() (value, wanted, counted uint64, ok bool) {
	var b [24]byte
	n, err := unix.Read(int(f), b[:])
	if err != nil || n < len(b) {
		return 0, 0, 0, false
	}
	return binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:]), true
}

func (f perfFile) close() { unix.Close(int(f)) }
