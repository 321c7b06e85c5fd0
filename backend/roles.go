package backend

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"matladder/backend/timeline"
	"matladder/tile"
)

// As returns b in a role. The error wraps ErrUnsupported and says what b cannot do.
func As[Role any](b Backend, cannot string) (Role, error) {
	r, ok := b.(Role)
	if !ok {
		return r, fmt.Errorf("%w: backend %s %s", ErrUnsupported, b.Name(), cannot)
	}
	return r, nil
}

// Compile has b compile programs; ErrUnsupported if it is no Compiler.
func Compile(ctx context.Context, b Backend, programs []*tile.Program, params Params) (Executable, error) {
	c, err := As[Compiler](b, "runs no tile programs")
	if err != nil {
		return nil, err
	}
	return c.Compile(ctx, programs, params)
}

// Solve has b compute a problem in its own way; ErrUnsupported if it is no Solver.
func Solve(ctx context.Context, b Backend, spec ProblemSpec) (Executable, error) {
	s, err := As[Solver](b, "has no way of its own to compute a problem")
	if err != nil {
		return nil, err
	}
	return s.Solve(ctx, spec)
}

// An Adjuster is a Backend whose compiler decides more than a block shape says, by
// rules that were found on some machines and need not be the best on every one.
type Adjuster interface {
	Backend

	// Adjustments lists other decisions for these programs than params leads to: each
	// is params with one key of Extra more, or with another value, and makes other code
	// of them that computes the same. An error means that params do not compile.
	Adjustments(ctx context.Context, programs []*tile.Program, params Params) ([]Params, error)
}

// With returns p with one key of Extra more, or with another value of it, in a map of its own.
func (p Params) With(key, value string) Params {
	extra := map[string]string{}
	maps.Copy(extra, p.Extra)
	extra[key] = value
	p.Extra = extra
	return p
}

// ParseExtra reads what Params.String prints of Extra: k=v pairs parted by spaces. It
// is nil for no pairs.
func ParseExtra(s string) (map[string]string, error) {
	var extra map[string]string
	for _, pair := range strings.Fields(s) {
		k, v, ok := strings.Cut(pair, "=")
		switch _, twice := extra[k]; {
		case !ok || k == "" || v == "":
			return nil, fmt.Errorf("parameter %q: want key=value", pair)
		case twice:
			return nil, fmt.Errorf("parameter %s is given twice", k)
		}
		if extra == nil {
			extra = map[string]string{}
		}
		extra[k] = v
	}
	return extra, nil
}

// Tracer is implemented by executables that can tell what happened when in a launch.
type Tracer interface {
	// Trace runs one launch on the arrays that were loaded, and records it. Spans of kind
	// timeline.Step are the programs of the grid; their arguments add up to the launch's Counters.
	Trace(ctx context.Context) (*timeline.Timeline, error)
}

// TracedCallable is a Callable that can tell the same of a call.
type TracedCallable interface {
	Callable
	CallTraced(ctx context.Context, x *Arguments) (*timeline.Timeline, error)
}

// Caller is implemented by backends that run programs on arrays of their callers, where
// these lie: what a program needs that uses matladder as a library.
type Caller interface {
	Backend

	// CompileCall is Compile for calls; params.Threads is 0 or what the backend has.
	CompileCall(ctx context.Context, programs []*tile.Program, params Params, layout Layout) (Callable, error)
}

// Layout is how the arrays of calls lie in memory.
type Layout struct {
	// Strides are by the name of an array: how many elements are from one to the next along
	// each dimension. The last is 1, and those of others are at least the size of the last
	// dimension. An array without strides has no gaps.
	Strides map[string][]int
	// Unaligned says that outputs may begin anywhere, not just where a cache line does.
	Unaligned bool
	// Packed are inputs that calls get as Callable.Pack made them. Each is the second
	// operand of products, and read by nothing else.
	Packed []string
}

// Callable is a compiled sequence of programs without arrays of its own. Several
// goroutines may use it at once; launches that need all cores take turns.
type Callable interface {
	// Call runs one launch. When ctx ends, the launch ends between two grid steps, the error
	// is the cause of that, and what outputs hold is unknown. A call keeps no array that it
	// is given but until the next call or Close, and allocates nothing once it has run a few times.
	Call(ctx context.Context, x *Arguments) error
	// Pack packs an input of Layout.Packed, whose array is as the layout says.
	Pack(ctx context.Context, name string, array []byte) (Packed, error)
	// Close waits for calls that run and frees all memory. Later calls are refused with ErrClosed.
	Close() error
}

// Arguments are the arrays of calls that follow one another: one goroutine at a time has them.
type Arguments struct {
	Out, In [][]byte // in the order of tile.Bind's Out and In
	Packed  []Packed // by input, those of Layout.Packed, which are nil in In; nil if there are none

	// Version is another whenever one of them is.
	Version uint64
	// Last is the backend's: the memory of the last call on these arguments, which a core
	// may still have in its cache.
	Last any
}

// Packed is an input as Callable.Pack laid it out, for calls of the same Callable.
type Packed interface {
	// Bytes is the memory that it takes.
	Bytes() int64
}
