package aot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/aot/schedule"
	"matladder/backend/internal/libtpu"
	"matladder/plugins"
)

// Options say which compiler to use and how. The zero value is right for most.
type Options struct {
	Library  string        // path of libtpu.so; "" for the installed plugin tpu
	Flags    string        // what LIBTPU_INIT_ARGS holds; a misspelt flag ends the child
	Parallel int           // compilations at a time; 0 for one a core
	Limit    time.Duration // for one compilation; 0 is five minutes

	// Schedules has the schedule of every kernel read from what libtpu dumps. It
	// takes a folder of temporary files, a few MB while a program is compiled.
	Schedules bool
}

// Compiler compiles for the topologies that libtpu knows. Its methods may be
// called at the same time.
type Compiler struct {
	options Options
	dumps   string // folder of the children's dumps; "" without Schedules
	slots   chan *slot
}

// slot is one compilation at a time.
type slot struct {
	child *child // nil until it is needed
	dump  string // folder; "" without Schedules
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

	// Optimized is the program as the compiler left it, in Format (see package
	// backend/internal/hlo); only CompileOptimized asks for it.
	Optimized []byte
	Format    string
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
}

func (e *CrashError) Error() string { return "libtpu: " + e.Reason }

func (e *CrashError) Unwrap() error {
	if e.Timeout {
		return context.DeadlineExceeded
	}
	return &backend.CrashError{What: "libtpu", Reason: e.Reason}
}

// ErrNoCompiler is why Open fails where libtpu cannot be had.
var ErrNoCompiler = errors.New("libtpu is for Linux on amd64 alone")

// Open returns a compiler. It is an error if libtpu is not installed:
// *plugins.NotInstalledError says how to get it.
func Open(o Options) (*Compiler, error) {
	if !supported {
		return nil, ErrNoCompiler
	}
	if o.Library == "" {
		installed, err := plugins.Find("tpu")
		if err != nil {
			return nil, err
		}
		o.Library = installed.Library()
	}
	if _, err := os.Stat(o.Library); err != nil {
		return nil, fmt.Errorf("aot: %w", err)
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.Limit <= 0 {
		o.Limit = 5 * time.Minute
	}
	c := &Compiler{options: o, slots: make(chan *slot, o.Parallel)}
	if o.Schedules {
		var err error
		if c.dumps, err = os.MkdirTemp("", "matladder-aot-"); err != nil {
			return nil, fmt.Errorf("aot: no folder for schedules: %w", err)
		}
	}
	for i := range o.Parallel {
		c.slots <- &slot{dump: c.dumpFolder(i)}
	}
	return c, nil
}

// Compile compiles a StableHLO program, as text, for a topology such as v5e:2x2.
// It waits for its turn.
func (c *Compiler) Compile(ctx context.Context, topology, program string) (*Compiled, error) {
	return c.compile(ctx, request{Topology: topology, Program: program})
}

func (c *Compiler) compile(ctx context.Context, r request) (*Compiled, error) {
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
		o := c.options
		o.Flags = strings.TrimSpace(o.Flags + " " + s.flags())
		var err error
		if s.child, err = start(o); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.options.Limit)
	defer cancel()
	got, err := s.child.ask(limited, r)
	if err != nil {
		grace := time.Second // for a process that is ending anyway
		if limited.Err() != nil {
			grace = 0
		}
		how := s.child.end(grace)
		s.child = nil
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			return nil, &CrashError{fmt.Sprintf("no answer within %v", c.options.Limit), true}
		}
		return nil, &CrashError{"the compiler ended its process: " + how, false}
	}
	if got.Failed {
		return nil, Classify(got.Code, got.Message)
	}
	compiled := &Compiled{
		CodeBytes: got.Code64, ArgumentBytes: got.Argument, OutputBytes: got.Output, TempBytes: got.Temp,
		Cost: got.Cost, Optimized: got.Optimized, Format: got.Format,
	}
	if compiled.Schedules, err = s.schedules(); err != nil {
		return nil, err
	}
	compiled.Elapsed = time.Since(began)
	return compiled, nil
}

// Close ends the children. It waits for compilations that are under way.
func (c *Compiler) Close() error {
	for range c.options.Parallel {
		if s := <-c.slots; s.child != nil {
			s.child.end(0)
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

// request is what a child is asked.
type request struct {
	Topology, Program string
	Options           map[string]bool // of the compiler, beyond its defaults
	Optimized         bool            // the optimized program is wanted
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
