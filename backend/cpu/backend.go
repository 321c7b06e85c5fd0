package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/probe"
	"matladder/internal/cgroup"
	"matladder/model/anatomy"
	"matladder/tile"
)

// ISAVariable names the environment variable that chooses the instruction set
// where neither Options nor Params do.
const ISAVariable = "MATLADDER_CPU"

// MachineVariable names the environment variable that names the file of another machine, as
// ProbeFile is one of this: programs are planned for that machine, and run nowhere.
const MachineVariable = "MATLADDER_MACHINE"

// DebugVariable names the environment variable that, if not empty, adds the
// stack to the error of a panic in a worker.
const DebugVariable = exec.DebugVariable

// DefaultCacheBytes bounds the packed blocks that workers share.
const DefaultCacheBytes = 256 << 20

// Options are for Open. The zero value is right for measuring.
type Options struct {
	Threads    int    // workers; 0 for GOMAXPROCS, or fewer where a control group allows no more
	ISA        string // generic, avx2, avx512, amx or neon; "" for what MATLADDER_CPU says, or else the best
	CacheBytes int64  // limit of packed blocks shared by workers; 0 for DefaultCacheBytes, negative for none

	// ProgramOrder runs the grid on one worker, in the order of the program. With a negative
	// CacheBytes, BlocksLoaded is then what a machine does that keeps one block of each input.
	ProgramOrder bool

	// Pin binds each worker to a processor of its own while launches run (Linux).
	Pin bool

	// Nominal decides by nominal costs where Compile measures some else, once a process and in
	// some milliseconds each: the plan of a program does not depend on the machine's speed.
	Nominal bool

	// NoProbe leaves what Device measures unknown: peaks, bandwidth, and what block shapes
	// are ranked by.
	NoProbe bool

	// Probing is called, if not nil, before Device measures: with the file that keeps the figures
	// for later processes, or "" if there is no place for one, and why it cannot be written, if so.
	Probing func(file string, unwritable error)

	brief    bool                            // measure once what is measured several times
	measured func(measurements) measurements // in place of all probes; nil for those
	giveWay  bool                            // workers that wait leave their processors to others
	ownBytes int64                           // what all workers together keep for themselves; 0 for what ownBytes says
}

// Backend is the cores of this machine.
type Backend struct {
	options Options
	why     string // the instruction set

	probing sync.Mutex
	probed  *measurements // nil until the first call of Device

	other *measurements // of the machine that programs are planned for; nil for this one

	sharing *exec.Sharing // of programs that compute on arrays of their callers

	controlling sync.Mutex
	control     *probe.Control // nil until the first call of Control
}

var (
	_ backend.Backend  = (*Backend)(nil)
	_ backend.Compiler = (*Backend)(nil)
	_ backend.Prober   = (*Backend)(nil)

	_ backend.Controller = (*Backend)(nil)
)

// Open returns the CPU backend. It is an error if an instruction set is asked
// for that is unknown or that this machine lacks.
func Open(o Options) (*Backend, error) {
	b := new(Backend)
	if name := os.Getenv(MachineVariable); name != "" {
		m, err := described(name)
		if err != nil {
			return nil, err
		}
		if os.Getenv(ISAVariable) == "" {
			o.ISA = cmp.Or(o.ISA, m.ISA)
		}
		o.Threads, o.Nominal, o.NoProbe = cmp.Or(o.Threads, m.Threads), true, true
		m.Threads, b.other = o.Threads, &m
	}
	switch {
	case o.Threads < 0 || o.Threads > mostThreads:
		return nil, badThreads(o.Threads)
	case o.Threads == 0:
		o.Threads = defaultThreads()
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	why := whyAsked
	if o.ISA == "" {
		name := os.Getenv(ISAVariable)
		if why = whyVariable; name == "" {
			name, why = gemm.Detect().String(), whyBest
		} else if _, err := kernelsOf(name); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", ISAVariable, name, err)
		}
		o.ISA = name
	}
	if _, err := kernelsOf(o.ISA); err != nil {
		return nil, err
	}
	if o.Pin {
		if err := exec.CheckPin(o.Threads); err != nil {
			return nil, err
		}
	}
	b.options, b.why, b.sharing = o, why, exec.NewSharing()
	return b, nil
}

// defaultThreads is a thread a core that this process may use. Go's runtime takes two
// at least; with less than that allowed, the second would only spend the first's time.
func defaultThreads() int {
	threads := runtime.GOMAXPROCS(0)
	if cores, limited := cgroup.Cores(); limited {
		threads = max(1, min(threads, int(math.Ceil(cores))))
	}
	return threads
}

// Why an instruction set is the one in use.
const (
	whyBest     = "the best that runs here"
	whyVariable = "chosen by " + ISAVariable
	whyAsked    = "asked for"
)

