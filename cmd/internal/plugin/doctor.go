package plugin

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/plugins"
	"matladder/plugins/probe"
)

// doctor examines the installed plugins, or the libraries that are named.
func doctor(ctx context.Context, f *flags, stdout io.Writer) (err error) {
	if f.limit <= 0 {
		return cli.Usagef("--timeout must be positive")
	}
	d := diagnosis{ctx, stdout, f.limit, true}
	what := f.set.Args()[1:]
	if len(what) == 0 {
		what = plugins.Names()
	}
	for _, name := range what {
		if slices.Contains(plugins.Names(), name) {
			err = d.plugin(name, f.set.NArg() > 1)
		} else {
			fmt.Fprintln(stdout, name)
			err = d.library("", name, nil)
		}
		if err != nil {
			return err
		}
	}
	if !d.well {
		return cli.ErrTold
	}
	return nil
}

// diagnosis is what doctor has found.
type diagnosis struct {
	ctx   context.Context
	w     io.Writer
	limit time.Duration
	well  bool
}

func (d *diagnosis) line(what, found string) { fmt.Fprintf(d.w, "  %-8s %s\n", what, found) }

// bad is line for what should work everywhere.
func (d *diagnosis) bad(what, found string) {
	d.line(what, found)
	d.well = false
}

// plugin examines each installation of a plugin, of which there must be one if it is wanted.
func (d *diagnosis) plugin(name string, wanted bool) error {
	_, all, err := installed()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(i plugins.Installed) bool { return i.Name != name })
	for _, i := range all {
		fmt.Fprintf(d.w, "%s %s\n", i.Name, i.Version)
		err := i.Vouched()
		if err == nil {
			err = i.Verify()
		}
		if err != nil {
			d.bad("files", err.Error())
			continue
		}
		if i.Unpinned && len(i.Wheels) == 0 {
			d.line("files", "links to packages on this machine, which nobody vouches for")
		} else if i.Unpinned {
			d.line("files", "unpinned: only the index said what they are")
		}
		if err := d.library(name, i.Library(), i.Environment()); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(d.w, name)
		d.well = d.well && !wanted
		d.line("files", "not installed: go run ./cmd/plugin install "+name)
	}
	if missing := plugins.MissingDevice(name); missing != "" {
		d.line("device", missing)
	} else if driver := plugins.Driver(name); driver != "" {
		d.line("driver", driver)
	}
	return nil
}

// library examines a library in an environment; name is that of the plugin, or "".
func (d *diagnosis) library(name, path string, env []string) error {
	if err := plugins.Inspect(path, plugins.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}); err != nil {
		d.bad("library", err.Error())
		return nil
	}
	d.line("library", path)
	r, err := probe.Run(d.ctx, path, probe.Options{Client: true, Env: append(env, plugins.Environment(name)...), Limit: d.limit})
	if err != nil {
		return err
	}
	if r.Step != probe.Client {
		d.bad("loads", "no: "+r.Problem)
		return nil
	}
	d.line("loads", fmt.Sprintf("yes: PJRT API %s (%d bytes)", r.API, r.APIBytes))
	switch {
	case r.Problem == "":
		d.line("client", fmt.Sprintf("yes: platform %s, %s", r.Platform, devices(r.Devices)))
	case name != "" && plugins.MissingDevice(name) != "":
		d.line("client", "no: "+r.Problem)
	default:
		d.bad("client", "no: "+r.Problem)
	}
	return nil
}

// devices counts devices by kind: 4 devices (cpu).
func devices(kinds []string) string {
	if len(kinds) == 0 {
		return "no devices"
	}
	return fmt.Sprintf("%s (%s)", words.Count(len(kinds), "device"), strings.Join(slices.Compact(slices.Clone(kinds)), ", "))
}
