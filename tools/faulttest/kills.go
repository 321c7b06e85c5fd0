//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"matladder/results"
)

// sweep is many short points, of which several rounds are closed a second. Its budget
// ends it on a machine that is never quiet, where rounds are measured again and again.
const sweep = `
sizes: [32, 48, 64, 80, 96, 112, 128, 160, 192, 224]
kernels: [1, 3, 5]
blocks: 128x128x128
dtypes: [float32, int8]
rounds: {min: 4, max: 4}
repetitions: 1
time_budget: 15s
`

const (
	sweepPoints = 10 * 3 * 2
	sweepRounds = 4
)

// A trial is one results file on its way.
type trial struct {
	config, out string
	before      []byte // of the file when the last process had ended
}

func (t *tester) trial(name string) (*trial, error) {
	folder := filepath.Join(t.folder, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	x := &trial{config: filepath.Join(folder, "sweep.yaml"), out: filepath.Join(folder, "rows.csv")}
	return x, os.WriteFile(x.config, []byte(sweep), 0o644)
}

func (t *tester) start(x *trial, said *bytes.Buffer) (*exec.Cmd, error) {
	cmd := exec.CommandContext(t.ctx, t.bench, "--config", x.config, "--out", x.out, "--resume")
	cmd.Stderr = said
	return cmd, cmd.Start()
}

// kept checks that what was closed before is as it was.
func (x *trial) kept() error {
	text, err := os.ReadFile(x.out)
	if err != nil && len(x.before) > 0 {
		return err
	}
	if was := closed(x.before); !bytes.HasPrefix(text, was) {
		return fmt.Errorf("rows that were closed are no longer there: %d bytes were", len(was))
	}
	x.before = text
	return nil
}

// closed is the part of a journal up to its last round that was written whole: its last
// row begins with a quoted cell (results/FORMAT.md, The journal).
func closed(text []byte) []byte {
	end, at := 0, 0
	for line := range bytes.Lines(text) {
		at += len(line)
		if bytes.HasPrefix(line, []byte(`"`)) && bytes.HasSuffix(line, []byte("\n")) {
			end = at
		}
	}
	return text[:end]
}

// audit reads a finished file: every point with each of its rounds, each row once. Points that
// were passed over since processes died in them are counted.
func (x *trial) audit() (rows, crashed int, err error) {
	f, err := results.ReadFile(x.out)
	if err != nil {
		return 0, 0, err
	}
	if w := f.Warnings(); len(w) > 0 {
		return 0, 0, errors.Join(w...)
	}
	type cell struct {
		key        results.PointKey
		round, rep int
	}
	seen := map[cell]bool{}
	rounds, passed := map[results.PointKey]int{}, map[results.PointKey]bool{}
	for i := range f.Rows {
		r := &f.Rows[i]
		c := cell{r.Point(), r.Round, r.Rep}
		c.key.Method, c.key.Operands = "", "" // a row of what was passed over in a later round has none
		switch {
		case seen[c]:
			return 0, 0, fmt.Errorf("%s:%d: a row twice", r.Pos.File, r.Pos.Line)
		case r.Status == results.Crashed:
			crashed++
			passed[c.key] = true
			continue
		case r.Status != results.OK:
			return 0, 0, fmt.Errorf("%s:%d: %s: %s", r.Pos.File, r.Pos.Line, r.Status, r.Reason)
		}
		seen[c] = true
		rounds[c.key] = max(rounds[c.key], r.Round+1)
	}
	for key, n := range rounds {
		for round := range min(n, sweepRounds) { // a point that converges early skips later rounds
			if !seen[cell{key, round, 0}] {
				return 0, 0, fmt.Errorf("%s %s %s lacks round %d of %d", key.Kernel, key.Shape, key.DtypeA, round, n)
			}
		}
		delete(passed, key)
	}
	if n := len(rounds) + len(passed); n != sweepPoints {
		return 0, 0, fmt.Errorf("%d points of %d", n, sweepPoints)
	}
	return len(f.Rows), crashed, nil
}

// killed kills at random moments until it has done so often enough, and lets each sweep
// come to its end.
func (t *tester) killed() error {
	kills, files, rows, crashed := 0, 0, 0, 0
	for kills < t.kills && t.ctx.Err() == nil {
		x, err := t.trial(fmt.Sprint("kills", files))
		if err != nil {
			return err
		}
		for done := false; !done; {
			var said bytes.Buffer
			cmd, err := t.start(x, &said)
			if err != nil {
				return err
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var end <-chan time.Time
			if kills < t.kills {
				end = time.After(time.Duration(50+t.rng.IntN(2500)) * time.Millisecond)
			}
			select {
			case err := <-ended:
				if done = true; err != nil && !strings.Contains(said.String(), "crashed") && exitCode(err) != 1 {
					return fmt.Errorf("%w: %s", err, lastLine(said.String()))
				}
			case <-end:
				cmd.Process.Kill()
				<-ended
				kills++
				if left := t.left(2 * time.Second); left != "" {
					return fmt.Errorf("kill %d: processes are left: %s", kills, left)
				}
			}
			if err := x.kept(); err != nil {
				return fmt.Errorf("kill %d: %w", kills, err)
			}
		}
		n, c, err := x.audit()
		if err != nil {
			return fmt.Errorf("after %d kills: %w", kills, err)
		}
		files, rows, crashed = files+1, rows+n, crashed+c
	}
	t.ok("%d kills in %d sweeps: %d rows, none lost, none twice, every point there; %d points were passed over, for processes died in them twice without progress", kills, files, rows, crashed)
	return t.ctx.Err()
}

// ending are the signals that end a process, and whether bench ends in words of its own.
var ending = []struct {
	signal syscall.Signal
	words  bool
}{
	{syscall.SIGINT, true}, {syscall.SIGTERM, true}, {syscall.SIGHUP, true},
	{syscall.SIGQUIT, false}, {syscall.SIGILL, false}, {syscall.SIGTRAP, false}, {syscall.SIGABRT, false}, {syscall.SIGBUS, false}, {syscall.SIGFPE, false},
	{syscall.SIGSEGV, false}, {syscall.SIGUSR1, false}, {syscall.SIGUSR2, false}, {syscall.SIGPIPE, false}, {syscall.SIGALRM, false},
	{syscall.SIGSTKFLT, false}, {syscall.SIGXCPU, false}, {syscall.SIGXFSZ, false}, {syscall.SIGVTALRM, false}, {syscall.SIGPROF, false},
	{syscall.SIGIO, false}, {syscall.SIGPWR, false}, {syscall.SIGSYS, false}, {syscall.SIGURG, false}, {syscall.SIGWINCH, false}, {syscall.SIGCHLD, false},
}

// signalled sends every signal in the middle of a sweep. Whether the process ends or goes
// on, what was closed stays, and the sweep is gone on with.
func (t *tester) signalled() error {
	x, err := t.trial("signals0")
	if err != nil {
		return err
	}
	went, ended := 0, 0
	for i, s := range ending {
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		var said bytes.Buffer
		cmd, err := t.start(x, &said)
		if err != nil {
			return err
		}
		over := make(chan error, 1)
		go func() { over <- cmd.Wait() }()
		grown := len(x.before) + 1500
		for tries := 0; tries < 400; tries++ {
			if info, err := os.Stat(x.out); err == nil && info.Size() > int64(grown) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cmd.Process.Signal(s.signal)
		select {
		case err = <-over:
			ended++
			if line := lastLine(said.String()); s.words && (exitCode(err) != 130 || !strings.Contains(said.String(), "interrupted")) {
				t.fail("%v: %v: %s", s.signal, err, line)
			}
		case <-time.After(2 * time.Second): // it is ignored
			went++
			cmd.Process.Kill()
			<-over
		}
		if err := x.kept(); err != nil {
			return fmt.Errorf("%v: %w", s.signal, err)
		}
		if left := t.left(2 * time.Second); left != "" {
			return fmt.Errorf("%v: processes are left: %s", s.signal, left)
		}
		if info, err := os.Stat(x.out); err == nil && info.Size() > 100_000 { // nearly done: the next goes to another file
			if err := t.finish(x); err != nil {
				return fmt.Errorf("after %v: %w", s.signal, err)
			}
			if x, err = t.trial(fmt.Sprint("signals", i+1)); err != nil {
				return err
			}
		}
	}
	if err := t.finish(x); err != nil {
		return err
	}
	t.ok("%d signals: %d ended bench (Ctrl-C, TERM and HUP in words of its own, with 130), %d did not; every file whole, every sweep gone on with", len(ending), ended, went)
	return nil
}

// finish lets a sweep come to its end and audits it.
func (t *tester) finish(x *trial) error {
	var said bytes.Buffer
	cmd, err := t.start(x, &said)
	if err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil && exitCode(err) != 1 {
		return fmt.Errorf("%w: %s", err, lastLine(said.String()))
	}
	if err := x.kept(); err != nil {
		return err
	}
	_, _, err = x.audit()
	return err
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