func kernelsOf(name string) (*gemm.Kernels, error) {
	isa, err := gemm.ParseISA(name)
	if err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	if missing := isa.Missing(); len(missing) > 0 {
		return nil, fmt.Errorf("cpu: instruction set %s: this machine lacks %s", isa, strings.Join(missing, ", "))
	}
	return gemm.For(isa), nil
}

// Name is the word of --backend.
func (*Backend) Name() string { return "cpu" }

// ISA is the instruction set that programs are compiled for by default.
func (b *Backend) ISA() string { return b.options.ISA }

// mostThreads is more than any machine has cores that share memory.
const mostThreads = 4096

func badThreads(n int) error {
	return fmt.Errorf("cpu: threads = %d: must be 1 to %d, or 0 for one a core", n, mostThreads)
}

// Threads is the number of workers by default.
func (b *Backend) Threads() int { return b.options.Threads }

// Compile plans programs for the workers of this machine. It allocates nothing:
// arrays and buffers come with the first Load.
func (b *Backend) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	if b.other != nil {
		return nil, fmt.Errorf("cpu: %s is set: programs are planned for %s, not run (inspect --as plan shows how)", MachineVariable, b.other.CPU)
	}
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	need := e.Size()
	if need <= alwaysFits {
		return e, nil
	}
	if limit := cgroup.Available(); limit > 0 && need > limit {
		return nil, fmt.Errorf("cpu: %w", &backend.TooBigError{What: "memory", Needed: need, Limit: limit})
	}
	return e, nil
}

// alwaysFits is so little memory that nobody is asked whether it is there.
const alwaysFits = 1 << 20

// compile is Compile for a machine of any memory.
func (b *Backend) compile(ctx context.Context, programs []*tile.Program, params backend.Params) (*exec.Executable, error) {
	return b.compileFor(ctx, programs, params, backend.Layout{})
}

// compileFor is compile for arrays that lie as layout says.
func (b *Backend) compileFor(ctx context.Context, programs []*tile.Program, params backend.Params, layout backend.Layout) (*exec.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(programs) == 0 {
		return nil, errors.New("cpu: no programs")
	}
	if params.VMEMBytes != 0 {
		return nil, fmt.Errorf("cpu: parameters %q: %w", params.String(), backend.ErrUnsupported)
	}
	m := plan.Machine{
		Workers: b.options.Threads, ProgramOrder: b.options.ProgramOrder,
		L1: int64(probe.Host().L1D), L2: int64(probe.Host().L2), L3: int64(probe.Host().L3),
		CacheBytes: max(0, b.options.CacheBytes), Layout: layout,
	}
	if b.other != nil {
		m.L2, m.L3 = b.other.Cores.L2, b.other.Cores.L3
	}
	var err error
	if m.Choices, err = parseChoices(params.Extra); err != nil {
		return nil, fmt.Errorf("cpu: parameter %w", err)
	}
	switch {
	case params.Threads < 0 || params.Threads > mostThreads:
		return nil, badThreads(params.Threads)
	case params.Threads > 0:
		m.Workers = params.Threads
	}
	if m.Choices.Alone {
		m.Workers = 1
	}
	m.OwnBytes = b.ownBytes(m.Workers, m.L2)
	isa := b.options.ISA
	if params.ISA != "" {
		isa = params.ISA
	}
	if m.Kernels, err = kernelsOf(isa); err != nil {
		return nil, err
	}
	if len(layout.Packed) > 0 {
		m.Choices.B = gemm.ReadPacked
	}
	m.Kernels = m.Kernels.With(m.Choices.Choices)
	bound, err := tile.Bind(programs)
	if err != nil {
		return nil, fmt.Errorf("cpu: bind: %w", err)
	}
	var plans []*plan.Plan
	for _, p := range programs {
		if n := p.Devices(); n != 1 {
			return nil, fmt.Errorf("cpu: %s runs on %d devices, here is 1: %w", p.Name, n, backend.ErrUnsupported)
		}
		if !b.options.Nominal {
			m.Figures = figures{b, m.Workers, p}
		}
		pl, err := passes.Compile(p, m)
		if err == nil {
			err = obeys(pl, params.Extra[anatomy.Param])
		}
		if err != nil {
			return nil, err
		}
		plans = append(plans, pl)
	}
	return exec.NewExecutable(plans, bound, exec.Options{Pinned: b.options.Pin, GiveWay: b.options.giveWay}), nil
}

// Buffer returns n zeroed bytes on a boundary of a cache line; many are on large pages,
// where the system has them, as the arrays of executables are.
func Buffer(n int) []byte { return memory.NewBuffer(n) }

// Close ends the goroutines that calls share. All other memory and goroutines belong to
// executables.
func (b *Backend) Close() error {
	b.sharing.Close()
	return nil
}

// ownBytes bounds what so many workers together keep for themselves: as much as their L2 caches
// hold, or 48 MiB.
func (b *Backend) ownBytes(workers int, l2 int64) int64 {
	return cmp.Or(b.options.ownBytes, max(48<<20, int64(workers)*l2))
}
