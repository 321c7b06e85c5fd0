package counters

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/internal/cgroup"

	"golang.org/x/sys/unix"
)

// tick is the unit of the times in /proc/stat: USER_HZ, which is 100 on every
// architecture that Go knows.
const tick = 10 * time.Millisecond

// askedProcessors bounds how many processors are asked for their clock: each is a file.
const askedProcessors = 8

// A Reader takes readings. It is used by one goroutine at a time.
type Reader struct {
	root    string // of /proc and /sys, "" for the machine's own
	uptime  func() time.Duration
	threads threads
	waited  time.Duration
	groups  []group
	clocks  []string // files that hold a clock in kHz
	thermal string   // the file that counts
	buf     []byte
	events  []running // that are counted
	energy  energy
}

// A group is a control group with a file of its own on processor time.
type group struct {
	stat string
	key  string
	unit time.Duration
}

// New finds out what this machine tells.
func New() *Reader { return newReader("") }

func newReader(root string) *Reader {
	r := &Reader{root: root, uptime: uptime, buf: make([]byte, 16<<10), threads: threads{root: root, open: map[string]*thread{}}}
	if text, err := os.ReadFile(root + "/proc/stat"); err == nil { // a line for each processor, ahead of others
		r.buf = make([]byte, max(len(r.buf), 2*len(text)))
	}
	r.groups = r.findGroups()
	for i := range askedProcessors {
		file := root + "/sys/devices/system/cpu/cpu" + strconv.Itoa(i) + "/cpufreq/scaling_cur_freq"
		if _, ok := r.number(file); ok {
			r.clocks = append(r.clocks, file)
		}
	}
	r.energy = findEnergy(root)
	thermal := root + "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
	if _, ok := r.number(thermal); ok {
		r.thermal = thermal
	}
	return r
}

// Close closes what is kept open.
func (r *Reader) Close() {
	r.threads.close()
	for _, e := range r.events {
		for _, c := range e.counts {
			c.close()
		}
	}
	r.events = nil
	r.energy.close()
}

// Energy is where Joules come from: rapl, or hwmon; or why they are not known.
func (r *Reader) Energy() (source string, err error) { return r.energy.source, r.energy.why }

// Glance reads the counters that cost least, some microseconds: Waited, of the threads
// that there were at the last Read, Switches, Joules, and Events if they are counted.
func (r *Reader) Glance() Reading {
	var now Reading
	if r.threads.waited(r.buf, &r.waited) {
		now.Waited, now.Known = r.waited, now.Known|Waited
	}
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		now.Switches, now.Known = usage.Nivcsw, now.Known|Switches
	}
	r.happened(&now)
	r.energy.read(&now, r.uptime(), r.buf)
	return now
}

// Read takes a whole reading.
func (r *Reader) Read() Reading {
	r.threads.list()
	now := r.Glance()
	if worked, steal, ok := r.processors(); ok {
		now.Others, now.Steal, now.Known = worked-r.threads.ran(), steal, now.Known|Others|Steal
	}
	for _, g := range r.groups {
		if v, ok := field(r.text(g.stat), g.key); ok {
			now.Throttled += time.Duration(v) * g.unit
			now.Known |= Throttled
		}
	}
	if words := bytes.Fields(r.text(r.root + "/proc/loadavg")); len(words) > 0 {
		if v, err := strconv.ParseFloat(string(words[0]), 64); err == nil {
			now.Load, now.Known = v, now.Known|Load
		}
	}
	if v, ok := r.number(r.thermal); ok {
		now.Thermal, now.Known = int64(v), now.Known|Thermal
	}
	sum := 0.0
	for _, file := range r.clocks {
		v, _ := r.number(file)
		sum += v * 1000
	}
	if sum > 0 {
		now.Hertz, now.Known = sum/float64(len(r.clocks)), now.Known|Hertz
	}
	return now
}

// processors sums how long processors worked, and how long they would have but for the
// host: by the lines of /proc/stat, all of the time but that in which they had nothing to
// do. The times in which they had are counted by most kernels from samples, a hundred or
// some hundred a second, which of a round of 50 ms leaves little; idle ones by the clock.
func (r *Reader) processors() (worked, steal time.Duration, ok bool) {
	up := r.uptime()
	sum, rest, _ := bytes.Cut(r.text(r.root+"/proc/stat"), []byte("\n"))
	words := bytes.Fields(sum)
	const idle, iowait, stolen = 4, 5, 8
	if len(words) <= stolen || string(words[0]) != "cpu" {
		return 0, 0, false
	}
	count := func(word int) (d time.Duration) {
		v, err := strconv.ParseInt(string(words[word]), 10, 64)
		ok = ok && err == nil
		return time.Duration(v) * tick
	}
	ok = true
	none, steal := count(idle)+count(iowait), count(stolen)
	n := 0
	for line := range bytes.Lines(rest) {
		if !bytes.HasPrefix(line, []byte("cpu")) {
			break
		}
		n++
	}
	if n == 0 || none == 0 { // a sandbox that tells nothing
		return 0, steal, false
	}
	return time.Duration(n)*up - none - steal, steal, ok
}

// uptime is a clock that stands still with the processors, while the machine sleeps.
func uptime() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// findGroups lists the control groups of this process, up to the root, that say how
// long their quota stopped them: version 2, or controller cpu of version 1.
func (r *Reader) findGroups() (list []group) {
	v1, v2 := cgroup.Groups(os.DirFS(r.root+"/"), "cpu")
	for i, folder := range slices.Concat(v2, v1) {
		g := group{filepath.Join(r.root, "/", folder, "cpu.stat"), "throttled_usec", time.Microsecond}
		if i >= len(v2) {
			g.key, g.unit = "throttled_time", time.Nanosecond
		}
		if _, ok := field(r.text(g.stat), g.key); ok {
			list = append(list, g)
		}
	}
	return list
}

// field is the number behind key at the start of a line.
func field(text []byte, key string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if words := bytes.Fields(line); len(words) == 2 && string(words[0]) == key {
			v, err := strconv.ParseInt(string(words[1]), 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// number is that of a file that holds one.
func (r *Reader) number(file string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(string(r.text(file))), 64)
	return v, err == nil
}

// text is the start of a small file, empty where there is none. It is valid until the next call.
func (r *Reader) text(file string) []byte {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	n, _ := f.Read(r.buf)
	return r.buf[:max(0, n)]
}
