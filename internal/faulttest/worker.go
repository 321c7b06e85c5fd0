//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"matladder/results"
)

// worker stops and kills the process in which XLA runs. The other points of the sweep are
// there, the one in whose turn it happened says so, and the file is whole.
func (t *tester) worker() error {
	for _, c := range []struct {
		name    string
		signal  syscall.Signal
		allowed []results.Status
	}{
		{"killed", syscall.SIGKILL, []results.Status{results.Crashed}},
		{"aborted", syscall.SIGABRT, []results.Status{results.Crashed}},
		{"stopped and let go", syscall.SIGSTOP, nil},
		{"stopped for good", syscall.SIGSTOP, []results.Status{results.Timeout, results.Crashed}},
	} {
		folder := filepath.Join(t.folder, "worker-"+c.name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		out := filepath.Join(folder, "rows.csv")
		config := filepath.Join(folder, "sweep.yaml")
		if err := os.WriteFile(config, []byte("sizes: [512, 640, 768]\nkernels: [0, 1]\ndtypes: [float32]\nrounds: {min: 20, max: 20}\ntimeout: 20s\ntime_budget: 15s\n"), 0o644); err != nil {
			return err
		}
		var said bytes.Buffer
		cmd := exec.CommandContext(t.ctx, t.bench, "--config", config, "--out", out)
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return err
		}
		child := 0
		for range 3000 { // until the plugin's process is there and rows are written
			if info, err := os.Stat(out); err == nil && info.Size() > 4000 {
				for _, pid := range t.processes() {
					if pid != cmd.Process.Pid {
						child = pid
					}
				}
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if child == 0 {
			cmd.Process.Kill()
			cmd.Wait()
			return fmt.Errorf("%w: no plugin's process: go run ./cmd/plugin install cpu, and build with cgo", errLeftOut)
		}
		syscall.Kill(child, c.signal)
		if c.name == "stopped and let go" {
			time.Sleep(3 * time.Second)
			syscall.Kill(child, syscall.SIGCONT)
		}
		err := cmd.Wait()
		f, readErr := results.ReadFile(out)
		if readErr != nil {
			return readErr
		}
		count := map[results.Status]int{}
		points := map[results.PointKey]bool{}
		for i := range f.Rows {
			count[f.Rows[i].Status]++
			points[f.Rows[i].Point()] = true
		}
		bad := len(f.Rows) - count[results.OK]
		for _, s := range c.allowed {
			bad -= count[s]
		}
		switch {
		case bad != 0 || len(points) != 6 || len(f.Warnings()) > 0 || bytes.Contains(said.Bytes(), []byte("goroutine ")):
			t.fail("%s: %v, %d points of 6, %v: %s", c.name, err, len(points), count, lastLine(said.String()))
		default:
			t.ok("%s: status %d, 6 points, %v", c.name, exitCode(err), count)
		}
	}
	return nil
}

// stepped sets the system's clock an hour ahead and back while a sweep runs.
func (t *tester) stepped() error {
	if !t.clock {
		return fmt.Errorf("%w: --clock steps the clock of the whole machine, which must be one of its own", errLeftOut)
	}
	x, err := t.trial("clock")
	if err != nil {
		return err
	}
	cmd, err := t.start(x, new(bytes.Buffer))
	if err != nil {
		return err
	}
	for _, hours := range []int64{1, -2, 1} {
		time.Sleep(2 * time.Second)
		var now syscall.Timeval
		if err := syscall.Gettimeofday(&now); err != nil {
			return err
		}
		now.Sec += hours * 3600
		if err := syscall.Settimeofday(&now); err != nil {
			cmd.Process.Kill()
			cmd.Wait()
			return fmt.Errorf("%w: %w", errLeftOut, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	rows, _, err := x.audit()
	if err == nil {
		t.ok("an hour ahead, two back, one ahead: %d rows", rows)
	}
	return err
}
