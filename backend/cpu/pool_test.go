package cpu

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// goroutines waits until no more than want are left.
func goroutines(t *testing.T, want int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= want {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), want)
}

// TestGoroutines: they come with the first Load and go with Close, or never come.
func TestGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	be := open(t, Options{Threads: 4})()
	p := problem.New(64, 64, 64, tile.Float32)
	programs, err := kernels.All[2].Build(p, "", tile.Blocks{M: 16, K: 16, N: 16})
	if err != nil {
		t.Fatal(err)
	}
	e, err := be.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	goroutines(t, before)
	if err := e.Load(tile.NewTensor(tile.Float32, 64, 64), tile.NewTensor(tile.Float32, 64, 64)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := e.Run(ctx, 3); err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	goroutines(t, before)
}

// TestRun_Panic: a bug in a worker is one line that names the program, and shows
// its stack only when asked to.
func TestRun_Panic(t *testing.T) {
	t.Setenv(DebugVariable, "")
	p := problem.New(96, 96, 96, tile.Float32)
	programs, err := kernels.All[2].Build(p, "", tile.Blocks{M: 16, K: 16, N: 16})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := open(t, Options{Threads: 2})().Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Close()
	if err := compiled.Load(tile.NewTensor(tile.Float32, 96, 96), tile.NewTensor(tile.Float32, 96, 96)); err != nil {
		t.Fatal(err)
	}
	e := compiled.(*exec.Executable)
	for _, w := range e.Runs[0].Workers {
		w.Data[0] = nil // packing a goes out of range
	}
	_, err = e.Run(context.Background(), 1)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"cpu: run: v3_block, i = ", "panic in a worker: runtime error: ", DebugVariable} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "goroutine") {
		t.Errorf("error is not one line: %q", err)
	}
	t.Setenv(DebugVariable, "1")
	_, err = e.Run(context.Background(), 1)
	if err == nil || !strings.Contains(err.Error(), "goroutine") || !strings.Contains(err.Error(), "dot.go:") {
		t.Errorf("%s=1: no stack in %v", DebugVariable, err)
	}
}

// TestRun_TableOutOfRange: what only running shows ends the run, not the process.
func TestRun_TableOutOfRange(t *testing.T) {
	b := tile.New("gather")
	i := b.Axis("i", 4, tile.Parallel)
	zero := tile.Const(0)
	rows := b.Table("rows", 4)
	x := b.In("x", tile.Float32, tile.Array(8, 4), tile.Block(2, 4).At(rows.At(i), zero))
	o := b.Out("o", tile.Float32, tile.Array(8, 4), tile.Block(2, 4).At(i, zero))
	b.Store(o, x)
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t, Options{Threads: 2})().Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	table := tile.NewTensor(tile.Int32, 4)
	in := tile.NewTensor(tile.Float32, 8, 4)
	for _, v := range []int32{4, -1} {
		table.Int32s()[2] = v
		if err := e.Load(table, in); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "block") {
			t.Errorf("row block %d of 4: error %v", v, err)
		}
	}
	table.Int32s()[2] = 3
	if err := e.Load(table, in); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), 1); err != nil {
		t.Error(err)
	}
}
