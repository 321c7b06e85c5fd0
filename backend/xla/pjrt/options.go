package pjrt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/lower/triton"
	"matladder/machine"
)

// Backend is a device of a plugin.
type Backend interface {
	backend.Backend
	backend.Compiler
	backend.Solver
}

// Options are for Open.
type Options struct {
	// Name is that of the backend: xla-cpu, tpu or gpu.
	Name string
	// Plugin is the absolute path of the plugin.
	Plugin string
	// Version is the plugin's, for the record.
	Version string
	// Device is the number of the device among those of this process.
	Device int
	// Method is how Run times launches: loop, chain or wall; "" for loop.
	Method string
	// Threads is how many cores, and so threads, the CPU plugin may use; 0 for all.
	// The whole process is confined to them, from the first Open on.
	Threads int
	// Host is what the device is where its own plugin cannot say: the CPU, with
	// the peaks that were measured on it. The zero Device leaves it to the plugin.
	Host machine.Device
	// Client holds options for the plugin, which knows their names: strings,
	// integers, floats or booleans.
	Client map[string]any
}

// The methods.
const (
	Loop  = "loop"
	Chain = "chain"
	Wall  = "wall"
)

var methods = []string{Loop, Chain, Wall}

// Methods lists the methods of timing, the default first.
func Methods() []string { return slices.Clone(methods) }

// Parameters of a compilation.
const (
	flagsParam    = "libtpu_flags" // those of the environment, for the record
	methodParam   = "method"       // overrides Options.Method
	operandsParam = "operands"     // of a TPU or a GPU: OperandsHBM, the default, or OperandsAny
)

// Where a launch finds its operands and leaves its results.
const (
	OperandsHBM = "hbm" // in HBM: a TPU's compiler is told so, a GPU's launches take sets of arrays in turn
	OperandsAny = "any" // they may come to stay nearer, so that launches read them there
)

func (o Options) check() error {
	switch {
	case o.Plugin == "":
		return errors.New("pjrt: no plugin given")
	case o.Device < 0:
		return fmt.Errorf("pjrt: device %d: devices count from 0", o.Device)
	case o.Threads < 0:
		return fmt.Errorf("pjrt: threads = %d: must be positive, or 0 for one a core", o.Threads)
	}
	return checkMethod(o.Method)
}

func checkMethod(m string) error {
	if m == "" || slices.Contains(methods, m) {
		return nil
	}
	return fmt.Errorf("pjrt: unknown method %q (known: %s)", m, strings.Join(methods, ", "))
}

// how is what parameters ask of a compilation.
type how struct {
	method  string
	turns   bool        // launches may take sets of arrays in turn
	options hlo.Options // of the compiler, unless it does not know them
}

// how returns what parameters ask for on a device of a kind, or what of it cannot be had.
func (o Options) how(p backend.Params, kind string) (how, error) {
	switch {
	case p.ISA != "":
		return how{}, fmt.Errorf("pjrt: isa %s: XLA chooses the instruction set itself: %w", p.ISA, backend.ErrUnsupported)
	case p.Threads != 0 && p.Threads != o.Threads:
		return how{}, fmt.Errorf("pjrt: %d threads: the plugin was opened with %s: %w", p.Threads, threads(o.Threads), backend.ErrUnsupported)
	case p.VMEMBytes < 0:
		return how{}, fmt.Errorf("pjrt: vmem_limit = %d: must be positive", p.VMEMBytes)
	case p.VMEMBytes != 0 && kind != machine.TPU:
		return how{}, fmt.Errorf("pjrt: vmem_limit: only TPUs have VMEM: %w", backend.ErrUnsupported)
	}
	operands := p.Extra[operandsParam]
	h := how{method: cmp.Or(p.Extra[methodParam], o.Method, Loop), turns: operands != OperandsAny}
	for k := range p.Extra {
		if kind == machine.GPU && slices.Contains(triton.ParamNames(), k) {
			continue
		}
		if k != methodParam && k != operandsParam && k != flagsParam {
			return how{}, fmt.Errorf("pjrt: unknown parameter %q (known: %s, %s)", k, methodParam, operandsParam)
		}
	}
	switch {
	case kind != machine.TPU && kind != machine.GPU && operands != "":
		return how{}, fmt.Errorf("pjrt: operands=%s: only on a TPU or a GPU is there a choice: %w", operands, backend.ErrUnsupported)
	case !slices.Contains([]string{"", OperandsHBM, OperandsAny}, operands):
		return how{}, fmt.Errorf("pjrt: unknown operands %q (known: %s, %s)", operands, OperandsHBM, OperandsAny)
	case kind == machine.TPU && operands != OperandsAny:
		h.options = leaveInHBM
	case kind == machine.GPU:
		h.options = oneByOne
	case kind == machine.CPU:
		h.options = keepNaN
	}
	return h, checkMethod(h.method)
}

func threads(n int) string {
	if n == 0 {
		return "one thread a core"
	}
	return fmt.Sprintf("%d threads", n)
}

// Config encodes the options for Opener.
func (o Options) Config() ([]byte, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("pjrt: options: %w", err)
	}
	return text, nil
}

// Opener opens a backend from what Config returned; it is for package worker.
func Opener(_ context.Context, config []byte) (backend.Backend, error) {
	var o Options
	if err := json.Unmarshal(config, &o); err != nil {
		return nil, fmt.Errorf("pjrt: options: %w", err)
	}
	return Open(o)
}

// On a GPU, launches one after another on the same arrays find in the L2 cache what the
// last one left there. To find all of them in HBM, launches take sets of arrays in turn, all
// with the same contents: so many sets that between two launches on the same set more bytes
// are read and written than the cache holds.

const (
	// inL2 is where launches on the same arrays find what fits there of them.
	inL2 = "l2"
	// flushed is how many times the cache's size is moved between two launches on the same
	// set: once is not enough, as a cache does not always evict the oldest line first.
	flushed = 2
	// mostSets bounds the sets: each is a launch of its own in the program.
	mostSets = 64
	// someL2Bytes stands for the cache of a GPU that is not in the chip table: twice the
	// largest there.
	someL2Bytes = 256e6
)

// setsOf is how many sets of arrays, of so many bytes each, launches on a GPU are to take in
// turn, a power of two. It is 0 where that would be too many sets, or more than half of the
// memory: such small arrays are found in the cache (column operands then says l2).
func setsOf(d machine.Device, bytes int64) int {
	if bytes <= 0 {
		return 0
	}
	between := uint64(flushed * cmp.Or(d.LastLevelCacheBytes.Value, someL2Bytes))
	sets := 1 << bits.Len64((between+uint64(bytes)-1)/uint64(bytes)) // the set itself, and those in between
	if memory := d.MemoryBytes; sets > mostSets || memory.Known() && float64(sets)*float64(bytes) > memory.Value/2 {
		return 0
	}
	return sets
}
