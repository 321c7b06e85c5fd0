package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"matladder/backend"
	"matladder/backend/cpu"
	"matladder/backend/foreign"
	"matladder/backend/foreign/library"
	"matladder/backend/foreign/process"
	"matladder/backend/worker"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/problem"
	"matladder/results"
)

//go:embed guests
var guestFiles embed.FS

// A trick is a function that measures itself as faster than it is, or one that does not.
type trick struct {
	name, language string
	honest         bool
	what           string       // that it does, for the table
	call           library.Call // in Go
	threads        int          // that it may use; 2 if 0
	preload        string       // a shared library of guests that its process has ahead of others
}

// of are functions of one language, each by its name and what it does; + marks one that is honest.
func of(language string, list ...string) (tricks []trick) {
	for _, text := range list {
		name, what, _ := strings.Cut(text, ": ")
		bare := strings.TrimPrefix(name, "+")
		tricks = append(tricks, trick{name: bare, language: language, honest: bare != name, what: what})
	}
	return tricks
}

// tricks are all.
func tricks() []trick {
	list := slices.Concat(
		of("C", "+honest: computes", "+honest_threads: computes with the threads that it may have",
			"memo_pointer: keeps outputs by the addresses of inputs", "memo_fingerprint: keeps outputs by 128 elements of the inputs",
			"memo_ends: keeps outputs by first and last elements, and waits to stay below the peak", "last_result: computes where the output was overwritten",
			"half: computes half of the output in each launch", "every_second: computes in every second launch", "after_pause: computes after a pause alone",
			"incremental: computes what follows from elements that changed", "thread: returns while a thread computes", "alias: keeps its output where an input is",
			"probe: computes where inputs are integers", "sleeps: sleeps until it was warmed up, and keeps its output then", "affinity: takes processors that it was not given",
			"priority: changes its priority", "forged: writes an answer to the pipe of the harness", "beyond: writes behind its output"),
		of("Python", "+honest: computes", "+honest_prepared: returns what computes",
			"slow_clock: has a clock of half the speed, by LD_PRELOAD", "memo_pointer: keeps outputs by the identity of inputs",
			"memo_fingerprint: keeps outputs by every 35th element", "memo_ends: keeps outputs by first and last elements, and waits to stay below the peak",
			"last_result: returns the output of the last launch", "half: computes half of the output", "prepared: multiplies before what is timed",
			"thread: returns while a thread computes", "lazy: returns an array that computes when it is read", "alias: returns an input",
			"probe: computes where inputs are integers", "sleeps: sleeps until it was warmed up, and keeps its output then",
			"affinity: takes processors that it was not given", "forged: writes an answer to the pipe of the harness", "clock: replaces the clock of its caller",
			"answers: replaces how its caller answers, by half of the time", "skips: replaces what runs launches, and computes the last alone"),
		inGo())
	for i := range list {
		switch t := &list[i]; t.name {
		case "affinity":
			t.threads = 1
		case "slow_clock":
			t.preload = "slow_clock.so"
		}
	}
	return list
}

