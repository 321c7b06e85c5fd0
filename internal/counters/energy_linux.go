package counters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// energy is what the processors' packages took, by the counters that the system shows of each:
// RAPL (Documentation/power/powercap/powercap.rst), or a driver of hwmon (sysfs-interface.rst).
type energy struct {
	source string
	why    error // there are no counters
	meters []meter

	at     time.Duration // of the last reading
	joules float64       // by then
	span   int           // of readings that can be held against each other; 0 for none
	spans  int           // so far
}

// A meter counts microjoules of one package.
type meter struct {
	file *os.File
	most uint64 // after which it begins at 0 again; 0 if it does not
	last uint64
}

// findEnergy finds the counters of packages under a root.
func findEnergy(root string) (e energy) {
	e.why = errors.New("the system shows no counter of energy (/sys/class/powercap, hwmon), as in virtual machines")
	seen := map[string]bool{} // the same package may be told by MSR and by MMIO
	for _, file := range append(glob(root+"/sys/class/powercap/intel-rapl:*/name"), glob(root+"/sys/class/powercap/*/name")...) {
		name, dir := word(file), filepath.Dir(file)
		if !strings.HasPrefix(name, "package-") || seen[name] {
			continue
		}
		seen[name] = true
		most, _ := strconv.ParseUint(word(dir+"/max_energy_range_uj"), 10, 64)
		e.add("rapl", dir+"/energy_uj", most)
	}
	if len(seen) > 0 {
		return e
	}
	for _, file := range glob(root + "/sys/class/hwmon/hwmon*/energy*_label") {
		label := strings.ToLower(word(file))
		if strings.Contains(label, "socket") || strings.Contains(label, "package") {
			e.add("hwmon", strings.TrimSuffix(file, "_label")+"_input", 0)
		}
	}
	return e
}

func glob(pattern string) []string {
	list, _ := filepath.Glob(pattern)
	return list
}

// word is the text of a small file, "" where it cannot be read.
func word(file string) string {
	text, _ := os.ReadFile(file)
	return strings.TrimSpace(string(text))
}

// add opens a counter. One that cannot be opened leaves none: a part of the packages says nothing.
func (e *energy) add(source, path string, most uint64) {
	if e.source != "" && e.meters == nil {
		return
	}
	e.source = source
	f, err := os.Open(path)
	if err != nil {
		e.close()
		if e.why = err; errors.Is(err, fs.ErrPermission) {
			e.why = fmt.Errorf("%s may be read by root alone", path)
		}
		return
	}
	e.meters, e.why = append(e.meters, meter{file: f, most: most}), nil
}

func (e *energy) close() {
	for _, m := range e.meters {
		m.file.Close()
	}
	e.meters = nil
}

// usualWatts are seldom exceeded: above, a counter may have begun again more than once.
const usualWatts = 1000

// slack is longer than the steps in which counters rise.
const slack = 100 * time.Millisecond

// read adds Joules to a reading at a time. A counter that vanishes, goes back or rises faster
// than a package can begins a new span: no two readings across it are held against each other.
func (e *energy) read(now *Reading, at time.Duration, buf []byte) {
	if len(e.meters) == 0 {
		return
	}
	elapsed, sum, whole := at-e.at, 0.0, e.span > 0
	e.at = at
	for i := range e.meters {
		m := &e.meters[i]
		n, _ := m.file.ReadAt(buf, 0)
		v, err := strconv.ParseUint(strings.TrimSpace(string(buf[:n])), 10, 64)
		if err != nil {
			e.span = 0
			return
		}
		rise, wraps := v-m.last, v < m.last
		if wraps {
			rise = m.most - m.last + v
		}
		m.last = v
		joules := float64(rise) / 1e6
		again := m.most > 0 && elapsed.Seconds()*usualWatts > float64(m.most)/1e6
		if wraps && m.most <= v || joules > MostWatts*(elapsed+slack).Seconds() || again {
			whole = false
		}
		sum += joules
	}
	if !whole {
		e.joules, sum = 0, 0
		e.spans++
		e.span = e.spans
	}
	e.joules += sum
	now.Joules, now.span, now.Known = e.joules, e.span, now.Known|Energy
}
