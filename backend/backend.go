// Package backend is what stands between a tile program and a machine: the roles that a
// backend may have, the samples it returns and the errors it answers with.
//
//  1. A Backend is an open device. A Compiler makes an Executable of programs, a Solver one
//     of a problem, in a way of its own; a Predictor tells the time of a launch. A backend has
//     the methods of its roles alone; Compile, Solve and As ask for one.
//  2. An Executable takes inputs, runs launches back to back and times them next to the
//     device, and gives outputs. Package backend/seeded makes inputs from a seed and verifies
//     outputs around any Executable, beside the device.
//
// The package imports no backend and no kernel.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Backend is an open device. What it does is in its roles: see Compiler, Solver, Predictor.
type Backend interface {
	// Name is the word of --backend: cpu, tpu, gpu, xla-cpu, aot.
	Name() string
	// Device describes the machine; what is unknown there is unknown.
	Device() machine.Device
	// Close frees the device.
	Close() error
}

// Compiler is a Backend that runs tile programs.
type Compiler interface {
	// Compile returns programs, run in order in one launch, ready to run.
	// errors.As finds *TooBigError, errors.Is finds ErrUnsupported.
	Compile(ctx context.Context, programs []*tile.Program, params Params) (Executable, error)
}

// Solver is a Backend that computes problems in a way of its own: the vendor's, a library's,
// anybody's function.
type Solver interface {
	// Solve returns that way, ready to run. Errors are those of Compile.
	Solve(ctx context.Context, spec ProblemSpec) (Executable, error)
}

// Executable is a compiled launch with its arrays. It is used by one goroutine at a time.
type Executable interface {
	// Load copies arrays in, in the order of tile.Bind's In, or of a problem's operands.
	Load(in ...tile.Tensor) error
	// Poison overwrites the output with what no product is, outside the timed region:
	// what the next Run does not write is wrong. Until then there is no output.
	Poison(ctx context.Context) error
	// Run executes launches back to back, waits for the output of the last and
	// returns the time of all together, taken next to the device.
	Run(ctx context.Context, launches int) (Sample, error)
	// Results copies arrays out, in the order of tile.Bind's Out. The error is ErrNoOutput
	// where nothing was run on these inputs, or the output is poisoned.
	Results(out ...tile.Tensor) error
	// Close frees the arrays.
	Close() error
}

// InPlace is implemented by executables whose inputs can be made, and outputs looked at,
// without a copy that Load and Results would need.
type InPlace interface {
	Executable

	// Arrays are what Load takes and Results fills.
	Arrays() (in, out []problem.Operand)
	// Fill is Load of what source makes.
	Fill(ctx context.Context, source Source) error
	// Inputs are the inputs where the host sees them, not to be written; nil where it does not.
	Inputs() []tile.Tensor
	// Outputs calls look with the outputs of the last Run, not to be written or kept, once for
	// each set of arrays that launches took in turn. The error is look's, or that of Results.
	Outputs(ctx context.Context, look func(out []tile.Tensor) error) error
}

// A Source makes input i. Where at has Data, that is the array itself: the source writes all
// of it and returns at. Elsewhere it returns an array of its own, of at's dtype and shape,
// which is only read.
type Source func(i int, at tile.Tensor) (tile.Tensor, error)

// Inexact is implemented by executables on devices that may multiply less exactly than the
// dtypes of a problem say.
type Inexact interface {
	// Products says how far a product of two numbers of p is off, relative to itself, beyond
	// what its accumulator rounds; and whether exact probes have to be of narrow numbers.
	Products(p problem.Problem) (roundoff float64, narrow bool)
}

// Seeded is an Executable that makes its inputs from a seed and verifies its outputs, beside
// the device. Package backend/seeded makes one of any Executable.
type Seeded interface {
	Executable

	// LoadSeeded fills the inputs from a seed, outside the timed region. When ctx ends
	// first, they are not those of the seed.
	LoadSeeded(ctx context.Context, spec InputSpec) error
	// Check verifies the output of the last Run on inputs of LoadSeeded.
	Check(ctx context.Context, spec CheckSpec) (CheckResult, error)
}

// Plugged is implemented by backends that rest on a plugin.
type Plugged interface {
	// Plugin is the plugin's name and version, as far as they are known.
	Plugin() (name, version string)
}

