// Package compare is command compare: it compares results of two builds.
package compare

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/results"
	"matladder/results/bundle"
	"matladder/stats"

	"github.com/spf13/pflag"
)

// Run is the command: it writes the table to stdout and returns the exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "verify" {
		return cli.End("compare", runVerify(ctx, args[1:], stdout), "interrupted", stdout, stderr)
	}
	o, err := parse(args)
	if err == nil {
		warn := func(err error) { fmt.Fprintf(stderr, "compare: %v\n", err) }
		switch {
		case o.ab:
			err = o.runAB(ctx, stdout, stderr, warn)
		case o.history != "":
			err = o.runHistory(ctx, stdout, warn)
		case o.bisect != "":
			err = o.runBisect(ctx, stdout, stderr, warn)
		default:
			err = o.compare(ctx, stdout, warn)
		}
	}
	return cli.End("compare", err, "interrupted", stdout, stderr)
}

// options is what the command line asks for, checked.
type options struct {
	old, new []string // files, or with --ab one command line each
	dtypes   []string
	kernels  []string
	as       string
	best     bool
	across   bool
	band     float64
	limit    float64 // of --fail-on-slower; negative without

	history string   // a folder
	out     []string // files of its picture or page

	bisect  string // GOOD..BAD
	command string // that builds at a commit; "" for the usual one

	ab         bool
	pairs      int
	mostPairs  int
	turnBudget time.Duration
	keep       string
	seed       uint64
	sweep      []string // flags of bench for both programs
}

//go:embed manual.txt
var manual string

func parse(args []string) (*options, error) {
	o := &options{limit: -1}
	var band, limit string
	f := cli.NewFlags("compare")
	f.StringSliceVar(&o.dtypes, "dtype", nil, "only these `DTYPES` of operand A")
	f.StringSliceVar(&o.kernels, "kernel", nil, "only these `KERNELS`, by number or name; 0 is the baseline")
	f.BoolVar(&o.best, "best", false, "compare each kernel's fastest blocks, whichever they are")
	f.BoolVar(&o.across, "across", false, "compare different machines or methods all the same")
	cli.Group(f, "WHAT TO COMPARE")
	f.StringVar(&o.as, "as", "text", "`VIEW` of the table")
	cli.Known(f, "as", stats.ComparisonFormats)
	cli.Alias(f, "format", "as")
	f.StringVar(&band, "band", "2%", "a change of the time up to `PERCENT` does not matter")
	f.StringVar(&limit, "fail-on-slower", "", "exit with 1 if a point takes more than `PERCENT` longer, or is lost")
	cli.Group(f, "VERDICTS")
	f.StringVar(&o.history, "history", "", "which runs changed what, in the results files of `FOLDER`")
	f.StringArrayVar(&o.out, "out", nil, "with --history, draw each point to `FILE`.png, .svg or .html; may be repeated")
	cli.Group(f, "OVER TIME")
	f.BoolVar(&o.ab, "ab", false, "run two programs in turns and compare them")
	f.IntVar(&o.pairs, "pairs", 20, "at least `N` turns of each")
	f.IntVar(&o.mostPairs, "most-pairs", 0, "at most `N` turns of each, as long as a point is UNSURE; four times as many as at least if not given")
	f.DurationVar(&o.turnBudget, "turn", time.Second, "about how long a turn takes, the `TIME` budget of bench")
	f.StringVar(&o.keep, "keep", "", "keep the results files of turns in `DIR`")
	f.Uint64Var(&o.seed, "seed", 1, "`SEED` of the draw of who is first")
	cli.Group(f, "TWO PROGRAMS IN TURNS")
	f.StringVar(&o.bisect, "bisect", "", "find which commit of `GOOD..BAD` made a point slower, by programs in turns")
	f.StringVar(&o.command, "build", "", "shell `COMMAND` that builds the program $OUT at a commit; go build -o $OUT ./cmd/bench if not given")
	cli.Group(f, "COMMITS")
	if err := cli.Parse(f, args, manual); err != nil {
		return o, err
	}
	if err := o.place(f); err != nil {
		return o, err
	}
	if !slices.Contains(stats.ComparisonFormats, o.as) {
		return o, cli.Usagef("--as: unknown %q, known are %s", o.as, strings.Join(stats.ComparisonFormats, ", "))
	}
	var err error
	if o.band, err = percent(band); err != nil {
		return o, cli.Usagef("--band: %w", err)
	}
	if f.Changed("fail-on-slower") {
		if o.limit, err = percent(limit); err != nil {
			return o, cli.Usagef("--fail-on-slower: %w", err)
		}
	}
	return o, nil
}

