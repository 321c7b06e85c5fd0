package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// measure has the programs of a condition take turns. What an earlier test of it measured
// is removed.
func (o *options) measure(ctx context.Context, c condition, stderr io.Writer) error {
	folder := filepath.Join(o.folder, c.name)
	if err := errorsOf(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
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
	begin := time.Now()
	rng := rand.New(rand.NewPCG(1, uint64(len(c.name))))
	set, turn := 0, o.turn*time.Duration(max(c.longer, 1))
	for ; set < o.sets && (o.budget == 0 || time.Since(begin) < o.budget); set++ {
		partial := filepath.Join(folder, "partial")
		if err := os.MkdirAll(partial, 0o755); err != nil {
			return err
		}
		for _, i := range rng.Perm(len(c.programs)) {
			if err := o.runOnce(ctx, c.programs[i], turn, filepath.Join(partial, c.programs[i].name+".csv"), enter); err != nil {
				os.RemoveAll(partial)
				return err
			}
		}
		if err := os.Rename(partial, filepath.Join(folder, fmt.Sprintf("%04d", set))); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "%s: %d sets in %s\n", c.name, set, time.Since(begin).Round(time.Second))
	return nil
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
