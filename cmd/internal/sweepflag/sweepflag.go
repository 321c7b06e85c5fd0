// Package sweepflag has the flags that say what a sweep is, reads the sweep that they name,
// and says what its end means to who gave them. The commands that measure, tune and compare
// share these flags.
//
//	--config ─► harness.Config ◄─ --family --sizes --kernel --dtype --precision --blocks --time-budget --seed --threads --pin --cache --inputs --duty --window --cool
package sweepflag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"matladder/check"
	"matladder/configs"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/kernels"
	"matladder/problem"
	"matladder/results"

	"github.com/spf13/pflag"
)

// flags are the text flags of a sweep.
var flags = map[string]string{
	"family":    "problem `FAMILY` in place of the sweep's, with --sizes",
	"kernel":    "`KERNELS` by number or name, joined by commas; 0 is the baseline",
	"dtype":     "`DTYPES` of operand A joined by commas, or operands such as int8:per_channel+token, bfloat16xint4:per_block128:bias+gelu",
	"sizes":     "`SIZES` joined by commas: squares (512), m×k×n (512x1024x2048), or by name (m=512:k=1024:n=2048)",
	"blocks":    "`BLOCKS` of v4 and v5 joined by commas: bm×bk×bn (512x1024x1024), or all",
	"precision": "`PRECISIONS` of float32 products, joined by commas",
	"inputs":    "`INPUTS`, distributions joined by commas, such as uniform,zeros,bits:4,sparse:50: each point once with each",
}

// Define adds --config, with a default, to the flags of a command, and those named.
func Define(f *pflag.FlagSet, config string, names ...string) {
	f.String("config", config, "`SWEEP`: the path of a .yaml file, or one that comes with bench")
	cli.Known(f, "config", configs.Names())
	for _, name := range names {
		f.String(name, "", flags[name])
		switch name {
		case "family":
			cli.Known(f, name, each.Of(problem.Families(), func(f *problem.Family) string { return f.Name }))
		case "kernel":
			cli.Offer(f, name, each.Of(kernels.Ladder(problem.Families()[0]), kernels.Kernel.Name))
		case "dtype":
			cli.Offer(f, name, problem.OperandNames())
		case "precision":
			cli.Known(f, name, []string{"default", "highest"})
		case "inputs":
			cli.Known(f, name, check.Distributions())
		}
	}
}

// Read returns the sweep that flag --config names, with what other flags of f say in
// the place of what it says itself. Flags that f does not have or that were not given
// change nothing. A mistake is a *cli.UsageError that begins with the flag, or a
// *harness.ConfigError.
func Read(f *pflag.FlagSet) (harness.Config, error) {
	text, file, err := Text(f)
	if err != nil {
		return harness.Config{}, err
	}
	return Parse(f, text, file)
}

// Text returns the text of the sweep that flag --config names, and the name of its file.
func Text(f *pflag.FlagSet) (text []byte, file string, err error) {
	name, err := f.GetString("config")
	if err != nil {
		return nil, "", err
	}
	if text, file, err = harness.ReadSweep(name); err != nil {
		return nil, "", cli.Usagef("--config: %w", err)
	}
	return text, file, nil
}

