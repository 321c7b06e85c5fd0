//go:build linux && (amd64 || arm64)

package nvml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"matladder/backend"
	"matladder/internal/child"
	"matladder/internal/dynlib"

	"github.com/ebitengine/purego"
)

const supported = true

// libraryName is that of the driver's library, which the system knows where to find.
const libraryName = "libnvidia-ml.so.1"

// Child answers what a parent asks until it is gone, and ends the process, if this is a
// process that Open started; it returns at once otherwise.
func Child() {
	var l *library
	child.Serve(role, func(_ context.Context, q question, _ [][]byte) (a answer, _ [][]byte) {
		var err error
		if l == nil {
			l, err = load(q)
		}
		if err == nil {
			a.Gauge = l.gauge()
		} else {
			a.Failed = err.Error()
		}
		return a, nil
	})
}

// What nvml.h calls them. Results are 0 for success.
const (
	clockSM         = 1
	clockMemory     = 2
	policyPower     = 0
	policyThermal   = 1
	textBytes       = 96
	mostProcesses   = 64
	memoryNotKnown  = ^uint64(0)
	temperatureOfIt = 0
)

type (
	violation struct{ reference, nanoseconds uint64 }
	memory    struct{ total, free, used uint64 }
	process   struct {
		pid      uint32
		memory   uint64
		instance [2]uint32
	}
)

// library is the driver's, and a GPU.
type library struct {
	handle uintptr
	gpu    uintptr
	name   string

	// What its functions are given to read and to write: here it does not move, as what is
	// on a stack may.
	uuid        []byte
	found       uintptr
	number      uint32
	bits        uint64
	text        [textBytes]byte
	memory      memory
	heat, power violation
	processes   [mostProcesses]process
}

// load loads the library and finds a GPU.
func load(q question) (*library, error) {
	handle, err := dynlib.Open(libraryName)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	l := &library{handle: handle}
	if err := l.call("nvmlInit_v2"); err != nil {
		return nil, err
	}
	if q.UUID != "" {
		l.uuid = append([]byte(q.UUID), 0)
		err = l.call("nvmlDeviceGetHandleByUUID", pointer(&l.uuid[0]), pointer(&l.gpu))
	} else if err = l.alike(); err == nil {
		err = l.call("nvmlDeviceGetHandleByIndex_v2", uintptr(q.Index), pointer(&l.gpu))
	}
	if err == nil {
		l.name, err = l.nameOf(l.gpu)
	}
	return l, err
}

// alike is an error where the GPUs are of several kinds: CUDA then has an order of its own.
func (l *library) alike() error {
	if err := l.call("nvmlDeviceGetCount_v2", pointer(&l.number)); err != nil {
		return err
	}
	names := map[string]bool{}
	for i := range l.number {
		err := l.call("nvmlDeviceGetHandleByIndex_v2", uintptr(i), pointer(&l.found))
		name := ""
		if err == nil {
			name, err = l.nameOf(l.found)
		}
		if err != nil {
			return err
		}
		names[name] = true
	}
	if len(names) > 1 && os.Getenv("CUDA_DEVICE_ORDER") != "PCI_BUS_ID" {
		return errors.New("GPUs of several kinds: set CUDA_DEVICE_ORDER=PCI_BUS_ID, so that they count the same everywhere")
	}
	return nil
}

func (l *library) nameOf(gpu uintptr) (string, error) {
	err := l.call("nvmlDeviceGetName", gpu, pointer(&l.text[0]), textBytes)
	name, _, _ := strings.Cut(string(l.text[:]), "\x00")
	return name, err
}

// pointer is where a part of a library is.
func pointer[T any](x *T) uintptr { return uintptr(unsafe.Pointer(x)) }

// code is what a function answers; the error says that there is no such function.
func (l *library) code(name string, args ...uintptr) (int32, error) {
	f, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("the driver's library has no %s", name)
	}
	r, _, _ := purego.SyscallN(f, args...)
	return int32(r), nil
}

