// Package deviceflag has the flags that say where a command runs, --backend, --topology
// and --param, and opens the backend that they name. Which backends, chips and parameters
// there are, their help and their errors come from package backend/registry. All commands
// that open a device share it.
package deviceflag

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/internal/cli"
	"matladder/internal/words"

	"github.com/spf13/pflag"
)

// help is the value by which a flag lists what it takes: --backend help.
const help = "help"

// Flags are the flags of a command.
type Flags struct {
	Backend, Topology string
	Assume            []string // trips of loops
	params            []string
	can               registry.Ability // any of which the backend must have
}

// Define adds the flags to a command's, for backends with any of the abilities.
func Define(s *pflag.FlagSet, can registry.Ability) *Flags {
	f := &Flags{can: can}
	s.StringVar(&f.Backend, "backend", "", "`BACKEND` to run on, "+builtin.CPU+" or with --topology "+builtin.AOT+" if not given; help explains")
	cli.Known(s, "backend", registry.Names(can))
	s.StringVar(&f.Topology, "topology", "", "`CHIP` to predict for"+words.When(can == 0, ", or several joined by commas"))
	cli.Known(s, "topology", registry.Chips())
	s.StringArrayVar(&f.params, "param", nil, "parameter `KEY=VALUE` of the backend; may be repeated; help lists those of --backend")
	return f
}

// DefineAssume adds --assume, for commands that predict programs which others wrote.
func (f *Flags) DefineAssume(s *pflag.FlagSet) {
	s.StringArrayVar(&f.Assume, "assume", nil, "trips of a loop whose count the data decides, `NAME=TRIPS`, named as in its row; may be repeated")
}

// pairs are the parameters; what is assumed is one.
func (f *Flags) pairs() (map[string]string, error) {
	params, err := cli.Pairs("--param", f.params)
	if len(f.Assume) == 0 || err != nil {
		return params, err
	}
	if params == nil {
		params = map[string]string{}
	}
	params["assume"] = strings.Join(f.Assume, ",")
	return params, nil
}

// Each are flags like f for each chip of a list that --topology joins by commas; f itself
// where it is one or none. An error is a *cli.UsageError.
func (f *Flags) Each() (all []*Flags, err error) {
	var chips []string
	for chip := range strings.SplitSeq(f.Topology, ",") {
		if chip == "" && f.Topology != "" {
			return nil, cli.Usagef("--topology %s: a chip is empty (known: %s)", f.Topology, strings.Join(registry.Chips(), ", "))
		}
		if slices.Contains(chips, chip) {
			return nil, cli.Usagef("--topology %s: %s is listed twice", f.Topology, chip)
		}
		one := *f
		one.Topology = chip
		chips, all = append(chips, chip), append(all, &one)
	}
	return all, nil
}

// Asked reports whether help is asked for: --backend help, --param help.
func (f *Flags) Asked() bool { return f.Backend == help || slices.Contains(f.params, help) }

// Help writes it: the backends, or the parameters of the one that --backend names.
func (f *Flags) Help(w io.Writer) error {
	if f.Backend == help {
		return registry.Write(w, f.can)
	}
	e, err := f.Entry()
	if err != nil {
		return err
	}
	return e.WriteParams(w)
}

// Name is the backend that the flags ask for.
func (f *Flags) Name() string {
	switch {
	case f.Backend != "":
		return f.Backend
	case f.Topology != "":
		if e, err := registry.OfChip(f.Topology); err == nil {
			return e.Name
		}
		return builtin.AOT
	}
	return builtin.CPU
}

// Entry is what the registry knows of that backend. An error is a *cli.UsageError.
func (f *Flags) Entry() (registry.Entry, error) {
	if f.Backend == "" && f.Topology != "" {
		if _, err := registry.OfChip(f.Topology); err != nil {
			return registry.Entry{}, usage(err)
		}
	}
	e, err := registry.Find(f.Name(), f.can)
	return e, usage(err)
}

// Open opens the backend that the flags ask for. Its chip and parameters are those of the
// flags, all else is as in r. A mistake in the flags is a *cli.UsageError.
func (f *Flags) Open(ctx context.Context, r registry.Request) (*registry.Device, error) {
	e, err := f.Entry()
	if err != nil {
		return nil, err
	}
	r.Chip = f.Topology
	if r.Params, err = f.pairs(); err != nil {
		return nil, err
	}
	d, err := e.Start(ctx, r)
	return d, usage(err)
}

// Check refuses what Open would refuse for the flags alone, without opening anything.
func (f *Flags) Check() error {
	e, err := f.Entry()
	if err != nil {
		return err
	}
	params, err := f.pairs()
	if err != nil {
		return err
	}
	return usage(e.Check(registry.Request{Chip: f.Topology, Params: params}))
}

// usage turns a *registry.RequestError into a *cli.UsageError.
func usage(err error) error {
	if errors.As(err, new(*registry.RequestError)) {
		return &cli.UsageError{Err: err}
	}
	return err
}