// Parse is Read where the text of the sweep is known.
func Parse(f *pflag.FlagSet, text []byte, file string) (harness.Config, error) {
	if budget, _ := f.GetDuration("time-budget"); budget < 0 {
		return harness.Config{}, cli.Usagef("--time-budget %s is negative", budget)
	}
	c, err := harness.Parse(file, text)
	if err != nil {
		return harness.Config{}, err
	}
	if len(c.Layers) > 0 {
		for _, name := range []string{"family", "sizes", "kernel", "dtype", "blocks", "precision"} {
			if f.Changed(name) {
				return harness.Config{}, cli.Usagef("--%s: the parts of the layers of sweep %s say that themselves", name, c.Name)
			}
		}
	}
	if err := family(f, &c); err != nil {
		return harness.Config{}, err
	}
	if f.Changed("blocks") {
		if c.Blocks, c.AllBlocks, err = harness.ParseBlocks(c.Family, f.Lookup("blocks").Value.String()); err != nil {
			return harness.Config{}, cli.Usagef("--blocks: %w", err)
		}
	}
	return c, cmp.Or(
		replace(f, "sizes", &c.Sizes, of(c.Family, harness.ParseSizes)),
		replace(f, "kernel", &c.Kernels, of(c.Family, harness.ParseKernels)),
		replace(f, "dtype", &c.Asked, of(c.Family, harness.ParseDtypes)),
		replace(f, "precision", &c.Precisions, harness.ParsePrecisions),
		replace(f, "inputs", &c.Inputs, harness.ParseInputs),
		replace(f, "duty", &c.Duty, harness.ParseDuty),
		replace(f, "window", &c.Window, span),
		replace(f, "cool", &c.Cool, span),
		replace(f, "mesh", &c.Mesh, harness.ParseMesh),
		replace(f, "cache", &c.Cache, harness.ParseCache),
		replace(f, "pin", &c.Pin, strconv.ParseBool),
		replace(f, "time-budget", &c.TimeBudget, time.ParseDuration),
		replace(f, "seed", &c.Seed, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }),
	)
}

// span reads a time that is not negative.
func span(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

// family puts another problem family in the place of the sweep's, if flag --family names
// one: with that family's kernels and dtypes, and the sizes of --sizes.
func family(f *pflag.FlagSet, c *harness.Config) error {
	if !f.Changed("family") {
		return nil
	}
	to, err := problem.Find(f.Lookup("family").Value.String())
	switch {
	case err != nil:
		return cli.Usagef("--family: %w", err)
	case to == c.Family:
		return nil
	case !f.Changed("sizes"):
		return cli.Usagef("--family %s wants --sizes %s beside it: those of sweep %s are of %s", to.Name, to.Form(), c.Name, c.Family.Name)
	}
	d := harness.Default(to)
	c.Family, c.Kernels, c.Asked, c.Blocks, c.Batches, c.Precisions = to, d.Kernels, d.Asked, nil, d.Batches, d.Precisions
	return nil
}

// of is what a parser reads of a family.
func of[T any](family *problem.Family, parse func(*problem.Family, string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) { return parse(family, s) }
}

// replace sets a value of the sweep from the text of a flag, if it was given.
func replace[T any](f *pflag.FlagSet, name string, v *T, parse func(string) (T, error)) error {
	if !f.Changed(name) {
		return nil
	}
	x, err := parse(f.Lookup(name).Value.String())
	if err != nil {
		return cli.Usagef("--%s: %w", name, err)
	}
	*v = x
	return nil
}

// Mistake turns an error in what a sweep says (its file or its flags) into a usage error, for
// which the exit status is 2; other errors stay as they are.
func Mistake(err error) error {
	if errors.As(err, new(*harness.ConfigError)) {
		return &cli.UsageError{Err: err}
	}
	return err
}

// Out returns what ended a sweep in the words of flags --out and --resume, where these were the
// mistake: a file that is there already, or one to go on with that is none of results.
func Out(err error, out string, resume bool) error {
	switch {
	case errors.Is(err, os.ErrExist):
		return cli.Usagef("%s exists: go on with it (--resume) or choose another name", out)
	case resume && errors.As(err, new(*results.SyntaxError)):
		return cli.Input("out", err)
	}
	return err
}

// Ended returns what a sweep with rows in its file comes to, where err ended it: points that went
// wrong are cli.ErrTold. Of an interruption it tells the command that goes on.
func Ended(stderr io.Writer, err error, again string, rows []results.Record) error {
	bad := func(r results.Record) bool { return harness.Bad(r.Status) }
	switch {
	case err == nil && slices.ContainsFunc(rows, bad):
		return cli.ErrTold
	case !errors.Is(err, context.Canceled):
	case len(rows) == 0:
		fmt.Fprintln(stderr, "interrupted before the first round was over: nothing to keep")
	default:
		fmt.Fprintf(stderr, "interrupted; to go on: %s\n", again)
	}
	return err
}
