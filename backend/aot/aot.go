package aot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"matladder/backend/internal/libtpu"
	"matladder/plugins"
)

// Options say which compiler to use and how. The zero value is right for most.
type Options struct {
	Library  string        // path of libtpu.so; "" for the installed plugin tpu
	Flags    string        // what LIBTPU_INIT_ARGS holds; a misspelt flag ends the child
	Parallel int           // compilations at a time; 0 for one a core
	Limit    time.Duration // for one compilation; 0 is five minutes
}

// Compiler compiles for the topologies that libtpu knows. Its methods may be
// called at the same time.
type Compiler struct {
	options Options
	slots   chan *child // a slot may hold a running child, or nil
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

	// Optimized is the program as the compiler left it, in Format (see package
	// backend/internal/hlo); only CompileOptimized asks for it.
	Optimized []byte
	Format    string
}

// CompileError is a program that the compiler takes for wrong.
type CompileError = libtpu.CompileError

// CrashError is a child that ended, or was ended at the limit, before it answered.
type CrashError struct{ Reason string }

func (e *CrashError) Error() string { return "libtpu: " + e.Reason }

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
	c := &Compiler{o, make(chan *child, o.Parallel)}
	for range o.Parallel {
		c.slots <- nil
	}
	return c, nil
}

// Compile compiles a StableHLO program, as text, for a topology such as v5e:2x2.
// It waits for its turn.
func (c *Compiler) Compile(ctx context.Context, topology, program string) (*Compiled, error) {
	return c.compile(ctx, request{Topology: topology, Program: program})
}

func (c *Compiler) compile(ctx context.Context, r request) (*Compiled, error) {
	var worker *child
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case worker = <-c.slots:
	}
	defer func() { c.slots <- worker }()
	if worker == nil {
		var err error
		if worker, err = start(c.options); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.options.Limit)
	defer cancel()
	got, err := worker.ask(limited, r)
	if err != nil {
		grace := time.Second // for a process that is ending anyway
		if limited.Err() != nil {
			grace = 0
		}
		how := worker.end(grace)
		worker = nil
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			return nil, &CrashError{fmt.Sprintf("no answer within %v", c.options.Limit)}
		}
		return nil, &CrashError{"the compiler ended its process: " + how}
	}
	if got.Failed {
		return nil, libtpu.Classify(got.Code, got.Message)
	}
	return &Compiled{
		CodeBytes: got.Code64, ArgumentBytes: got.Argument, OutputBytes: got.Output, TempBytes: got.Temp,
		Cost: got.Cost, Optimized: got.Optimized, Format: got.Format, Elapsed: time.Since(began),
	}, nil
}

// Close ends the children. It waits for compilations that are under way.
func (c *Compiler) Close() error {
	for range c.options.Parallel {
		if worker := <-c.slots; worker != nil {
			worker.end(0)
		}
	}
	for range c.options.Parallel {
		c.slots <- nil
	}
	return nil
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
