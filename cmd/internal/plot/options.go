package plot

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/plots"
	"matladder/plots/figure"
	"matladder/problem"
	"matladder/stats"

	"github.com/spf13/pflag"
)

// options is what the command line asks for, checked.
type options struct {
	family  *problem.Family // nil for all
	kernels []plots.Pair    // without dtypes; empty for all
	dtypes  []string        // empty for all
	inputs  []string        // empty for out/*.csv
	out     string          // "" for beside the input
	kinds   []plots.Kind
	format  figure.Format
	table   string
	columns []string // that tables have besides
	html    string
	blocks  string // "all" or ""

	used []stats.Summary // what was shown, for provenance
}

//go:embed manual.txt
var manual string

func parse(args []string) (*options, error) {
	o := &options{}
	var analyze, as []string
	var format, family, columns string
	f, kinds := cli.NewFlags("plot"), words.Join(plots.Kinds(), ", ")
	f.StringSliceVar(&analyze, "analyze", nil, "these `KERNELS` alone, by number or name, of other families than matmul as softmax/2; 0 is the baseline")
	cli.Offer(f, "analyze", each.Of(kernels.Ladder(problem.Families()[0]), kernels.Kernel.Name))
	f.StringSliceVar(&o.dtypes, "dtype", nil, "these `DTYPES` of operand A alone")
	cli.Offer(f, "dtype", problem.OperandNames())
	f.StringVar(&family, "family", "", "problems of this `FAMILY` alone")
	cli.Offer(f, "family", each.Of(problem.Families(), func(f *problem.Family) string { return f.Name }))
	f.StringArrayVar(&o.inputs, "input", nil, "a FILE")
	f.Lookup("input").Hidden = true
	cli.Group(f, "WHAT TO SHOW")
	f.StringSliceVar(&as, "as", []string{string(plots.Size)}, "`VIEW`: kinds of picture joined by commas ("+kinds+"), or a table on standard output ("+strings.Join(stats.Formats, ", ")+")")
	views := append(strings.Split(kinds, ", "), stats.Formats...)
	cli.Offer(f, "as", views)
	cli.Alias(f, "kind", "as", "table", "as")
	f.StringVar(&format, "format", string(figure.PNG), "`FORMAT` of pictures")
	cli.Known(f, "format", figure.Formats)
	f.StringVar(&o.out, "out", "", "`FOLDER` for pictures; that of the newest file if not given")
	f.StringVar(&o.blocks, "blocks", "", "`all` names every block shape in size pictures, with a line for each")
	cli.Offer(f, "blocks", []string{"all"})
	f.StringVar(&columns, "table-columns", "", "more `COLUMNS` of text and md tables")
	cli.Known(f, "table-columns", stats.TableColumns)
	f.StringVar(&o.html, "html", "", "write a page to explore, which needs no network, to `FILE`")
	cli.Group(f, "HOW TO SHOW IT")
	if err := cli.Parse(f, args, manual); err != nil {
		return o, err
	}
	o.inputs = append(o.inputs, f.Args()...)
	var err error
	for _, name := range as {
		if _, err := oneOf("--as", name, views); err != nil {
			return o, err
		}
		if slices.Contains(stats.Formats, name) {
			o.table = name
		} else {
			o.kinds = append(o.kinds, plots.Kind(name))
		}
	}
	if o.table != "" && len(as) > 1 {
		return o, fmt.Errorf("--as: %s is a table, and is shown alone", o.table)
	}
	if o.format, err = oneOf("--format", format, figure.Formats); err != nil {
		return o, err
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
		if o.table != "text" && o.table != "md" {
			return o, errors.New("--table-columns is for --as text or md; csv and json have all columns")
		}
	}
	for _, name := range analyze {
		kernel, err := o.kernelOf(name)
		if err != nil {
			return o, fmt.Errorf("--analyze: %w", err)
		}
		o.kernels = append(o.kernels, kernel)
	}
	for i, name := range o.dtypes {
		d, err := problem.ElementOf(name)
		if err != nil {
			return o, fmt.Errorf("--dtype: %w", err)
		}
		o.dtypes[i] = d.String()
	}
	return o, o.conflicts(f)
}

// conflicts reports flags that contradict each other or would be ignored.
func (o *options) conflicts(f *pflag.FlagSet) error {
	for _, flag := range []string{"as", "format", "out"} {
		switch {
		case !f.Changed(flag):
		case o.html != "":
			return fmt.Errorf("--%s goes without --html, whose page has pictures and a table of its own", flag)
		case o.table != "" && flag != "as":
			return fmt.Errorf("--%s is for pictures, and --as %s is a table", flag, o.table)
		}
	}
	perKernel := func(k plots.Kind) bool { return k.Scope() == plots.PerKernel }
	if draws := o.table == "" && o.html == ""; draws && len(o.kernels) > 0 && !slices.ContainsFunc(o.kinds, perKernel) {
		return fmt.Errorf("--analyze picks kernels, but a %s picture shows all of them", o.kinds[0])
	}
	return nil
}

// kernelOf reads a kernel: of --family, of the family before a slash, or of the first.
func (o *options) kernelOf(s string) (plots.Pair, error) {
	family := cmp.Or(o.family, problem.Families()[0])
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
	return "", fmt.Errorf("%s: unknown %q, known are %s", flag, value, words.Join(known, ", "))
}
