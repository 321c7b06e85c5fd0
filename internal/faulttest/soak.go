//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A load is what a process holds.
type load struct {
	points                       int
	memory                       float64 // MB resident
	threads, descriptors, others int     // others are its children
}

// soak measures many points in one process, and watches what it holds from point to point.
func (t *tester) soak() error {
	folder := filepath.Join(t.folder, "soak")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var sizes []string // m×k×n, so that each is a problem of its own
	for m := 1; len(sizes) < (t.points+1)/2; m++ {
		for n := 1; n <= 64 && len(sizes) < (t.points+1)/2; n++ {
			sizes = append(sizes, fmt.Sprintf("%dx%dx%d", 1+m%128, 8+m/128, n))
		}
	}
	config, out := filepath.Join(folder, "sweep.yaml"), filepath.Join(folder, "rows.csv")
	text := "sizes: [" + strings.Join(sizes, ", ") + "]\nkernels: [1, 3]\ndtypes: [float32]\nrounds: {min: 1, max: 1}\nrepetitions: 1\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.ctx, t.bench, "--config", config, "--out", out, "--threads", "2")
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var loads []load
	next := min(1000, t.points/4)
	rows := &counter{path: out}
	for running := true; running; {
		select {
		case err := <-ended:
			if running = false; err != nil {
				return fmt.Errorf("%w: %s", err, lastLine(said.String()))
			}
		case <-time.After(200 * time.Millisecond):
			if n := rows.count(); n >= next {
				loads = append(loads, t.held(cmd.Process.Pid, n))
				fmt.Fprintf(t.out, "  %d points: %.1f MB, %d threads, %d descriptors, %d children\n", n, loads[len(loads)-1].memory, loads[len(loads)-1].threads, loads[len(loads)-1].descriptors, loads[len(loads)-1].others)
				next = max(n+1, next+max(1000, t.points/20))
			}
		}
	}
	if n := rows.count(); n < t.points {
		return fmt.Errorf("%d rows of %d points", n, t.points)
	}
	if len(loads) < 2 {
		return fmt.Errorf("%w: over too soon to be watched", errLeftOut)
	}
	first, last := loads[0], loads[len(loads)-1]
	if last.memory > 1.05*first.memory || last.threads > first.threads+2 || last.descriptors > first.descriptors || last.others > first.others {
		t.fail("from point %d to %d: %.1f to %.1f MB, %d to %d threads, %d to %d descriptors, %d to %d children",
			first.points, last.points, first.memory, last.memory, first.threads, last.threads, first.descriptors, last.descriptors, first.others, last.others)
		return nil
	}
	t.ok("from point %d to %d: %.1f to %.1f MB, %d to %d threads, %d to %d descriptors, %d to %d children",
		first.points, last.points, first.memory, last.memory, first.threads, last.threads, first.descriptors, last.descriptors, first.others, last.others)
	return nil
}

// A counter counts the rows of a file that grows.
type counter struct {
	path string
	at   int64
	rows int
}

func (c *counter) count() int {
	f, err := os.Open(c.path)
	if err != nil {
		return 0
	}
	defer f.Close()
	if _, err := f.Seek(c.at, 0); err != nil {
		return c.rows
	}
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return max(0, c.rows-1) // without the header
		}
		c.at, c.rows = c.at+int64(len(line)), c.rows+1
	}
}

func (t *tester) held(pid, points int) load {
	l := load{points: points}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		var kB int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kB); n == 1 {
			l.memory = float64(kB) / 1e3
		}
		fmt.Sscanf(line, "Threads: %d", &l.threads)
	}
	if list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		l.descriptors = len(list)
	}
	l.others = len(t.processes()) - 1
	return l
}
