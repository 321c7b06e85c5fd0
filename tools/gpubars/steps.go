package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"matladder/backend/xla/aot"
	"matladder/results"
)

// float8 is a product of 8-bit floats as the fifth rung takes it: scaled, to bfloat16.
const float8 = "float8_e4m3fn:bfloat16:per_tensor"

// A step is a command, or several, with its share of the time; one without measures nothing.
type step struct {
	name     string
	share    int
	commands func(o *options, budget time.Duration) ([][]string, error)
}

// first is whether anything can be measured.
var first = step{"first", 0, func(o *options, budget time.Duration) ([][]string, error) {
	return o.one("bench", "--backend", "gpu", "--kernel", "0", "--sizes", "64", "--dtype", "float32", "--param", "method=wall", "--out", o.fresh("first.csv"), "--time-budget", budget.String()), nil
}}

var steps = []step{
	{"tune", 6, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("tune", "--backend", "gpu", "--kernel", "5", "--dtype", "bfloat16,int8,float32", "--sizes", middle(o.sizes),
			"--candidates", fmt.Sprint(o.candidates), "--out", o.file("tuned.yaml"), "--again", "--time-budget", budget.String()), nil
	}},
	{"tune8", 2, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("tune", "--backend", "gpu", "--kernel", "5", "--dtype", float8, "--sizes", middle(o.sizes),
			"--candidates", fmt.Sprint(o.candidates), "--out", o.file("tuned.yaml"), "--again", "--time-budget", budget.String()), nil
	}},
	{"verify", 4, func(o *options, budget time.Duration) ([][]string, error) {
		// By the wall, which takes one launch and no slope: its times are in no figure.
		return o.one("bench", "--backend", "gpu", "--kernel", "1,2,3,4,5", "--param", "method=wall", "--sizes", o.checked(), "--dtype",
			"float32,bfloat16,int8,int8:bfloat16:per_channel+token,bfloat16xint4:bfloat16:per_block128,"+float8,
			"--out", o.fresh("verify.csv"), "--time-budget", budget.String()), nil
	}},
	{"bfloat16", 4, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", o.beside("bfloat16.csv", budget, "--dtype", "bfloat16")...), nil
	}},
	{"narrow", 4, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", o.beside("narrow.csv", budget, "--dtype", "int8,"+float8)...), nil
	}},
	{"float32", 4, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", o.beside("float32.csv", budget, "--dtype", "float32", "--precision", "default,highest")...), nil
	}},
	{"chain", 2, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", o.beside("chain.csv", budget, "--dtype", "bfloat16", "--param", "method=chain")...), nil
	}},
	{"l2", 1, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", o.beside("l2.csv", budget, "--dtype", "bfloat16", "--param", "operands=any")...), nil
	}},
	{"model", 4, func(o *options, budget time.Duration) ([][]string, error) {
		return o.one("bench", append([]string{"--backend", "gpu", "--out", o.fresh("model.csv"), "--time-budget", budget.String()}, o.points()...)...), nil
	}},
	{"predict", 0, func(o *options, _ time.Duration) ([][]string, error) {
		name, err := o.topology()
		if err != nil {
			return nil, err
		}
		return o.one("bench", append([]string{"--topology", name, "--out", o.fresh("predict.csv")}, o.points()...)...), nil
	}},
	{"pictures", 0, func(o *options, _ time.Duration) (list [][]string, err error) {
		for _, name := range []string{"bfloat16", "narrow", "float32"} {
			if _, err := os.Stat(o.file(name + ".csv")); err == nil || o.dry {
				list = append(list, []string{o.program("plot"), "--input", o.file(name + ".csv"), "--output", o.file(name)})
			}
		}
		if list == nil {
			err = errors.New("nothing was measured")
		}
		return list, err
	}},
}

func stepNames() []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return names
}

func (o *options) file(name string) string { return filepath.Join(o.folder, name) }

// fresh is a file that bench is to write, which does not go on with another.
func (o *options) fresh(name string) string {
	if !o.dry {
		os.Remove(o.file(name))
	}
	return o.file(name)
}

func (o *options) program(name string) string {
	if o.bin == "" {
		return name
	}
	return filepath.Join(o.bin, name)
}

func (o *options) one(program string, args ...string) [][]string {
	return [][]string{append([]string{o.program(program)}, args...)}
}

// beside are the flags of the fifth rung beside XLA's own product, in the shapes that were
// found to be the fastest.
func (o *options) beside(file string, budget time.Duration, more ...string) []string {
	args := []string{"--backend", "gpu", "--kernel", "0,5", "--sizes", o.sizes, "--out", o.fresh(file), "--time-budget", budget.String()}
	if _, err := os.Stat(o.file("tuned.yaml")); err == nil || o.dry {
		args = append(args, "--tuned", o.file("tuned.yaml"))
	}
	return append(args, more...)
}

// points are the flags of thirty points: half of a size, one and a half, and sizes, of two
// block shapes and three dtypes.
func (o *options) points() []string {
	var sizes []string
	for i, text := range strings.Split(o.sizes, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || i > 2 {
			break
		}
		if i == 0 {
			sizes = append(sizes, fmt.Sprint(n/2), fmt.Sprint(n/2*3))
		}
		if !slices.Contains(sizes, text) {
			sizes = append(sizes, text)
		}
	}
	return []string{"--kernel", "5", "--sizes", strings.Join(sizes, ","), "--dtype", "bfloat16,int8,float32", "--blocks", "128x64x128,64x64x256"}
}

// checked are the sizes, even and ragged, at which every rung is verified.
func (o *options) checked() string {
	var n int
	if fmt.Sscan(o.sizes, &n); n < 512 {
		return "40x70x50"
	}
	return "64,512,300x1200x500"
}

// middle is a size among sizes.
func middle(sizes string) string {
	list := strings.Split(sizes, ",")
	return list[len(list)/2]
}

// topology is what a GPU like the one that was measured is called where none is.
func (o *options) topology() (string, error) {
	if o.dry {
		return "h100", nil
	}
	f, err := results.ReadFile(o.file("model.csv"))
	if err != nil {
		return "", err
	}
	names, known := map[string]bool{}, ""
	for _, r := range f.Rows {
		names[r.Device] = true
		for _, g := range aot.GPUs() {
			if g.Chip == r.Chip {
				known = g.Name
			}
		}
	}
	list := strings.Join(slices.Sorted(maps.Keys(names)), ", ")
	switch {
	case len(names) > 1:
		return "", fmt.Errorf("%s: rows of several GPUs: %s", f.Name, list)
	case known == "":
		return "", fmt.Errorf("%s: the model does not know this GPU: %s", f.Name, list)
	}
	return known, nil
}

// take runs the commands of a step, each in a process group of its own that ends when ctx
// does: bench ends its workers.
func (o *options) take(ctx context.Context, s step, budget time.Duration, stdout, stderr io.Writer) error {
	commands, err := s.commands(o, budget)
	if err != nil {
		return err
	}
	for _, command := range commands {
		fmt.Fprintf(stdout, "%s: %s\n", s.name, strings.Join(command, " "))
		if o.dry {
			continue
		}
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 30 * time.Second
		cmd.Stdout, cmd.Stderr = stderr, stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}