// place takes the arguments for what is compared.
func (o *options) place(f *pflag.FlagSet) error {
	turns := "--ab and --bisect"
	of := map[string]string{"pairs": turns, "most-pairs": turns, "turn": turns, "seed": turns, "keep": "--ab", "out": "--history", "build": "--bisect"}
	modes := each.That([]string{"--ab", "--history", "--bisect"}, func(mode string) bool { return f.Changed(mode[2:]) })
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if f.Changed(name) && !slices.ContainsFunc(modes, func(m string) bool { return strings.Contains(of[name], m) }) {
			return cli.Usagef("--%s is for %s", name, of[name])
		}
	}
	switch {
	case len(modes) > 1:
		return cli.Usagef("%s are different things to do: give one", strings.Join(modes, " and "))
	case o.across && len(modes) > 0:
		return cli.Usagef("--across is for files of two sides, not for %s", modes[0])
	case o.ab:
		return o.placePrograms(f)
	case o.bisect != "":
		return o.placeBisect(f)
	case o.history != "":
		return o.placeHistory(f.Args())
	}
	return o.placeFiles(f)
}

// placeFiles takes the arguments for files of two sides.
func (o *options) placeFiles(f *pflag.FlagSet) error {
	switch dash := f.ArgsLenAtDash(); {
	case dash > 0 && dash < f.NArg():
		o.old, o.new = f.Args()[:dash], f.Args()[dash:]
	case dash < 0 && f.NArg() == 2:
		o.old, o.new = f.Args()[:1], f.Args()[1:]
	case dash >= 0:
		return cli.Misuse(f, "want results files on both sides of --, the old ones first")
	default:
		return cli.Misuse(f, "want two results files, the old one first, or more with -- between old and new; have %d", f.NArg())
	}
	seen := map[string]bool{}
	for _, path := range f.Args() {
		if seen[path] && f.NArg() > 2 {
			return cli.Usagef("%s is named twice", path)
		}
		seen[path] = true
	}
	return nil
}

// mostBudget bounds --turn: beyond it a machine changes more within turns than turns tell.
const mostBudget = time.Hour

// mostOfPairs bounds --pairs: their rows are in memory.
const mostOfPairs = 1_000_000

// placePrograms takes the arguments for two programs and the flags of both.
func (o *options) placePrograms(f *pflag.FlagSet) error {
	args, sweep := f.Args(), []string(nil)
	if dash := f.ArgsLenAtDash(); dash >= 0 {
		args, sweep = args[:dash], args[dash:]
	}
	if len(args) != 2 {
		return cli.Misuse(f, "--ab wants two programs, the old one first, and flags for both behind --; have %d", len(args))
	}
	o.old, o.new = args[:1], args[1:]
	return o.placeTurns(f, sweep)
}

// placeTurns takes the flags of programs in turns.
func (o *options) placeTurns(f *pflag.FlagSet, sweep []string) error {
	switch {
	case o.pairs < 1:
		return cli.Usagef("--pairs %d: want at least 1", o.pairs)
	case o.pairs > mostOfPairs || o.mostPairs > mostOfPairs:
		return cli.Usagef("--pairs and --most-pairs: at most %d", mostOfPairs)
	case f.Changed("most-pairs") && o.mostPairs < o.pairs:
		return cli.Usagef("--most-pairs %d: want at least the %d of --pairs", o.mostPairs, o.pairs)
	case o.turnBudget <= 0:
		return cli.Usagef("--turn %s: want some time", o.turnBudget)
	case o.turnBudget > mostBudget:
		return cli.Usagef("--turn %s: at most %s; more --pairs tell more than longer turns", o.turnBudget, mostBudget)
	}
	o.mostPairs = cmp.Or(o.mostPairs, 4*o.pairs)
	if o.sweep = sweep; len(sweep) == 0 {
		o.sweep = usualSweep
	}
	return nil
}

// percent reads "5%" or "5" as 0.05.
func percent(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || !(v >= 0 && v <= 1000) {
		return 0, fmt.Errorf("%q is not a percentage such as 5%%", s)
	}
	return v / 100, nil
}

// compare reads the files of both sides and writes the table. An error may be that of
// --fail-on-slower.
func (o *options) compare(ctx context.Context, stdout io.Writer, warn func(error)) error {
	before, err := o.read(ctx, o.old, warn)
	if err != nil {
		return err
	}
	after, err := o.read(ctx, o.new, warn)
	if err != nil {
		return err
	}
	list, onlyOld, onlyNew := stats.Pair(before, after, o.band, o.best)
	if differ := differences(list); len(differ) > 0 {
		if !o.across {
			return fmt.Errorf("not the same machine or method: %s; --across compares all the same", strings.Join(differ, "; "))
		}
		for _, d := range differ {
			warn(errors.New("across " + d))
		}
	}
	return o.write(stdout, warn, list, onlyOld, onlyNew)
}