// Prober is implemented by backends whose figures are measured, not published.
type Prober interface {
	// Probe measures the figures of Device once more and returns it with the larger
	// of both, which Device is from then on: other work on the machine makes a figure
	// too low, never too high. If ctx ends meanwhile, what was not measured stays.
	Probe(ctx context.Context) machine.Device
}

// Planner is implemented by backends that can tell what they make of programs.
type Planner interface {
	// WritePlan writes what each step of the compilation decided, and why, for people to
	// read. Nothing runs. Errors are those of Compile.
	WritePlan(ctx context.Context, w io.Writer, programs []*tile.Program, params Params) error
}

// Assembler is implemented by backends whose inner loops are written in assembly.
type Assembler interface {
	// Assembly returns the routines that the products of programs call. Nothing runs. Errors
	// are those of Compile.
	Assembly(ctx context.Context, programs []*tile.Program, params Params) ([]Routine, error)
}

// A Routine is an inner loop in assembly.
type Routine struct {
	Name    string // "" where a product has no such routine
	Product string // what calls it
	File    string // where its text stands
	Text    string // as Go's assembler reads it
	Code    []byte // what the processor runs, in this process
}

// Controller is implemented by backends on a machine that others may use meanwhile.
type Controller interface {
	// Control times two fixed pieces of work on all cores that the backend uses: one
	// of arithmetic alone, some hundred microseconds long, and a read of memory of
	// about that length. They are comparable on one machine with the same threads and
	// instruction set. Both are 0 if ctx ends first.
	Control(ctx context.Context) (compute, memory time.Duration)
}

// Cooler is implemented by backends that can put the memory of an executable out of the caches.
type Cooler interface {
	// Cool does so with all that a launch of e reads and writes, outside the timed region:
	// the next launch finds nothing of it there.
	Cool(ctx context.Context, e Executable) error
}

// Gauged is implemented by backends on a device that tells how it fares.
type Gauged interface {
	// Gauge reads it, in milliseconds; false if nothing is known, or no longer.
	Gauge(ctx context.Context) (Gauge, bool)
}

// Gauge is how a device fares at one moment. What is 0, empty or said not to be known is not known.
type Gauge struct {
	Name             string
	ClockHertz       float64 // of its multiprocessors
	MemoryClockHertz float64
	Celsius, Watts   float64
	Throttles        string // why its clock is lower than it could be, words joined by +; none for nothing

	// Sums since the driver was started: how long the device was slowed to cool, and how
	// long its limit of power kept its clock down.
	Throttled, Capped time.Duration
	SumsKnown         bool
	Joules            float64 // that the device took, likewise
	JoulesKnown       bool

	MemoryBytes, UsedBytes int64 // of its memory, and what all processes hold of it
	OthersBytes            int64 // what other processes hold
	OthersKnown            bool
}

// Words of Gauge.Throttles. Heat, hardware and supply make a row disturbed (package results,
// disturbances.go). Power does not: a large product keeps a GPU at its limit of power.
const (
	ThrottledByPower    = "power"
	ThrottledByHeat     = "heat"
	ThrottledByHardware = "hardware"
	ThrottledBySupply   = "supply"
)

// Predictor predicts an execution without a device.
type Predictor interface {
	Predict(ctx context.Context, programs []*tile.Program, params Params) (Prediction, error)
}

// BaselinePredictor predicts the vendor's own way to compute a problem.
type BaselinePredictor interface {
	PredictBaseline(ctx context.Context, spec ProblemSpec) (Prediction, error)
}

// Verifiable is implemented by backends that predict what this machine can compute as well.
type Verifiable interface {
	// OnHost returns what computes a problem here: the one that is asked for or, where that would
	// take long, a smaller one. how says in a few words what runs. An error says why nothing does.
	OnHost(ctx context.Context, spec ProblemSpec) (e Executable, p problem.Problem, how string, err error)
}

// Prediction is a predicted launch.
type Prediction struct {
	Elapsed time.Duration // device time of one launch, without dispatch
	// Low and High are the least and the most that it may be, by what sources say of the
	// device and by how well the model is known to fit; 0 where nothing says.
	Low, High time.Duration
	Method    string
	Source    string // the compiler and version that it rests on
	// MemoryBytes is what a device needs of main memory, on a mesh; 0 if it is not known.
	// It stands beside a *TooBigError of that memory too.
	MemoryBytes int64
}

