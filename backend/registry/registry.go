// Package registry is the one table of the backends of a build: what each is called,
// what it can do, which parameters it takes and how it is opened. Commands have no list
// of their own: their flags, messages and manuals come from here.
//
//	func init() {
//		registry.Register(registry.Entry{
//			Name: "abacus", Help: "beads on wires", Can: registry.Measures,
//			Params: []registry.Param{registry.Number("beads", "beads on a wire", "10", 1, 100)},
//			Open: func(ctx context.Context, r registry.Request) (*registry.Device, error) {
//				return &registry.Device{Backend: newAbacus(r.Params["beads"]), Summary: "an abacus"}, nil
//			},
//		})
//	}
//
// adds --backend abacus to every command. Package backend/registry/builtin registers those that
// come with matladder; a program that does not import it has an empty table.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/machine"
)

// Ability is what a backend can do; abilities are joined by |.
type Ability uint8

const (
	Measures    Ability = 1 << iota // compiles tile programs and times their launches
	Predicts                        // tells how long a launch would take on a chip that this machine need not have
	Interpreted                     // runs each grid step of a kernel as plain array operations, not the kernel (variant interpret): an independent check, whose times are no result
	Baseline                        // has the vendor's own matmul
	Programs                        // takes StableHLO programs (backend.ProblemSpec)
)

// has reports whether a has any of the wanted abilities; 0 wants none.
func (a Ability) has(wanted Ability) bool { return wanted == 0 || a&wanted != 0 }

// Entry is a backend of this build.
type Entry struct {
	Name   string // the word of --backend
	Help   string // where kernels run, in one line without a full stop
	Can    Ability
	Params []Param // what --param takes
	// Chips, of a backend that predicts, are the chips that it can be opened for, which this
	// machine need not have: the words of --topology. Nil for a backend that runs on this
	// machine's own devices.
	Chips func() []string
	// Open opens the backend. Start calls it, after Check has found the request's chip and
	// parameters, names and values, to be among those above. A mistake in the request that
	// Check cannot see is a *RequestError.
	Open func(ctx context.Context, r Request) (*Device, error)
}

// Request is how a backend is to be opened. The zero value leaves all to it.
type Request struct {
	Chip    string            // one of the entry's Chips
	Threads int               // of the CPU; 0 for one per core
	Pin     bool              // bind those threads to cores; backends other than of the CPU do not look at it
	Params  map[string]string // by name, as people gave them
	Probe   bool              // measure peaks and bandwidth, unless a cache file has them; otherwise they are unknown
	// Probing is called before they are measured, with the path of that cache file and why it
	// cannot be written, if so; may be nil.
	Probing func(file string, unwritable error)
	Anew    bool          // measure them even if the file has them
	Limit   time.Duration // on one compilation; 0 for the backend's own
}

// Device is an open backend, with what its parameters came to and what commands need to know of it.
type Device struct {
	backend.Backend
	Params    backend.Params // to compile with, from the request's parameters
	Summary   string         // of the machine, for people; Start fills in the chip's key for ""
	Remark    string         // what people should know of it; "" for nothing
	FastBytes int64          // of fast memory (VMEM) that a kernel may use; 0 for no limit

	// Predicts says that it predicts and runs nothing, Interprets that it runs kernels as
	// Interpreted says, and never as such. Start sets both, from the entry's abilities.
	Predicts, Interprets bool

	// Host is the machine with the best that it has, where the backend was told to use less:
	// what others on it are held against. The zero Device where there is no such choice.
	Host machine.Device

	Prober     backend.Prober     // measures the machine's figures once more; nil if none is measured
	ProbeFile  string             // where such figures are kept
	Controller backend.Controller // tells whether the machine is as it was; nil if it cannot be told

	// OpenBaseline opens a backend that measures the vendor's matmul on the same device; nil
	// if Backend does that itself or nothing does. FindBaseline says whether it can be opened,
	// without opening it.
	OpenBaseline func(ctx context.Context) (backend.Backend, error)
	FindBaseline func() error
}

// RequestError is a mistake in what was asked of a backend. Its message begins with the
// flag that asked: --backend, --topology or --param.
type RequestError struct{ Err error }

func (e *RequestError) Error() string { return e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// mistake returns a RequestError with a message as of fmt.Errorf.
func mistake(format string, args ...any) error { return &RequestError{fmt.Errorf(format, args...)} }

// entries is filled by Register, in init functions (and by tests before they begin).
var entries []Entry

// Register adds a backend. It panics if the name is taken or something is missing: that
// is a mistake in the program, found when it starts.
func Register(e Entry) {
	if e.Name == "" || e.Help == "" || e.Can == 0 || e.Open == nil {
		panic(fmt.Sprintf("registry: backend %q lacks a name, a help, an ability or a way to open it", e.Name))
	}
	if slices.ContainsFunc(entries, func(o Entry) bool { return o.Name == e.Name }) {
		panic(fmt.Sprintf("registry: two backends are called %s", e.Name))
	}
	entries = append(entries, e)
}

// entriesOf are the backends with any of the abilities, in the order in which they were
// registered; 0 is all backends.
func entriesOf(can Ability) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !e.Can.has(can) })
}

// Names are the names of the backends with any of the abilities.
func Names(can Ability) []string {
	return each.Of(entriesOf(can), func(e Entry) string { return e.Name })
}

