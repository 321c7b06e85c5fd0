package aot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/internal/libtpu"
	"matladder/backend/xla/aot/schedule"
	"matladder/internal/child"
	"matladder/plugins"
)

// Options say which compiler to use and how. The zero value is right for most.
type Options struct {
	Library  string        // path of libtpu.so; "" for the installed plugin tpu
	Flags    string        // what LIBTPU_INIT_ARGS holds beyond the environment's own; a misspelt flag ends the child
	Parallel int           // compilations at a time; 0 for one a core
	Limit    time.Duration // for one compilation; 0 is five minutes

	// Schedules has the schedule of every kernel read from what libtpu dumps. It
	// takes a folder of temporary files, a few MB while a program is compiled.
	Schedules bool
	Optimized bool // has the program read as the compiler left it
	// Foreign has more read of programs that are not this project's: the text of kernels
	// that they bring along. What cannot be read is reported for each kernel.
	Foreign bool
	// Assume has the trips of loops that data decides: for a kernel those of its loops of that
	// kind, in order; for a loop that the compiler has around kernels, by its name, one number.
	Assume map[string][]int

	maker   maker  // libtpu if zero
	version string // of the plugin; "" if unknown
}

// defaultLimit is that of one compilation.
const defaultLimit = 5 * time.Minute

// maker is what sets one compiler apart from another.
type maker struct {
	name     string // for people
	env      func(o Options, dump string) []string
	classify func(code int, message string) error
	// read reads what a compilation left in a folder into what is said of it.
	read func(ctx context.Context, o Options, dump string, into *Compiled) error
}

// environment is what libtpu needs where there is no TPU: not to wait for a
// cloud's metadata server, to take the host for one of a slice, to share the
// machine with other processes that load it, and to keep its logs to itself.
var environment = []string{
	"TPU_SKIP_MDS_QUERY=1", "TPU_ACCELERATOR_TYPE=v5litepod-1", "TPU_WORKER_HOSTNAMES=localhost",
	"ALLOW_MULTIPLE_LIBTPU_LOAD=1", "TPU_LOG_DIR=disabled", "TPU_MIN_LOG_LEVEL=2", "TPU_STDERR_LOG_LEVEL=2",
}

// libtpuMaker is the compiler of TPUs.
var libtpuMaker = maker{
	name: libtpu.Name,
	env: func(o Options, dump string) []string {
		env := slices.Clone(environment)
		if flags := strings.TrimSpace(o.Flags + " " + dumpFlagsOf(dump, o.Foreign)); flags != "" {
			env = append(env, "LIBTPU_INIT_ARGS="+flags)
		}
		return env
	},
	classify: libtpu.Classify,
	read: func(_ context.Context, o Options, dump string, into *Compiled) (err error) {
		if o.Foreign {
			into.foreign = &foreign{}
		}
		into.Schedules, err = schedules(dump, into.foreign, o.Assume)
		return err
	},
}

// Compiler compiles for the topologies that libtpu knows. Its methods may be
// called at the same time.
type Compiler struct {
	options Options
	bytes   int64  // of the library
	dumps   string // folder of the children's dumps; "" without Schedules
	slots   chan *slot
}

// slot is one compilation at a time.
type slot struct {
	child *child.Process // nil until it is needed
	dump  string         // folder; "" without Schedules
}

// Compiled is what the compiler says of a program.
type Compiled struct {
	CodeBytes     int64
	ArgumentBytes int64
	OutputBytes   int64
	TempBytes     int64
	// Cost is libtpu's own cost analysis, by property: "flops", "bytes accessed",
	// "optimal_seconds". It rests on what kernels say of themselves.
	Cost    map[string]float64
	Elapsed time.Duration // of the compilation
	// Schedules are those of the program's kernels, with Options.Schedules; the
	// program around them is left out.
	Schedules []*schedule.Schedule
	// Kernels are those of a program for a GPU, in the order in which they are
	// launched; without Options.Schedules there are none.
	Kernels []GPUKernel
	// Sequence is what XLA says it launches on a GPU, one a line: kernels, calls of
	// libraries, copies.
	Sequence string

	// Optimized is the program as the compiler left it, in Format (see package
	// backend/internal/hlo), with Options.Optimized.
	Optimized []byte
	Format    string

	foreign *foreign // with Options.Foreign
}

// CompileError is a program that the compiler takes for wrong.
type CompileError = libtpu.CompileError

// Classify turns an error of libtpu, with its PJRT code, into one that a caller can
// decide on: *backend.TooBigError, backend.ErrUnsupported or *CompileError.
func Classify(code int, message string) error { return libtpu.Classify(code, message) }

// CrashError is a child that ended, or was ended at the limit, before it answered:
// a *backend.CrashError, or context.DeadlineExceeded at the limit.
type CrashError struct {
	Reason  string
	Timeout bool // ended at the limit

	compiler string // libtpu if empty
}

func (e *CrashError) name() string { return cmp.Or(e.compiler, libtpuMaker.name) }

func (e *CrashError) Error() string { return e.name() + ": " + e.Reason }

