package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/stats"

	"github.com/spf13/pflag"

	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/problem"
	"matladder/tile"
)

// options is what the command line asks for, checked.
type options struct {
	family  *problem.Family // nil for all
	kernels []plots.Pair    // without dtypes; empty for all
	dtypes  []string        // empty for all
	inputs  []string        // empty for out/*.csv
	output  string          // "" for beside the input
	kinds   []plots.Kind
	format  figure.Format
	table   string
	columns []string // that tables have besides
	readme  string
	html    string
	usage   string
	blocks  string // "all" or ""

	used []stats.Summary // what was shown, for provenance
}

func parse(args []string) (*options, error) {
	o := &options{}
	var analyze []string
	var kinds []string
	var format, family, columns string
	f := cli.NewFlags("plot")
	f.StringVar(&family, "family", "", "draw problems of this `family` alone (default all)")
	f.StringSliceVar(&analyze, "analyze", nil, "draw these `kernels`, by number or name, of other families than matmul as softmax/2; 0 is the baseline (default all)")
	f.StringSliceVar(&o.dtypes, "dtype", nil, "draw these `dtypes` of operand a (default all)")
	f.StringSliceVar(&kinds, "kind", []string{string(plots.Size)}, "`kinds` of picture: "+joined(plots.Kinds()))
	f.StringVar(&format, "format", string(figure.PNG), "`format` of the pictures: "+joined(figure.Formats))
	f.StringArrayVar(&o.inputs, "input", nil, "results `file` or glob, may be repeated (default the newest in "+defaultInput+")")
	f.StringVar(&o.output, "output", "", "`folder` for the pictures (default beside the input)")
	f.StringVar(&o.blocks, "blocks", "", "`all` names every block shape in the size pictures, with a line for each")
	f.StringVar(&o.table, "table", "", "write a table to standard output instead, as `format`: "+strings.Join(stats.Formats, ", "))
	f.StringVar(&columns, "table-columns", "", "`COLUMNS` that text and md tables have besides: "+strings.Join(stats.TableColumns, ", "))
	f.StringVar(&o.readme, "readme", "", "write the ladder's table into `file` between its marks instead")
	f.StringVar(&o.html, "html", "", "write a report to explore, one page that needs no network, to `file` instead")
	o.usage = "Usage: go run ./cmd/plot [flags]\n\nDraws what cmd/bench measured. The manual: go doc ./cmd/plot\n\n" + f.FlagUsages() + "\n"
	if err := cli.Parse(f, args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, cli.Misuse(f, "unexpected argument %q: results files are given by --input", f.Arg(0))
	}
	var err error
	for _, name := range kinds {
		kind, err := oneOf("--kind", name, plots.Kinds())
		if err != nil {
			return o, err
		}
		o.kinds = append(o.kinds, kind)
	}
	if o.format, err = oneOf("--format", format, figure.Formats); err != nil {
		return o, err
	}
	if o.table != "" {
		if _, err := oneOf("--table", o.table, stats.Formats); err != nil {
			return o, err
		}
	}
	if o.blocks != "" && o.blocks != "all" {
		return o, fmt.Errorf("--blocks: unknown %q, known are all", o.blocks)
	}
	if family != "" {
		if o.family, err = problem.Find(family); err != nil {
			return o, fmt.Errorf("--family: %w", err)
		}
	}
	if f.Changed("table-columns") {
		if o.columns, err = stats.ParseTableColumns(columns); err != nil {
			return o, fmt.Errorf("--table-columns: %w", err)
		}
		if o.readme == "" && o.table != "text" && o.table != "md" {
			return o, errors.New("--table-columns is for --table text or md and for --readme; csv and json have all columns")
		}
	}
	for _, name := range analyze {
		kernel, err := o.kernelOf(name)
		if err != nil {
			return o, fmt.Errorf("--analyze: %w", err)
		}
		o.kernels = append(o.kernels, kernel)
	}
	for _, name := range o.dtypes {
		if _, err := tile.ParseDtype(name); err != nil {
			return o, fmt.Errorf("--dtype: %w", err)
		}
	}
	return o, o.conflicts(f)
}

// conflicts reports flags that contradict each other or would be ignored.
func (o *options) conflicts(f *pflag.FlagSet) error {
	if o.table != "" && o.readme != "" {
		return errors.New("--table and --readme are two ways to write a table: give one")
	}
	if o.html != "" && (o.table != "" || o.readme != "") {
		return errors.New("--html writes a page, --table and --readme a table: give one")
	}
	if o.html != "" {
		for _, flag := range []string{"kind", "format", "output"} {
			if f.Changed(flag) {
				return fmt.Errorf("--%s is for pictures, and --html writes a page that has its own", flag)
			}
		}
	}
	if o.table != "" || o.readme != "" {
		for _, flag := range []string{"kind", "format", "output"} {
			if f.Changed(flag) {
				return fmt.Errorf("--%s is for pictures, and --table and --readme draw none", flag)
			}
		}
	}
	if len(o.kernels) > 0 && o.readme != "" {
		return errors.New("--analyze picks kernels, but the table of --readme shows all of them")
	}
	perKernel := func(k plots.Kind) bool { return k.Scope() == plots.PerKernel }
	if draws := o.table == "" && o.readme == "" && o.html == ""; draws && len(o.kernels) > 0 && !slices.ContainsFunc(o.kinds, perKernel) {
		return fmt.Errorf("--analyze picks kernels, but a %s picture shows all of them", o.kinds[0])
	}
	return nil
}

// kernelOf reads a kernel: of --family, of the family before a slash, or of the first.
func (o *options) kernelOf(s string) (plots.Pair, error) {
	family := problem.Families()[0]
	if o.family != nil {
		family = o.family
	}
	if name, rest, ok := strings.Cut(s, "/"); ok {
		f, err := problem.Find(name)
		if err != nil {
			return plots.Pair{}, err
		}
		if o.family != nil && f != family {
			return plots.Pair{}, fmt.Errorf("%s is not of --family %s", s, family.Name)
		}
		family, s = f, rest
	}
	if s == kernels.BaselineName || s == fmt.Sprint(kernels.BaselineNumber) {
		return plots.Pair{Family: family.Name, Kernel: kernels.BaselineName}, nil
	}
	k, err := kernels.FindIn(family, s)
	if err != nil {
		return plots.Pair{}, fmt.Errorf("%w; %d is the baseline", err, kernels.BaselineNumber)
	}
	return plots.Pair{Family: family.Name, Kernel: k.Name()}, nil
}

func oneOf[T ~string](flag, value string, known []T) (T, error) {
	if slices.Contains(known, T(value)) {
		return T(value), nil
	}
	return "", fmt.Errorf("%s: unknown %q, known are %s", flag, value, joined(known))
}

func joined[T ~string](names []T) string {
	text := make([]string, len(names))
	for i, name := range names {
		text[i] = string(name)
	}
	return strings.Join(text, ", ")
}
