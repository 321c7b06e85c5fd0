package bench

import (
	"slices"

	"matladder/cmd/internal/sweepflag"
	"matladder/harness"
	"matladder/internal/cli"

	"github.com/spf13/pflag"
)

// ofExecution are the flags that say nothing of the sweep.
var ofExecution = []string{"out", "resume", "list", "dry-run", "table-columns", "export", "trace"}

// recall returns the flags that f.resume goes on with: if none but those of an execution and its
// time budget were given, the ones that the results file was begun with, and its sweep.
func (f *flags) recall(args []string) (*flags, error) {
	own := true
	f.set.Visit(func(flag *pflag.Flag) {
		own = own && (slices.Contains(ofExecution, flag.Name) || flag.Name == "time-budget")
	})
	if !f.resume || !own {
		return f, nil
	}
	r, ok, err := sweepflag.ReadRecord(f.out)
	if err != nil {
		return nil, cli.Usagef("--resume: %w", err)
	}
	if !ok {
		return f, nil
	}
	g, err := parseFlags(slices.Concat(r.Args, args))
	if err != nil {
		return nil, err
	}
	g.recalled = &r
	return g, nil
}

// text is that of the sweep, and the name of its file.
func (f *flags) text() (text []byte, file string, err error) {
	if f.recalled != nil {
		return []byte(f.recalled.Text), f.recalled.Config, nil
	}
	return sweepflag.Text(f.set)
}

// sweep reads the sweep and replaces in it what flags say.
func (f *flags) sweep() (harness.Config, error) {
	text, file, err := f.text()
	if err != nil {
		return harness.Config{}, err
	}
	f.record = sweepflag.Record{Args: sweepflag.Args(f.set, ofExecution...), Config: file, Text: string(text)}
	c, err := sweepflag.Parse(f.set, text, file)
	if f.set.Changed("threads") {
		c.Threads = f.threads
	}
	return c, err
}
