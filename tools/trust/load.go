package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// A condition is what else goes on while programs take turns.
type condition struct {
	name, title string
	programs    []program
	start       func(ctx context.Context) (stop func(), err error)
	quota       float64 // of the cores, that programs may use; 0 for all
	longer      int     // turns are so many times as long; 0 for once
}

var conditions = []condition{
	{name: "idle", title: "idle", programs: []program{reference, again, slow2, slow5}, start: nothing},
	{name: "files", title: "idle, longer runs", programs: []program{reference, again, slow5}, start: nothing, longer: 3},
	{name: "one", title: "one core busy", programs: []program{reference, again}, start: stress(1)},
	{name: "all", title: "all cores busy", programs: []program{reference, again, slow5}, start: stress(runtime.NumCPU())},
	{name: "bursts", title: "all cores busy for a second, then not for one", programs: []program{reference, again}, start: bursts},
	{name: "quota", title: "half of the cores, by cgroup quota", programs: []program{reference, again}, start: nothing, quota: 0.5},
}

func conditionNames() []string {
	var names []string
	for _, c := range conditions {
		names = append(names, c.name)
	}
	return names
}

func nothing(context.Context) (func(), error) { return func() {}, nil }

// stress keeps so many cores busy.
func stress(cores int) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		cmd := exec.CommandContext(ctx, "stress-ng", "--cpu", fmt.Sprint(cores), "--quiet")
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its children
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("%w (apt-get install stress-ng)", err)
		}
		return func() {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		}, nil
	}
}

// bursts keeps all cores busy every other second.
func bursts(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	stop, err := stress(runtime.NumCPU())(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			wait(ctx, time.Second)
			stop()
			wait(ctx, time.Second)
			if stop, err = stress(runtime.NumCPU())(ctx); err != nil {
				return
			}
		}
		stop()
	}()
	return func() { cancel(); <-ended }, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// limit makes a control group that may use part of the cores. enter is its file that
// processes join by.
func limit(part float64) (enter string, remove func(), err error) {
	const period = 100000
	quota := int(part * period * float64(runtime.NumCPU()))
	name := fmt.Sprintf("matladder-trust-%d", os.Getpid())
	for _, g := range []struct{ root, file, text string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", fmt.Sprint(quota)},
		{"/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d %d", quota, period)},
	} {
		folder := filepath.Join(g.root, name)
		if os.Mkdir(folder, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(folder, g.file), []byte(g.text), 0o644) == nil {
			return filepath.Join(folder, "cgroup.procs"), func() { os.Remove(folder) }, nil
		}
		os.Remove(folder)
	}
	return "", nil, errors.New("no control group for a quota can be made here: it takes root, and the controller cpu")
}