func (e *CrashError) Unwrap() error {
	if e.Timeout {
		return context.DeadlineExceeded
	}
	return &backend.CrashError{What: e.name(), Reason: e.Reason}
}

// ErrNoCompiler is why Open fails where no compiler can be had.
var ErrNoCompiler = errors.New("compilers that need no device are for Linux on amd64 alone")

// Open returns a compiler. It is an error if libtpu is not installed:
// *plugins.NotInstalledError says how to get it.
func Open(o Options) (*Compiler, error) {
	if !supported {
		return nil, ErrNoCompiler
	}
	c := &Compiler{}
	if o.Library == "" {
		installed, err := plugins.Find("tpu")
		if err != nil {
			return nil, err
		}
		o.Library, o.version = installed.Library(), installed.Version
	}
	library, err := os.Stat(o.Library)
	if err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	c.bytes = library.Size()
	if o.maker.name == "" {
		o.maker = libtpuMaker
		flags, err := libtpu.UserFlags()
		if err != nil {
			return nil, fmt.Errorf("aot: %w", err)
		}
		o.Flags = strings.TrimSpace(flags + " " + o.Flags)
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	c.options, c.slots = o, make(chan *slot, o.Parallel)
	if o.Schedules {
		if c.dumps, err = os.MkdirTemp("", "matladder-aot-"); err != nil {
			return nil, fmt.Errorf("aot: no folder for schedules: %w", err)
		}
	}
	for i := range o.Parallel {
		c.slots <- &slot{dump: c.dumpFolder(i)}
	}
	return c, nil
}

// about is what outcomes of all programs depend on, by the name of the compiler.
func (c *Compiler) about(name string) string {
	return fmt.Sprintf("%s %s of %d bytes, flags %s", name, c.options.version, c.bytes, c.options.Flags)
}

// Compile compiles a StableHLO program, as text, for a topology such as v5e:2x2, with
// options of the compiler by name, of which later ones win. It waits for its turn.
func (c *Compiler) Compile(ctx context.Context, topology, program string, options ...hlo.Options) (*Compiled, error) {
	all := hlo.Options{}
	for _, some := range options {
		maps.Copy(all, some)
	}
	return c.compile(ctx, request{Topology: topology, Program: program, Options: all})
}

func (c *Compiler) compile(ctx context.Context, r request) (*Compiled, error) {
	r.Library, r.Optimized = c.options.Library, c.options.Optimized || r.Partitions > 0
	var s *slot
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case s = <-c.slots:
	}
	defer func() { c.slots <- s }()
	if err := s.empty(); err != nil {
		return nil, err
	}
	if s.child == nil {
		var err error
		if s.child, err = child.Start(child.Options{Role: role, Env: c.options.maker.env(c.options, s.dump)}); err != nil {
			return nil, fmt.Errorf("aot: %w", err)
		}
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.options.Limit)
	defer cancel()
	var got answer
	if err := s.child.Ask(limited, "compilation", r, nil, &got, nil); err != nil {
		if !s.child.Alive() {
			s.child = nil
		}
		var crash *child.CrashError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			return nil, &CrashError{fmt.Sprintf("no answer within %v", c.options.Limit), true, c.options.maker.name}
		case errors.As(err, &crash):
			return nil, &CrashError{"the compiler ended its process: " + crash.Reason, false, c.options.maker.name}
		}
		return nil, fmt.Errorf("%s: %w", c.options.maker.name, err)
	}
	if got.Failed {
		return nil, c.options.maker.classify(got.Code, got.Message)
	}
	compiled := &Compiled{
		CodeBytes: got.Code64, ArgumentBytes: got.Argument, OutputBytes: got.Output, TempBytes: got.Temp,
		Cost: got.Cost, Optimized: got.Optimized, Format: got.Format,
	}
	if s.dump != "" && r.Partitions == 0 { // schedules of collectives are not read
		if err := c.options.maker.read(limited, c.options, s.dump, compiled); err != nil {
			return nil, err
		}
	}
	compiled.Elapsed = time.Since(began)
	return compiled, nil
}

// Close ends the children. It waits for compilations that are under way.
func (c *Compiler) Close() error {
	for range c.options.Parallel {
		if s := <-c.slots; s.child != nil {
			s.child.Kill()
		}
	}
	for i := range c.options.Parallel {
		c.slots <- &slot{dump: c.dumpFolder(i)}
	}
	if c.dumps == "" {
		return nil
	}
	return os.RemoveAll(c.dumps)
}

// role is that of a child process that compiles.
const role = "compiler"

// request is what a child is asked.
type request struct {
	Library           string // the compiler's, loaded at the first request
	Topology, Program string
	Config            string      // of a GPU: its description for XLA's compiler
	Options           hlo.Options // of the compiler, beyond its defaults
	Optimized         bool        // the optimized program is wanted
	Partitions        int         // devices that Shardy spreads the program over; 0 for one that is not spread
}

// answer is what it says.
type answer struct {
	Failed  bool
	Code    int // of PJRT, if it failed
	Message string

	Code64, Argument, Output, Temp int64
	Cost                           map[string]float64
	Format                         string
	Optimized                      []byte
}
