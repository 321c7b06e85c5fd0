// Pallasref compares the kernels as lower/mosaic writes them with the same kernels
// written in Pallas and compiled by JAX, for TPUs with none at hand.
//
//		go run ./tools/pallasref --python VENV/bin/python
//
//	 1. Matrix lists the points (point.go): kernel, dtype, size, blocks, generation
//	    and version of libtpu.
//	 2. A Comparer compiles each on both sides with the same libtpu (compare.go):
//	    ours through backend/xla/aot, Pallas' in a Python process that runs reference.py
//	    (reference.go; answers.py is what its scripts share). Either may take five minutes (--limit).
//	 3. The outcomes, and the cycles of one grid step that backend/xla/aot/schedule reads
//	    from the compiler's dump, become a Row of table.csv (table.go). The file is
//	    written after every row; a point that has one is not compiled again.
//	 4. Summarize counts it (summary.go). A test holds the table to the bars.
//
// With --families it compares attention and grouped products with the kernels of JAX's
// library and of tokamax (families.go, library.py, tokamax_kernels.py), and completes
// families.csv (families_table.go).
//
// With --published it writes the cycles of kernels whose times tokamax published
// (published.go), which docs/prediction.md compares.
//
// README.md tells the result; .ci/full installs what the command needs and runs it.
// The program is not for those who use the ladder, and nothing imports it: no build
// and no other test needs Python.
//
// What it does not do: run a kernel, on a TPU or elsewhere. That the text means what
// the interpreter computes is for the tests of lower/mosaic.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"matladder/backend/xla/aot"
	"matladder/internal/cli"
	"matladder/kernels"
	"matladder/plugins"
)

func main() {
	aot.Child()
	cli.Main("pallasref", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("pallasref", compare(ctx, args, stdout), "interrupted; the table has what was done", stdout, stderr)
}

func compare(ctx context.Context, args []string, stdout io.Writer) error {
	flags := cli.NewFlags("pallasref")
	python := flags.String("python", "python3", "`path` of a Python that has JAX")
	table := flags.String("table", "tools/pallasref/table.csv", "`file` to complete")
	limit := flags.Duration("limit", 5*time.Minute, "for one compilation")
	only := flags.StringSlice("libtpu", versions, "`versions` of libtpu to compile with")
	again := flags.String("ours", "", "`kernel` of which our side alone is compiled anew, where it fits: for a change of lower/mosaic; all: of every kernel")
	families := flags.String("families", "", "`file` to complete instead: kernels of other families beside those of JAX's library and of tokamax")
	published := flags.String("published", "", "`file` whose cycles to write instead: attention that tokamax published times of")
	budget := flags.Duration("time-budget", 0, "when to begin no more compilations; 0 for never")
	if err := cli.Parse(flags, args, "usage: pallasref [flags]"); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return cli.Usagef("unexpected %q", flags.Arg(0))
	}
	for _, v := range *only {
		if !slices.Contains(versions, v) {
			return cli.Usagef("--libtpu %s: the matrix has %s", v, strings.Join(versions, ", "))
		}
	}
	if _, err := kernels.Find(*again); *again != "" && *again != everyKernel && err != nil {
		return cli.Usagef("--ours: %v", err)
	}
	began := time.Now()
	over := func() bool { return *budget > 0 && time.Since(began) > *budget }
	if *families != "" {
		return completeFamilies(ctx, *python, *families, *again, *limit, over, stdout)
	}
	if *published != "" {
		return fillPublished(ctx, *python, *published, *again, *limit, over, stdout)
	}
	rows, err := ReadTable(*table)
	if err != nil {
		return err
	}
	for _, version := range *only {
		var missing []Point
		for _, p := range Matrix() {
			row, done := rows[p.Key()]
			if done && *again != "" {
				done = !isAgain(*again, p.Kernel.Name()) || row.Ours.Outcome != Fits
			}
			if !done && p.Libtpu == version {
				missing = append(missing, p)
			}
		}
		if len(missing) == 0 || over() {
			continue
		}
		library, err := find(version)
		if err != nil {
			return err
		}
		c, err := NewComparer(*python, library, *limit)
		if err != nil {
			return err
		}
		queue(missing)
		err = complete(ctx, c, rows, missing, *table, over, stdout)
		if err = errors.Join(err, c.Close()); err != nil {
			return err
		}
	}
	if err := rows.Write(*table); err != nil {
		return err
	}
	return Summarize(rows).Print(stdout)
}

// everyKernel stands for all in --ours.
const everyKernel = "all"

func isAgain(again, kernel string) bool { return again == everyKernel || again == kernel }

// complete compiles what a table lacks, and writes the table after every row.
func complete(ctx context.Context, c *Comparer, rows Table, missing []Point, table string, over func() bool, stdout io.Writer) error {
	for i, p := range missing {
		if over() {
			return nil
		}
		start := time.Now()
		compile := c.Compare
		if old, known := rows[p.Key()]; known {
			compile = func(ctx context.Context, _ Point) (Row, error) { return c.Again(ctx, old) }
		}
		row, err := compile(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Key(), err)
		}
		rows[p.Key()] = row
		if err := rows.Write(table); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%4d/%d  %5.1f s  %s: %s, Pallas %s", i+1, len(missing), time.Since(start).Seconds(), p.Key(), row.Ours.Outcome, row.Pallas.Outcome)
		if ratio := row.Ratio(); ratio > 0 {
			fmt.Fprintf(stdout, "; cycles %.0f / %.0f = %.4f", row.Ours.Cycles, row.Pallas.Cycles, ratio)
		}
		fmt.Fprintln(stdout)
	}
	return nil
}

// find returns the library of an installed libtpu.
func find(version string) (string, error) {
	folder, err := plugins.Folder()
	if err != nil {
		return "", err
	}
	installed, err := plugins.List(folder)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(installed, func(p plugins.Installed) bool { return p.Name == "tpu" && p.Version == version })
	if i < 0 {
		return "", fmt.Errorf("libtpu %s is not in %s: go run ./cmd/plugin install tpu --version %s", version, folder, version)
	}
	if _, err := os.Stat(installed[i].Library()); err != nil {
		return "", err
	}
	return installed[i].Library(), nil
}
