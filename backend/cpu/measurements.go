package cpu

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"matladder/internal/files"
	"matladder/machine"
)

// measurementsVersion changes when probes measure something else.
const measurementsVersion = 9

// measurements are what probes found, as kept in a file.
type measurements struct {
	Version   int
	CPU       string
	ISA       string
	Threads   int
	Peak      map[string]float64 // FLOP/s or OP/s, by dtype of the operands
	Bandwidth float64            // bytes/s
	Cores     *machine.Cores
	At        time.Time // when the last of it was measured

	// The fastest controls beside the probes, in seconds: what is kept stands for a
	// machine that was as fast as that.
	ControlCompute, ControlMemory float64
}

// slower is how many times as fast as beside the probes a control may be for them to
// stand: as far as figures that were measured are trusted elsewhere.
const slower = 1.15

// outlived reports whether the machine is faster now than when it was measured: others had it then.
func (m measurements) outlived(compute, memory float64) bool {
	return compute > 0 && m.ControlCompute > slower*compute || memory > 0 && m.ControlMemory > slower*memory
}

// moved is how many times as long a launch may take as it does now: more than where a
// virtual machine's cores lie makes of it, and less than others on them do, of whom controls
// see nothing that find a core free.
const moved = 16

// shortestLaunch is less than any launch takes in which cores meet, in seconds: four times a
// cache line goes from one to another.
const shortestLaunch = 1e-7

// crowded reports whether a launch that does hardly anything takes so much less now than when
// it was measured that cores were shared with others then.
func (m measurements) crowded(launch float64) bool {
	return launch > 0 && m.Cores.Launch > moved*launch
}

// What no core and no memory of a machine reaches for years to come: 16 kibi
// operations (eight times those of a core's AMX tiles on int8) at 8 GHz, and a
// hundred times the bandwidth of a socket with stacked memory. A file that says more
// is not believed: every launch would pass as possible.
const (
	mostPeak      = 16384 * 8e9 // FLOP/s or OP/s of a core
	mostBandwidth = 1e14        // bytes/s
)

// file is where the measurements are kept; "" if the user has no such place. The version is
// part of its name: programs of several versions on one machine keep each its own.
func (m measurements) file() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "matladder", fmt.Sprintf("%s_%s_%d.v%d.json", slug(m.CPU), m.ISA, m.Threads, measurementsVersion))
}

// readMeasurements reads a file that has all that key asks for.
func readMeasurements(file string, key measurements) (measurements, bool) {
	m, err := parseMeasurements(file)
	return m, err == nil && m.Version == measurementsVersion && m.CPU == key.CPU && m.ISA == key.ISA && m.Threads == key.Threads
}

// described reads the file that MachineVariable names.
func described(name string) (measurements, error) {
	m, err := parseMeasurements(name)
	if err != nil {
		err = fmt.Errorf("%s=%s: %w", MachineVariable, name, err)
	}
	return m, err
}

// parseMeasurements reads a file of figures such as some machine may have.
func parseMeasurements(file string) (m measurements, err error) {
	data, err := files.ReadRegular(file, 1<<20)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	ok := m.Threads > 0 && m.Threads <= mostThreads && len(m.Peak) > 0 && isFigure(m.Bandwidth, mostBandwidth) && m.Cores != nil && areFigures(m.Cores)
	for _, v := range m.Peak {
		ok = ok && isFigure(v, mostPeak*float64(m.Threads))
	}
	if err == nil && !ok {
		err = errors.New("it lacks figures of a machine, or has impossible ones: docs/machines has examples")
	}
	return m, err
}

// isFigure reports whether v is above zero and at most as large as that.
func isFigure(v, most float64) bool { return v > 0 && v <= most }

// areFigures reports whether c has all that block shapes are ranked by, each figure such as
// some machine may have: the ranking divides by them.
func areFigures(c *machine.Cores) bool {
	const (
		longest      = 60      // seconds
		largestCache = 1 << 40 // bytes
		largestTile  = 1 << 16 // rows, columns or elements of k
	)
	ok := isFigure(float64(c.L2), largestCache) && c.L3 >= 0 && c.L3 <= largestCache &&
		isFigure(c.Shared, mostBandwidth) && isFigure(c.Memory, mostBandwidth) &&
		isFigure(c.Launch, longest) && isFigure(c.Pair, longest) && isFigure(c.Task, longest)
	if c.CoreToCore != (machine.CoreToCore{}) { // as it is for one thread
		ok = ok && isFigure(c.Line, longest) && isFigure(c.ReadOthers, mostBandwidth) && isFigure(c.WriteOthers, mostBandwidth)
	}
	ok = ok && c.L3Cores >= 0 && c.Nodes >= 0 && c.Remote >= 0 && c.Slow >= 0 && (c.Slow == 0 || isFigure(c.Slowness, 1))
	for _, dtype := range measuredDtypes {
		r := c.Rates[dtype]
		ok = ok && isFigure(r.FLOPs, mostPeak) && isFigure(r.Fetch, mostBandwidth) && isFigure(r.PackA, mostBandwidth) && isFigure(r.PackB, mostBandwidth)
		for _, n := range []int{r.Rows, r.Columns, r.Depth} {
			ok = ok && n > 0 && n <= largestTile
		}
		ok = ok && r.InPlace >= 0 && r.Direct >= 0 && r.Few >= 0 && r.Few < r.Columns
	}
	return ok
}

// raise makes each peak and bandwidth the larger of its own and other's. What block
// shapes are ranked by stays as it was: the shapes of a sweep must not change in it.
func (m *measurements) raise(other measurements) {
	for dtype, v := range other.Peak {
		m.Peak[dtype] = max(m.Peak[dtype], v)
	}
	m.Bandwidth = max(m.Bandwidth, other.Bandwidth)
	if other.Cores != nil {
		m.Cores = other.Cores
	}
	if m.At.Before(other.At) {
		m.At = other.At
	}
	m.ControlCompute, m.ControlMemory = fastest(m.ControlCompute, other.ControlCompute), fastest(m.ControlMemory, other.ControlMemory)
}

// makeRoom makes the folder of a file that measurements are kept in, and tells why the file
// cannot be written.
func makeRoom(file string) error {
	if file == "" {
		return nil
	}
	if err := files.MakeFolder(file); err != nil {
		return err
	}
	return files.Writable(file)
}

// write keeps the measurements, whole or not at all.
func (m measurements) write(file string) {
	if file == "" || files.MakeFolder(file) != nil {
		return
	}
	m.Version = measurementsVersion
	if data, err := json.MarshalIndent(m, "", "\t"); err == nil {
		files.Replace(file, append(data, '\n')) // or probes run again
	}
}

// fastest is the shorter of two times, of which 0 is not known.
func fastest(a, b float64) float64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
