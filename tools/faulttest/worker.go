//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"matladder/results"
)

// worker stops and kills the process in which XLA runs. The other points of the sweep are
// there, the one in whose turn it happened says so, and the file is whole.
func (t *tester) worker() error {
	send := func(s syscall.Signal) func(int) error {
		return func(child int) error { return syscall.Kill(child, s) }
	}
	for _, c := range []struct {
		name    string
		harm    func(child int) error
		allowed []results.Status // one row may have
	}{
		{"killed", send(syscall.SIGKILL), []results.Status{results.Crashed}},
		{"aborted", send(syscall.SIGABRT), []results.Status{results.Crashed}},
		{"stopped and let go", func(child int) error {
			if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
				return err
			}
			time.Sleep(3 * time.Second)
			return syscall.Kill(child, syscall.SIGCONT)
		}, nil},
		{"stopped for good", send(syscall.SIGSTOP), []results.Status{results.Timeout, results.Crashed}},
		{"out of memory", t.starve, []results.Status{results.Crashed}},
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
		harm := c.harm(child)
		err := cmd.Wait()
		if group, _ := starving(); harm == nil {
			os.Remove(group)
		}
		if harm != nil {
			fmt.Fprintf(t.out, "  %s: left out: %v\n", c.name, harm)
			continue
		}
		f, readErr := results.ReadFile(out)
		if readErr != nil {
			return readErr
		}
		count := map[results.Status]int{}
		points := map[string]bool{} // a row of a launch that failed names no method of timing: its PointKey is another one
		bad, reason := 0, ""
		for i := range f.Rows {
			r := &f.Rows[i]
			count[r.Status]++
			points[r.Kernel+" "+r.Sizes()] = true
			if r.Status != results.OK && !slices.Contains(c.allowed, r.Status) {
				bad, reason = bad+1, r.Reason
			}
		}
		harmed := len(f.Rows) - count[results.OK]
		switch {
		case bad > 0 || harmed > 1 || len(points) != 6 || len(f.Warnings()) > 0 || bytes.Contains(said.Bytes(), []byte("goroutine ")):
			t.fail("%s: %v, %d points of 6, %v %s: %s", c.name, err, len(points), count, reason, lastLine(said.String()))
		default:
			t.ok("%s: status %d, 6 points, %v", c.name, exitCode(err), count)
		}
	}
	return nil
}

// starving is the control group of starve, and the file of its limit.
func starving() (group, file string) {
	root, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(root + "/cgroup.controllers"); err != nil {
		root, file = root+"/memory", "memory.limit_in_bytes"
	}
	return filepath.Join(root, fmt.Sprintf("faulttest-%d", os.Getpid())), file
}

// starve puts a process into a control group with next to no memory left: what it takes
// from now on is more than it gets, and the system kills it.
func (t *tester) starve(child int) error {
	group, file := starving()
	err := os.Mkdir(group, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(group, file), []byte("4M"), 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(child)), 0o644)
	}
	if err != nil {
		os.Remove(group)
		return fmt.Errorf("no control group of memory can be made here: %w", err)
	}
	return nil
}