// Sample is one timed execution.
type Sample struct {
	Elapsed  time.Duration // of all launches together
	Method   string        // how it was timed: direct, loop, chain, wall
	Operands string        // the memory in which launches found their operands: hbm, vmem; "" if there is no choice, or it is not known
	Counters Counters      // of one launch

	// Of a function that somebody else wrote, as the process saw it that waited for the launches:
	Outside    time.Duration // until they were done; 0 where nothing is outside
	Processors time.Duration // of processors that its process took meanwhile; 0 if not known
	Allowed    int           // processors on which its threads may run; 0 if not known
	Raised     string        // how the priority of one of its threads is other than it was given; "" for as given
}

// Counters are what a launch did, counted by the backend; 0 where it cannot.
type Counters struct {
	GridSteps    int64 // programs run
	BlocksLoaded int64 // input blocks brought into fast memory
	BytesLoaded  int64 // bytes of them, as stored in the arrays
	BytesStored  int64 // bytes written to output arrays
}

// InputSpec says which inputs to make.
type InputSpec struct {
	Problem problem.Problem
	Seed    uint64
	Dist    string // a distribution known to package check
}

// CheckSpec says what the output is verified against.
type CheckSpec struct {
	InputSpec
	Fault string // corrupts a copy of the output first: the self-test of the check; "" for none
}

// CheckResult is the verdict on an output.
type CheckResult = check.Result

// ProblemSpec asks a Solver for its way to compute a problem.
type ProblemSpec struct {
	Problem problem.Problem
	Variant string // which form of it; "" for the plain one, which most backends alone have
	// Mesh is what devices it is spread over, as mesh.Parse reads it, and Variant then the
	// way, one of mesh.Shardings; "" for one device.
	Mesh   string
	Params Params
	// Program is a StableHLO program, as text or bytecode, that computes it in place of the
	// solver's own way; "" for that. Of this project's backends those on XLA take one.
	Program string
}

// Params are the knobs of a compilation, recorded in the row. The zero value
// leaves all to the backend.
type Params struct {
	Threads   int               // CPU workers; 0 for one a core
	ISA       string            // CPU instruction set; "" for the best
	VMEMBytes int64             // limit of fast memory on a TPU; 0 for the compiler's default
	Prefetch  bool              // whether an operand may come to a TPU's fast memory behind the launch before
	Extra     map[string]string // whatever else a backend knows
}

// String prints the parameters that are neither the default nor have a column
// of their own in the results (threads, isa), as k=v pairs in a fixed order.
func (p Params) String() string {
	var kv []string
	if p.VMEMBytes != 0 {
		size := fmt.Sprint(p.VMEMBytes)
		if mib := p.VMEMBytes >> 20; mib<<20 == p.VMEMBytes { // as one would ask for it
			size = fmt.Sprintf("%dMiB", mib)
		}
		kv = append(kv, "vmem_limit="+size)
	}
	if p.Prefetch {
		kv = append(kv, "prefetch=on")
	}
	for k, v := range p.Extra {
		kv = append(kv, k+"="+v)
	}
	sort.Strings(kv)
	return strings.Join(kv, " ")
}

// ErrUnsupported is what a backend answers to a program it cannot compile; the
// error that wraps it names the operation and the ref.
var ErrUnsupported = errors.New("unsupported")

// ErrClosed is the answer of what was closed.
var ErrClosed = errors.New("closed")

// ErrNoOutput is the answer of who is asked for an output before a Run has written one.
var ErrNoOutput = errors.New("nothing was run on these inputs")

// TooBigError is what a backend answers to a program that does not fit memory.
type TooBigError struct {
	What          string // which memory
	Needed, Limit int64  // bytes; Limit is 0 if unknown
}

func (e *TooBigError) Error() string {
	s := fmt.Sprintf("too big: needs %s of %s", FormatBytes(e.Needed), e.What)
	if e.Limit > 0 {
		s += ", has " + FormatBytes(e.Limit)
	}
	return s
}

// FormatBytes writes a size for people: "12 bytes", "1.5 GiB".
func FormatBytes(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n)/(1<<10), "KiB"
	for _, larger := range []string{"MiB", "GiB", "TiB"} {
		if v < 1<<10 {
			break
		}
		v, unit = v/(1<<10), larger
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// CrashError says that what ran a call is gone: a worker process died or went
// wrong in a way that ends it.
type CrashError struct {
	What   string // what it was asked for
	Reason string // how it ended, and its last words
}

func (e *CrashError) Error() string { return fmt.Sprintf("%s: crashed: %s", e.What, e.Reason) }