// Find returns the backend of a name, which must have any of the abilities. An error is a
// *RequestError.
func Find(name string, can Ability) (Entry, error) {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
	switch {
	case i < 0:
		return Entry{}, mistake("--backend: this build has no backend %q (known: %s)", name, strings.Join(Names(can), ", "))
	case !entries[i].Can.has(can):
		return entries[i], mistake("--backend: %s cannot do this (can: %s)", name, strings.Join(Names(can), ", "))
	}
	return entries[i], nil
}

// Chips are the chips of all backends that predict: the words of --topology.
func Chips() []string {
	predicting := each.That(entries, func(e Entry) bool { return e.Chips != nil })
	return slices.Concat(each.Of(predicting, func(e Entry) []string { return e.Chips() })...)
}

// OfChip returns the first backend that predicts for a chip. An error is a *RequestError.
func OfChip(chip string) (Entry, error) {
	for _, e := range entries {
		if e.Chips != nil && slices.Contains(e.Chips(), chip) {
			return e, nil
		}
	}
	return Entry{}, mistake("--topology: unknown chip %q (known: %s)", chip, strings.Join(Chips(), ", "))
}

// Check refuses a request that makes no sense to the backend, without opening it: a
// *RequestError.
func (e Entry) Check(r Request) error {
	switch {
	case e.Chips == nil && r.Chip != "":
		return mistake("--topology %s names a chip that need not be there: backend %s is of this machine", r.Chip, e.Name)
	case e.Chips != nil && r.Chip == "":
		return mistake("--backend %s needs --topology: the chip to predict for (%s)", e.Name, strings.Join(e.Chips(), ", "))
	case e.Chips != nil && !slices.Contains(e.Chips(), r.Chip):
		return mistake("--topology: unknown chip %q (known: %s)", r.Chip, strings.Join(e.Chips(), ", "))
	}
	return e.checkParams(r.Params)
}

// Start checks a request, opens the backend, and fills in what follows from its entry.
func (e Entry) Start(ctx context.Context, r Request) (*Device, error) {
	if err := e.Check(r); err != nil {
		return nil, err
	}
	d, err := e.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	d.Predicts, d.Interprets = !e.Can.has(Measures|Interpreted), !e.Can.has(Measures|Predicts)
	d.Summary = cmp.Or(d.Summary, d.Device().Key)
	return d, nil
}

// Param is one parameter of a backend, KEY of --param KEY=VALUE. Choice, Number and Size
// make one of each kind; a backend's list of them is Entry.Params.
type Param struct {
	Name    string
	Values  string // what it takes: "packed, tiles", "a size such as 64MiB"
	Help    string
	Default string // what holds where it is not given, in words for people: nothing is set to it

	check func(value string) error // nil accepts every value
}

// Choice is a parameter whose value is one of words.
func Choice(name, meaning, byDefault string, words ...string) Param {
	list := strings.Join(words, ", ")
	return Param{name, list, meaning, byDefault, func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("no such choice (known: %s)", list)
		}
		return nil
	}}
}

// Text is a parameter with values of its own, which check refuses where they are wrong.
func Text(name, values, meaning, byDefault string, check func(string) error) Param {
	return Param{name, values, meaning, byDefault, check}
}

// Number is a parameter whose value is a whole number from least to most; math.MaxInt is
// no upper bound.
func Number(name, meaning, byDefault string, least, most int) Param {
	values := fmt.Sprintf("a number from %d to %d", least, most)
	if most == math.MaxInt {
		values = fmt.Sprintf("a number from %d on", least)
	}
	return Param{name, values, meaning, byDefault, func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return errors.New("want " + values)
		}
		return nil
	}}
}

// Size is a parameter whose value is a number of bytes, as ParseSize reads it.
func Size(name, meaning, byDefault string) Param {
	return Param{name, "a size such as 64MiB", meaning, byDefault, func(value string) error {
		_, err := ParseSize(value)
		return err
	}}
}

// ParseSize reads a size above 0: a number of bytes, or of KiB, MiB or GiB.
func ParseSize(s string) (int64, error) {
	number, unit := s, 1.
	for suffix, bytes := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = strings.TrimSpace(n), bytes
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v*unit >= 0 && v*unit <= math.MaxInt64/2):
		return 0, errors.New("want bytes, or a number of KiB, MiB or GiB, as in 64MiB")
	case v*unit < 1:
		return 0, errors.New("want a size above 0")
	}
	return int64(v * unit), nil
}

// checkParams refuses parameters that the backend does not have, and values that they do not take.
func (e Entry) checkParams(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		i := slices.IndexFunc(e.Params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			names := each.Of(e.Params, func(p Param) string { return p.Name })
			return mistake("--param %s: backend %s has no such parameter (known: %s)", name, e.Name, cmp.Or(strings.Join(names, ", "), "none"))
		}
		if p := e.Params[i]; p.check != nil {
			if err := p.check(params[name]); err != nil {
				return mistake("--param %s=%s: %w", name, params[name], err)
			}
		}
	}
	return nil
}

// WriteParams writes the parameters of a backend as a table: name, values, meaning, default.
func (e Entry) WriteParams(w io.Writer) error {
	if len(e.Params) == 0 {
		_, err := fmt.Fprintf(w, "backend %s has no parameters\n", e.Name)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "parameter\tvalues\tmeaning\tdefault\n")
	for _, p := range e.Params {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Name, p.Values, p.Help, p.Default)
	}
	return t.Flush()
}

// Write writes the backends with any of the abilities as a table: name and help.
func Write(w io.Writer, can Ability) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entriesOf(can) {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Help)
	}
	return t.Flush()
}
