//go:build linux

// Faulttest does to bench what an unlucky day does, and looks at what is left:
//
//	go run ./tools/faulttest                          # every case
//	go run ./tools/faulttest --only kills --kills 200 # some of them
//	go run ./tools/faulttest --only soak --points 100000
//
//	kills    SIGKILL at random moments, each gone on from with --resume (kills.go)
//	signals  every signal that ends a process (kills.go)
//	torn     the results cut at every byte of their last three rows (torn.go)
//	writers  a second bench on the same file (torn.go)
//	disk     a file system that is full in the middle (torn.go; wants to mount a tmpfs)
//	folder   the folder of the results removed in the middle (torn.go)
//	worker   the process of a plugin stopped, killed and out of memory (worker.go; wants XLA on the CPU)
//	clock    the clock an hour ahead and back (clock.go)
//	soak     one process over many points of a backend that computes nothing: memory,
//	         goroutines, threads, descriptors, children (soak.go)
//
// After each the file must be right: every row that was synced is there once, whole,
// in its place, the sweep can be gone on with, and no process is left. A case that this
// machine has not what it takes for is left out, and said to be. It ends with status 1
// if one failed. .ci/hostile attacks the other commands, and files of others.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matladder/internal/cli"
)

func main() { cli.Main("faulttest", run) }

// A tester is one execution.
type tester struct {
	ctx    context.Context
	out    io.Writer
	folder string
	bench  string // of this tester alone, so that its processes are told by their program
	rng    *rand.Rand
	kills  int
	points int
	failed int
}

// errLeftOut says that a machine has not what a case takes.
var errLeftOut = errors.New("left out")

var cases = []struct {
	name string
	run  func(*tester) error
}{
	{"kills", (*tester).killed}, {"signals", (*tester).signalled}, {"torn", (*tester).torn}, {"writers", (*tester).writers},
	{"disk", (*tester).disk}, {"folder", (*tester).removed}, {"worker", (*tester).worker}, {"clock", (*tester).stepped}, {"soak", (*tester).soak},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.End("faulttest", faults(ctx, args, stdout), "interrupted", stdout, stderr)
}

func faults(ctx context.Context, args []string, stdout io.Writer) error {
	f := cli.NewFlags("faulttest")
	t := &tester{ctx: ctx, out: stdout}
	var names []string
	for _, c := range cases {
		names = append(names, c.name)
	}
	only := f.StringSlice("only", names, "`CASES`, joined by commas")
	seed := f.Uint64("seed", 1, "`SEED` of the moments")
	f.IntVar(&t.kills, "kills", 200, "`N` SIGKILLs")
	f.IntVar(&t.points, "points", 100_000, "`N` points of soak")
	if err := cli.Parse(f, args, "usage: faulttest [flags]"); err != nil {
		return err
	}
	if err := cli.Listed("only", "case", *only, names); err != nil {
		return err
	}
	if f.NArg() > 0 || t.kills < 1 || t.points < 2 {
		return cli.Usagef("want flags only, --kills of at least 1 and --points of at least 2")
	}
	t.rng = rand.New(rand.NewPCG(*seed, 0))
	var err error
	if t.folder, err = os.MkdirTemp("", "faulttest"); err != nil {
		return err
	}
	defer os.RemoveAll(t.folder)
	t.bench = filepath.Join(t.folder, "bench")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", t.bench, "./cmd/bench").CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/bench: %w: %s", err, strings.TrimSpace(string(out)))
	}
	for _, c := range cases {
		if !slices.Contains(*only, c.name) {
			continue
		}
		fmt.Fprintf(t.out, "== %s\n", c.name)
		began := time.Now()
		switch err := c.run(t); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errLeftOut):
			fmt.Fprintf(t.out, "  %v\n", err)
		case err != nil:
			t.fail("%v", err)
		}
		if left := t.left(5 * time.Second); left != "" {
			t.fail("processes are left: %s", left)
		}
		fmt.Fprintf(t.out, "  %s\n", time.Since(began).Round(time.Second))
	}
	if t.failed > 0 {
		return fmt.Errorf("%d failed", t.failed)
	}
	return nil
}

func (t *tester) ok(format string, args ...any) { fmt.Fprintf(t.out, "  ok    "+format+"\n", args...) }

func (t *tester) fail(format string, args ...any) {
	t.failed++
	fmt.Fprintf(t.out, "  FAIL  "+format+"\n", args...)
}

// left names the processes of this tester's bench that are still there after a while.
func (t *tester) left(wait time.Duration) string {
	for end := time.Now().Add(wait); ; time.Sleep(50 * time.Millisecond) {
		list := t.processes()
		if len(list) == 0 {
			return ""
		}
		if time.Now().After(end) {
			return fmt.Sprint(list)
		}
	}
}

// processes are those that run this tester's bench.
func (t *tester) processes() []int {
	var list []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil {
			continue
		}
		if exe, err := os.Readlink("/proc/" + e.Name() + "/exe"); err == nil && strings.HasPrefix(exe, t.bench) {
			list = append(list, pid)
		}
	}
	return list
}