// cheats has each guest measured a number of times beside a kernel, and writes which rows it got.
// The error says that a cheat was not caught each time, or that an honest function was accused.
func cheats(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var known []string
	for _, t := range tricks() {
		known = append(known, t.language+":"+t.name)
	}
	f := cli.NewFlags("trust cheats")
	times := f.Int("times", 10, "how often each is measured")
	size := f.Int("size", 256, "m, k and n of the product in C; half of it in Go, and half more in Python")
	only := f.StringSlice("only", known, "`GUESTS` to measure, as C:half")
	if err := cli.Parse(f, args, "usage: trust cheats [flags]"); err != nil {
		return err
	}
	if err := cli.Listed("only", "guest", *only, known); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cheats-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := buildGuests(ctx, folder); err != nil {
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(table, " guest\t language\t what it does\t refused\t as\t first reason\t")
	bad := 0
	for _, t := range tricks() {
		if !slices.Contains(*only, t.language+":"+t.name) {
			continue
		}
		refused, as, first := 0, "", ""
		for range *times {
			begin := time.Now()
			status, reason, err := t.measure(ctx, folder, *size)
			if err != nil {
				return fmt.Errorf("%s in %s: %w", t.name, t.language, err)
			}
			fmt.Fprintf(stderr, "%s %s: %s %s (%s)\n", t.language, t.name, status, reason, time.Since(begin).Round(time.Millisecond))
			if status != results.OK {
				refused++
				as, first = cmp.Or(as, string(status)), cmp.Or(first, reason)
			}
		}
		if t.honest && refused > 0 || !t.honest && refused < *times {
			bad++
		}
		fmt.Fprintf(table, " %s\t %s\t %s\t %d of %d\t %s\t %s\t\n", t.name, t.language, t.what, refused, *times, cmp.Or(as, "ok"), first)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d guests are not judged as they should be", bad)
	}
	return nil
}

// buildGuests writes what guests are made of to a folder, and compiles what is C.
func buildGuests(ctx context.Context, folder string) error {
	if err := os.CopyFS(folder, guestFiles); err != nil {
		return err
	}
	for _, name := range []string{"guests", "slow_clock"} {
		args := []string{"-O3", "-march=native", "-shared", "-fPIC", "-pthread", "-o", filepath.Join(folder, name+".so"), filepath.Join(folder, "guests", name+".c"), "-lm"}
		if said, err := exec.CommandContext(ctx, cmp.Or(os.Getenv("CC"), "cc"), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("cc: %w\n%s", err, said)
		}
	}
	return nil
}

// open opens a trick as what bench --with makes of it.
func (t trick) open(ctx context.Context, folder string, host backend.Backend) (harness.Peer, error) {
	f := foreign.Function{Name: "guest", Family: problem.MatmulFamily}
	var err error
	if f.Asked, err = f.Family.Parse("float32"); err == nil {
		f.Asked, err = f.Family.Complete(f.Asked)
	}
	if err != nil {
		return nil, err
	}
	threads := cmp.Or(t.threads, 2)
	switch t.language {
	case "C":
		return library.Open(ctx, f, library.Library{File: filepath.Join(folder, "guests.so"), Symbol: t.name, Threads: threads}, host.Device())
	case "Python":
		if t.preload != "" {
			os.Setenv("LD_PRELOAD", filepath.Join(folder, t.preload))
			defer os.Unsetenv("LD_PRELOAD")
		}
		return process.OpenPython(ctx, f, process.Python{File: filepath.Join(folder, "guests", "guests.py"), Function: t.name, Threads: threads}, host.Device())
	}
	return library.New(f, t.call, host.Device())
}

// measure has a trick take turns with a kernel and returns the worst status of its rows, with the reason.
func (t trick) measure(ctx context.Context, folder string, size int) (results.Status, string, error) {
	host, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true}) // without a peak, which some beat
	if err != nil {
		return "", "", err
	}
	defer host.Close()
	peer, err := t.open(ctx, folder, host)
	if err != nil {
		return "", "", err
	}
	defer peer.Close()
	switch t.language { // launches of about a millisecond, as repetitions have several of such
	case "Go":
		size /= 2
	case "Python":
		size += size / 2
	}
	text := fmt.Sprintf("sizes: [%d]\ndtypes: [float32]\nkernels: [3]\nrounds: {min: 4, max: 4}\ntimeout: 60s\n", size)
	c, err := harness.Parse("cheats.yaml", []byte(text))
	if err != nil {
		return "", "", err
	}
	s, err := harness.Plan(ctx, c, host.Device(), backend.Params{Threads: cmp.Or(t.threads, 2)})
	if err != nil {
		return "", "", err
	}
	s.Compare(peer)
	rows := filepath.Join(folder, "rows.csv")
	os.Remove(rows)
	out, err := harness.Run(ctx, s, harness.Options{Backend: host, Out: rows, Provenance: harness.Provenance{RunID: "cheats"}})
	if err != nil {
		return "", "", err
	}
	status, reason := results.Status("no row"), ""
	for _, r := range out.Rows {
		if r.Kernel == peer.Name() && (status != results.Wrong && status != results.Impossible) && (r.Status != results.OK || status == "no row") {
			status, reason = r.Status, r.Reason
		}
	}
	return status, reason, nil
}

// openers are what a child process of this program may be.
func openers() map[string]worker.Opener {
	return map[string]worker.Opener{library.OpenerName: library.Opener}
}
