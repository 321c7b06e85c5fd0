//go:build linux && cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/worker"
	"matladder/check"
	"matladder/problem"
	"matladder/tile"

	"golang.org/x/sys/unix"
)

// child is the process id of the one worker of this process.
func child(t *testing.T) int {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		if strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			var pid int
			fmt.Sscanf(file, "/proc/%d/status", &pid)
			return pid
		}
	}
	t.Fatal("no worker")
	return 0
}

// TestWorker_Confined gives XLA one core, and looks at each of the worker's
// threads.
func TestWorker_Confined(t *testing.T) {
	config, err := Options{Name: "xla-cpu", Plugin: cpuPlugin(t), Threads: 1}.Config()
	if err != nil {
		t.Fatal(err)
	}
	be, err := worker.Open(context.Background(), worker.Options{Opener: "pjrt", Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer be.Close()
	spec := backend.InputSpec{Problem: problem.New(300, 300, 300, tile.Float32), Dist: check.Uniform}
	e := baseline(t, be, spec, backend.Params{Threads: 1})
	if _, err := e.Run(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", child(t)))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(filepath.Base(task))
		if err != nil {
			t.Fatal(err)
		}
		var cores unix.CPUSet
		if err := unix.SchedGetaffinity(id, &cores); err == nil && cores.Count() != 1 {
			t.Errorf("thread %d may run on %d cores", id, cores.Count())
		}
	}
}

// TestWorker_Killed kills a worker that runs XLA; the next run is as before.
func TestWorker_Killed(t *testing.T) {
	be := openWorker(t, worker.Options{})
	spec := backend.InputSpec{Problem: problem.New(512, 512, 512, tile.Float32), Seed: 1, Dist: check.Uniform}
	e := baseline(t, be, spec, backend.Params{})
	pid := child(t)
	time.AfterFunc(100*time.Millisecond, func() { syscall.Kill(pid, syscall.SIGKILL) })
	var crash *backend.CrashError
	if _, err := e.Run(context.Background(), 1<<30); !errors.As(err, &crash) || !strings.Contains(crash.Reason, "signal 9") {
		t.Fatalf("Run of a killed worker: %v", err)
	}
	if _, err := e.Run(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("Check: %+v, %v", r, err)
	}
}

// badPlugin compiles a plugin whose entry point does what body says.
func badPlugin(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	source, library := filepath.Join(dir, "bad.c"), filepath.Join(dir, "bad.so")
	text := "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nconst void *GetPjrtApi(void) {\n" + body + "\n}\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return library
}

// TestWorker_BadPlugins opens plugins that abort, fall, hang and print.
func TestWorker_BadPlugins(t *testing.T) {
	isCrash := func(err error) bool { return errors.As(err, new(*backend.CrashError)) }
	for _, test := range []struct {
		name, body, says string
		is               func(error) bool
	}{
		{"aborts", `fputs("no such topology\n", stderr); abort();`, "no such topology", isCrash},
		{"falls", `*(volatile int *)16 = 1; return 0;`, "SIGSEGV", isCrash},
		{"exits", `puts("bye"); fflush(stdout); _exit(9);`, "exit status 9; it said last: bye", isCrash},
		{"hangs", `for (;;) sleep(1);`, "opening the device", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		{"prints, and is none", `for (int i = 0; i < 100000; i++) puts("noise"); return 0;`, "GetPjrtApi returns nothing", func(err error) bool { return !isCrash(err) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			if test.name == "hangs" {
				ctx, cancel = context.WithTimeout(ctx, time.Second)
			}
			defer cancel()
			config, err := Options{Name: "xla-cpu", Plugin: badPlugin(t, test.body)}.Config()
			if err != nil {
				t.Fatal(err)
			}
			be, err := worker.Open(ctx, worker.Options{Opener: "pjrt", Config: config, Grace: 200 * time.Millisecond})
			if err == nil {
				be.Close()
			}
			if err == nil || !test.is(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}