func (l *library) call(name string, args ...uintptr) error {
	code, err := l.code(name, args...)
	if err != nil || code == 0 {
		return err
	}
	return fmt.Errorf("%s: %s", strings.TrimSuffix(strings.TrimPrefix(name, "nvml"), "_v2"), l.explain(code))
}

// explain is the library's own text of an error.
func (l *library) explain(code int32) string {
	f, err := purego.Dlsym(l.handle, "nvmlErrorString")
	if err != nil {
		return fmt.Sprintf("error %d", code)
	}
	var explain func(int32) string
	purego.RegisterFunc(&explain, f)
	return explain(code)
}

// gauge reads what the library tells.
func (l *library) gauge() backend.Gauge {
	g := backend.Gauge{Name: l.name}
	number := func(name string, args ...uintptr) (uint32, bool) {
		ok := l.call(name, append(append([]uintptr{l.gpu}, args...), pointer(&l.number))...) == nil
		return l.number, ok
	}
	if mhz, ok := number("nvmlDeviceGetClockInfo", clockSM); ok {
		g.ClockHertz = float64(mhz) * 1e6
	}
	if mhz, ok := number("nvmlDeviceGetClockInfo", clockMemory); ok {
		g.MemoryClockHertz = float64(mhz) * 1e6
	}
	if celsius, ok := number("nvmlDeviceGetTemperature", temperatureOfIt); ok {
		g.Celsius = float64(celsius)
	}
	if milliwatts, ok := number("nvmlDeviceGetPowerUsage"); ok {
		g.Watts = float64(milliwatts) / 1e3
	}
	if l.call("nvmlDeviceGetCurrentClocksThrottleReasons", l.gpu, pointer(&l.bits)) == nil {
		g.Throttles = throttles(l.bits)
	}
	if l.call("nvmlDeviceGetMemoryInfo", l.gpu, pointer(&l.memory)) == nil {
		g.MemoryBytes, g.UsedBytes = int64(l.memory.total), int64(l.memory.used)
	}
	if l.call("nvmlDeviceGetViolationStatus", l.gpu, policyThermal, pointer(&l.heat)) == nil &&
		l.call("nvmlDeviceGetViolationStatus", l.gpu, policyPower, pointer(&l.power)) == nil {
		g.Throttled, g.Capped, g.SumsKnown = time.Duration(l.heat.nanoseconds), time.Duration(l.power.nanoseconds), true
	}
	if l.call("nvmlDeviceGetTotalEnergyConsumption", l.gpu, pointer(&l.bits)) == nil {
		g.Joules, g.JoulesKnown = float64(l.bits)/1e3, true
	}
	g.OthersBytes, g.OthersKnown = l.others()
	return g
}

// others is the memory of processes that the parent of this one did not start. It is not
// known where none of those that the library lists is one of the parent's: it may number
// processes otherwise, as outside of a container.
func (l *library) others() (bytes int64, known bool) {
	l.number = mostProcesses
	code, err := l.code("nvmlDeviceGetComputeRunningProcesses_v3", l.gpu, pointer(&l.number), pointer(&l.processes[0]))
	if err != nil || code != 0 || l.number > mostProcesses { // more than that many are an error too
		return 0, false
	}
	own := 0
	for _, p := range l.processes[:l.number] {
		if descends(int(p.pid), os.Getppid()) {
			own++
			continue
		}
		if p.memory == memoryNotKnown {
			return 0, false
		}
		bytes += int64(p.memory)
	}
	return bytes, own > 0 || l.number == 0
}

// descends reports whether a process is another, or was started by it or by one that was.
func descends(pid, from int) bool {
	for range 64 {
		if pid == from {
			return true
		}
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // nothing of a process that has ended
		// 42 (a name) S 7 …, and the name may be anything.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		f := strings.Fields(rest)
		if len(f) < 2 {
			return false
		}
		if pid, _ = strconv.Atoi(f[1]); pid <= 1 {
			return false
		}
	}
	return false
}
