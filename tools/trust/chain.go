package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"matladder/internal/words"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// measure has the programs of a condition take turns. What an earlier test of it measured
// is removed, or with --more added to.
func (o *options) measure(ctx context.Context, c condition, stderr io.Writer) error {
	folder := filepath.Join(o.folder, c.name)
	var had int // sets
	if o.more {
		list, err := sets(folder)
		if err != nil {
			return err
		}
		had = len(list)
	} else if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	enter := ""
	if c.quota > 0 {
		group, remove, err := limit(c.quota)
		if err != nil {
			return err
		}
		defer remove()
		enter = group
	}
	stop, err := c.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	programs := slices.DeleteFunc(slices.Clone(c.programs), func(p program) bool { return p != reference && !slices.Contains(o.against, p.name) })
	begin := time.Now()
	rng := rand.New(rand.NewPCG(uint64(1+had), uint64(len(c.name))))
	starting, err := o.starting(ctx, c, folder, enter)
	if err != nil {
		return err
	}
	set, turn := 0, starting+o.turn*time.Duration(max(c.longer, 1))
	for ; set < o.sets && (o.budget == 0 || time.Since(begin) < o.budget); set++ {
		partial := filepath.Join(folder, "partial")
		if err := os.MkdirAll(partial, 0o755); err != nil {
			return err
		}
		for _, i := range rng.Perm(len(programs)) {
			if err := o.runOnce(ctx, programs[i], turn, filepath.Join(partial, programs[i].name+".csv"), enter); err != nil {
				os.RemoveAll(partial)
				return err
			}
		}
		if err := os.Rename(partial, filepath.Join(folder, fmt.Sprintf("%04d", had+set))); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "%s: %s in %s\n", c.name, words.Count(set, "set"), time.Since(begin).Round(time.Second))
	return nil
}

// starting is how long programs of the condition take to start, which is added to the
// budget of turns as cmd/compare adds it.
func (o *options) starting(ctx context.Context, c condition, folder, enter string) (longest time.Duration, err error) {
	trial := filepath.Join(folder, "trial.csv")
	for _, p := range c.programs {
		begin := time.Now()
		err := o.runOnce(ctx, p, time.Nanosecond, trial, enter)
		longest = max(longest, time.Since(begin))
		os.Remove(trial)
		os.Remove(trial + ".sweep")
		if err != nil {
			return 0, err
		}
	}
	return longest, nil
}

// sets are the folders of what a condition has measured, in order.
func sets(condition string) ([]string, error) {
	list, err := filepath.Glob(filepath.Join(condition, "[0-9]*"))
	slices.Sort(list)
	return list, err
}

// runOnce is a turn of a program, within the control group of enter if there is one.
func (o *options) runOnce(ctx context.Context, p program, turn time.Duration, out, enter string) error {
	args := append([]string{o.path(p), "--time-budget", turn.String(), "--out", out}, o.sweep...)
	if enter != "" {
		args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, enter}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if said, err := cmd.CombinedOutput(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w\n%s", p.name, err, said)
	}
	return ctx.Err()
}