// write writes the table, and returns the error of --fail-on-slower if there is one.
func (o *options) write(stdout io.Writer, warn func(error), list []stats.Comparison, onlyOld, onlyNew []*stats.Summary) error {
	if len(list) == 0 {
		return fmt.Errorf("%s and %s share no point that ran (%d points only in the first, %d only in the second)",
			sideName(o.old), sideName(o.new), len(onlyOld), len(onlyNew))
	}
	if err := stats.WriteComparisons(stdout, o.as, list); err != nil {
		return err
	}
	for i, alone := range [][]*stats.Summary{onlyOld, onlyNew} {
		if n := len(alone); n > 0 {
			warn(fmt.Errorf("%d points only in %s, the first is %s", n, sideName([][]string{o.old, o.new}[i]), name(alone[0])))
		}
	}
	return o.judge(list)
}

// sideName names the files of a side.
func sideName(files []string) string { return words.First(files, 1, " ") }

// read summarizes the points of a side's files that are asked for.
func (o *options) read(ctx context.Context, files []string, warn func(error)) ([]stats.Summary, error) {
	var side []stats.Summary
	for _, path := range files {
		all, list, err := o.summarize(ctx, path, warn)
		if err == nil && len(list) == 0 {
			err = noRows(path, all)
		}
		if err != nil {
			return nil, err
		}
		side = append(side, list...)
	}
	return side, nil
}

// summarize returns the points of a file, and those that are asked for.
func (o *options) summarize(ctx context.Context, path string, warn func(error)) (all, list []stats.Summary, err error) {
	var rows stats.Summarizer
	add := func() (*results.File, error) { return rows.AddFile(ctx, path) }
	if filepath.Ext(path) == ".zip" {
		add = func() (*results.File, error) {
			content, err := bundle.Read(path)
			if err != nil {
				return nil, err
			}
			f, err := results.Read(bytes.NewReader(content[bundle.Rows]), path)
			for i := 0; err == nil && i < len(f.Rows); i++ {
				rows.Add(&f.Rows[i])
			}
			return f, err
		}
	}
	f, err := add()
	if err != nil {
		return nil, nil, cli.Input("", err)
	}
	for _, w := range f.Warnings() {
		warn(w)
	}
	all = rows.Summaries()
	list = slices.DeleteFunc(slices.Clone(all), func(s stats.Summary) bool {
		return len(o.dtypes) > 0 && !slices.Contains(o.dtypes, s.DtypeA) ||
			len(o.kernels) > 0 && !slices.ContainsFunc(o.kernels, func(k string) bool { return named(s.Kernel, k) })
	})
	return all, list, nil
}

// noRows says that nothing of all points is asked for.
func noRows(path string, all []stats.Summary) error {
	if len(all) == 0 {
		return fmt.Errorf("%s has no rows; make some with: go run ./cmd/bench", path)
	}
	return fmt.Errorf("%s has no rows that --kernel and --dtype pick: it has %s", path, contents(all))
}

// contents names the kernels and dtypes of rows.
func contents(rows []stats.Summary) string {
	kernels := each.Of(rows, func(s stats.Summary) string { return s.Kernel })
	dtypes := each.Of(rows, func(s stats.Summary) string { return s.DtypeA })
	slices.SortFunc(kernels, stats.CompareKernels)
	slices.Sort(dtypes)
	return strings.Join(slices.Compact(kernels), ", ") + " in " + strings.Join(slices.Compact(dtypes), ", ")
}

// named reports whether a kernel is called k: by number, name, or name without
// the number. Files may hold kernels that this program does not know.
func named(kernel, k string) bool {
	short, rest, _ := strings.Cut(kernel, "_")
	n, ok := stats.Rung(kernel)
	return k == kernel || ok && (k == short || k == rest || k == strconv.Itoa(n)) || k == "0" && kernel == results.Baseline
}

// differences lists what differs between the runs, each once.
func differences(list []stats.Comparison) []string {
	var differ []string
	for _, c := range list {
		for _, d := range c.Differences {
			differ = each.With(differ, d)
		}
	}
	return differ
}

// judge returns an error if the limit of --fail-on-slower is passed.
func (o *options) judge(list []stats.Comparison) error {
	if o.limit < 0 {
		return nil
	}
	bad := each.That(list, func(c stats.Comparison) bool {
		return c.Verdict == stats.Lost || c.Verdict == stats.Slower && 1/c.Ratio.Median > 1+o.limit
	})
	if len(bad) == 0 {
		return nil
	}
	slices.SortStableFunc(bad, stats.CompareVerdicts)
	worst := "lost, it is " + string(bad[0].New.Status)
	if bad[0].Verdict == stats.Slower {
		worst = fmt.Sprintf("slower by %.3g %%", 100*(1/bad[0].Ratio.Median-1))
	}
	return fmt.Errorf("%d of %d points are lost or more than %.3g %% slower; the worst, %s, is %s",
		len(bad), len(list), 100*o.limit, name(bad[0].New), worst)
}

func name(s *stats.Summary) string {
	chip := ""
	if s.Mode == results.Predicted { // a file may have several
		chip = words.Between("for ", s.Chip, "")
	}
	return words.Joined(" ", s.Kernel, s.Variant, s.Blocks(), s.Dtypes(), s.Size(), string(s.Mode), chip)
}
