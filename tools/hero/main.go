// Hero draws the animation at the top of the README: the five rungs one after another, on the
// left the blocks that each moves, on the right the share of the peak that it reaches, measured on a
// CPU and predicted for a TPU.
//
//	go run ./tools/hero
//
// Its figures are those of two results files next to it. To measure and predict them again:
//
//		go run ./cmd/bench --kernel 1,2,3,4,5 --dtype bfloat16 --sizes 1024 --out tools/hero/cpu.csv
//		go run ./cmd/bench --topology v5e --kernel 1,2,3,4,5 --dtype bfloat16 --sizes 1024 --out tools/hero/v5e.csv
//
//	 1. read (main.go) takes each rung's fastest block shape from both files.
//	 2. scenes (scene.go) walks the programs of the CPU's block shapes with model/traverse, and says
//	    which block is where in each frame.
//	 3. draw (svg.go) writes them as an SVG that animates itself, in light and dark.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/internal/words"
	"matladder/machine"
	"matladder/problem"
	"matladder/results"
	"matladder/stats"
)

func main() { cli.Main("hero", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("hero", hero(ctx, args, stdout), "interrupted", stdout, stderr)
}

func hero(ctx context.Context, args []string, stdout io.Writer) error {
	f := cli.NewFlags("hero")
	cpu := f.String("cpu", filepath.Join("tools", "hero", "cpu.csv"), "`FILE` of rungs measured on a CPU")
	tpu := f.String("tpu", filepath.Join("tools", "hero", "v5e.csv"), "`FILE` of rungs predicted for a TPU")
	out := f.String("out", filepath.Join("docs", "hero.svg"), "`FILE` to write")
	if err := cli.Parse(f, args, "usage: hero [flags]"); err != nil {
		return err
	}
	var svg bytes.Buffer
	if err := write(ctx, &svg, *cpu, *tpu); err != nil {
		return err
	}
	if err := files.Replace(*out, svg.Bytes()); err != nil {
		return err
	}
	fmt.Fprintln(stdout, *out)
	return nil
}

// write draws what the two files say.
func write(ctx context.Context, w io.Writer, cpu, tpu string) error {
	measured, err := read(cpu, results.Measured)
	if err != nil {
		return err
	}
	predicted, err := read(tpu, results.Predicted)
	if err != nil {
		return err
	}
	if a, b := measured.rungs[0].Size(), predicted.rungs[0].Size(); a != b {
		return fmt.Errorf("%s is of size %s and %s of %s: both show one product", cpu, a, tpu, b)
	}
	list, err := scenes(ctx, measured)
	if err != nil {
		return err
	}
	_, err = w.Write(draw(list, measured, predicted))
	return err
}

// A ladder is the rungs of one product on one device.
type ladder struct {
	device, made string // made is the day and, of a prediction, by what
	rungs        []stats.Summary
}

// read takes the fastest block shape of v1 to v5 from a file of one product.
func read(path string, mode results.Mode) (l ladder, err error) {
	f, err := results.ReadFile(path)
	if err != nil {
		return l, err
	}
	best := stats.Best(stats.Summarize(f.Rows))
	slices.SortStableFunc(best, func(a, b stats.Summary) int { return stats.CompareKernels(a.Kernel, b.Kernel) })
	for _, s := range best {
		if n, ok := stats.Rung(s.Kernel); ok && s.Mode == mode && s.Status == results.OK {
			if n != len(l.rungs)+1 || s.FamilyName() != problem.MatmulFamily.Name {
				return l, fmt.Errorf("%s: %s at %s: v1 to v5 of one matmul are wanted, each once", path, s.Kernel, s.Size())
			}
			l.rungs = append(l.rungs, s)
		}
	}
	if len(l.rungs) != len(ideas) {
		return l, fmt.Errorf("%s has %d of %d rungs that are %s and ok", path, len(l.rungs), len(ideas), mode)
	}
	first := l.rungs[0]
	l.device = machine.CommonName(first.Device)
	l.made = first.StartedAt.Format("2006-01-02")
	if first.Threads > 0 {
		l.made = words.Count(int64(first.Threads), "thread") + ", " + l.made
	}
	return l, nil
}
