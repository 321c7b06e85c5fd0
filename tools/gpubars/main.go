// Gpubars measures on a machine with an NVIDIA GPU all that this project claims of one, and
// compares it with its bars, the figures that are to be reached: one command, from a plugin
// that is installed to a table of which bars are met.
//
//		go run ./cmd/plugin install cuda
//		go run ./tools/gpubars                    # about half an hour; out/gpu has what it leaves
//		go run ./tools/gpubars --only bfloat16,chain --time-budget 8m   # a part; the rest stays
//		go run ./tools/gpubars --dry-run          # the commands alone
//
//	 1. tune and tune8 (float8) look for block shapes and parameters of the fifth rung on this
//	    GPU.
//	 2. verify runs every rung in every dtype on even and ragged sizes; each output is held
//	    against float64.
//	 3. bfloat16, narrow and float32 run the fifth rung and XLA's own product in turns.
//	 4. chain times launches one after another, which the slope of a loop is held against;
//	    l2 times them on operands that stay in the L2 cache.
//	 5. model measures thirty points, and predict predicts them for this kind of GPU.
//	 6. pictures draws; then bars.md says of each bar whether it is met.
//
// Steps are listed in steps.go; bars, each with the files of rows that it is judged by, in
// bars.go (judge; report lists the files that it reads).
//
// Predict and pictures need no GPU: --only predict,pictures does them anywhere, with what
// was measured in --folder. A step that fails is said so, and the others run. Programs are
// built of this tree, or taken from --bin: a machine without Go needs bench, tune, plot and
// gpubars there alone.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/internal/cli"
)

func main() { cli.Main("gpubars", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("gpubars", gpubars(ctx, args, stdout, stderr), "interrupted; steps that ended are kept: --only names the others", stdout, stderr)
}

// options say what runs and where.
type options struct {
	folder, bin string
	only        []string
	sizes       string
	candidates  int
	budget      time.Duration
	dry         bool
}

func gpubars(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := cli.NewFlags("gpubars")
	f.StringVar(&o.folder, "folder", filepath.Join("out", "gpu"), "`DIR` of what is measured, drawn and judged")
	f.StringVar(&o.bin, "bin", "", "`DIR` with the programs bench, tune and plot; they are built if it is not given")
	f.StringSliceVar(&o.only, "only", stepNames(), "`STEPS` to take; all files in --folder are judged in any case")
	f.StringVar(&o.sizes, "sizes", "2048,4096,8192,16384", "`SIZES` of what is held against XLA")
	f.IntVar(&o.candidates, "candidates", 12, "`N` block shapes that tune tries of each dtype")
	f.DurationVar(&o.budget, "time-budget", 30*time.Minute, "`TIME` of all steps together, about")
	f.BoolVar(&o.dry, "dry-run", false, "print the commands and stop")
	if err := cli.Parse(f, args, "usage: gpubars [flags]"); err != nil {
		return err
	}
	if err := cli.Listed("only", "step", o.only, stepNames()); err != nil {
		return err
	}
	if o.budget <= 0 {
		return cli.Usagef("--time-budget must be positive")
	}
	if !o.dry {
		if err := os.MkdirAll(o.folder, 0o755); err != nil {
			return err
		}
		if err := o.build(ctx, stderr); err != nil {
			return err
		}
	}
	total := 0
	for _, s := range steps {
		if slices.Contains(o.only, s.name) {
			total += s.share
		}
	}
	if !o.dry && total > 0 {
		if err := o.take(ctx, first, time.Second, stdout, stderr); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return fmt.Errorf("bench measures nothing here: %w", err)
		}
	}
	var failed []string
	for _, s := range steps {
		if !slices.Contains(o.only, s.name) {
			continue
		}
		// Its share of the whole, whatever others took: a machine may be lent by the minute.
		budget := max(time.Second, (o.budget * time.Duration(s.share) / time.Duration(max(1, total))).Round(time.Second))
		if err := o.take(ctx, s, budget, stdout, stderr); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			fmt.Fprintf(stderr, "gpubars: %s: %v\n", s.name, err)
			failed = append(failed, s.name)
		}
	}
	if o.dry {
		return nil
	}
	if err := o.report(stdout, stderr); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("steps that failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// programs are what steps run.
var programs = []string{"bench", "tune", "plot"}

// build builds the programs, unless they are given.
func (o *options) build(ctx context.Context, stderr io.Writer) error {
	if o.bin != "" {
		for _, p := range programs {
			if _, err := os.Stat(filepath.Join(o.bin, p)); err != nil {
				return cli.Usagef("--bin: %w", err)
			}
		}
		return nil
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w: run it in the tree, or give --bin", err)
	}
	if o.bin, err = filepath.Abs(filepath.Join(o.folder, "bin")); err != nil {
		return err
	}
	args := []string{"build", "-o", o.bin + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "./cmd/"+p)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // which plugins need
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}
