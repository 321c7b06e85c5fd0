//go:build unix

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu"
	"matladder/backend/seeded"
	"matladder/internal/thoroughtest"
	optblock "matladder/kernels/v4_optblock"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

func TestMain(m *testing.M) {
	Hook(map[string]Opener{"cpu": openCPU, "bad": openBad})
	if os.Getenv(parentVariable) != "" {
		beParent()
	}
	os.Exit(m.Run())
}

func openCPU(context.Context, []byte) (backend.Backend, error) {
	return cpu.Open(cpu.Options{Threads: 2, NoProbe: true, Nominal: true}) // each worker would measure anew
}

// TestConformance holds a backend in a worker to what it is held to outside of one: what
// crosses to a worker and back is whole, of every dtype and kind of program. That all
// kernels are right on the backend inside is that one's own test.
func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func() backend.Backend { return open(t, Options{Opener: "cpu"}) }, backendtest.Options{
		Threads: []int{1}, KnowsMemory: true, Seeded: true,
		OneIn: thoroughtest.OneIn(8, 53, 151), FamiliesOneIn: thoroughtest.OneIn(1, 7, 23),
	})
}

func open(t testing.TB, o Options) *Backend {
	t.Helper()
	b, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

// bad is the CPU backend until a run of as many launches as one of its vices.
type bad struct{ backend.Backend }

const (
	abort = 1000 + iota
	exit
	crash
	hang
	stall
	chatter
	unsupported
	tooBig
)

func openBad(_ context.Context, config []byte) (backend.Backend, error) {
	switch string(config) {
	case "refuses":
		return nil, fmt.Errorf("no such device: %w", backend.ErrUnsupported)
	case "dies":
		fmt.Fprintln(os.Stderr, "cannot find the driver")
		os.Exit(3)
	case "hangs":
		select {}
	}
	be, err := cpu.Open(cpu.Options{Threads: 1, NoProbe: true, Nominal: true})
	return bad{be}, err
}

func (b bad) Device() machine.Device {
	fmt.Println(strings.Repeat("a plugin that prints to stdout\n", 10000))
	return b.Backend.Device()
}

func (b bad) Compile(ctx context.Context, ps []*tile.Program, params backend.Params) (backend.Executable, error) {
	e, err := backend.Compile(ctx, b.Backend, ps, params)
	return badExecutable{e}, err
}

type badExecutable struct{ backend.Executable }

func (e badExecutable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	switch launches {
	case abort:
		fmt.Fprintln(os.Stderr, "F0000 check failed: the plugin gives up")
		os.Stderr.Sync()
		abortProcess()
	case exit:
		os.Exit(7)
	case crash:
		panic("index out of range")
	case hang:
		select {}
	case stall:
		stopProcess()
		select {}
	case chatter:
		for range 1000 {
			fmt.Println("noise", 1, 2, 3)
		}
	case unsupported:
		return backend.Sample{}, fmt.Errorf("dot of a: %w", backend.ErrUnsupported)
	case tooBig:
		return backend.Sample{}, fmt.Errorf("arrays: %w", &backend.TooBigError{What: "HBM", Needed: 7, Limit: 5})
	}
	return e.Executable.Run(ctx, launches)
}

// TestFaults does to a worker what plugins do, and goes on afterwards.
func TestFaults(t *testing.T) {
	t.Parallel() // it waits more than it works
	b := open(t, Options{Opener: "bad", Grace: 200 * time.Millisecond})
	p := problem.New(33, 21, 17, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 16, K: 16, N: 16})
	if err != nil {
		t.Fatal(err)
	}
	made, err := b.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	e := seeded.Of(made, programs, new(seeded.References))
	defer e.Close()
	inputs := backend.InputSpec{Problem: p, Seed: 3, Dist: "uniform"}
	if err := e.LoadSeeded(t.Context(), inputs); err != nil {
		t.Fatal(err)
	}
	isCrash := func(err error) bool { return errors.As(err, new(*backend.CrashError)) }
	isTimeout := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) && !isCrash(err) }
	tests := []struct {
		name     string
		launches int
		is       func(error) bool
		says     string
		dies     bool
	}{
		{"abort", abort, isCrash, "the plugin gives up", true},
		{"exit", exit, isCrash, "exit status 7", true},
		{"panic", crash, isCrash, "index out of range", false},
		{"hang", hang, isTimeout, "did not stop when told to", true},
		{"stall", stall, isTimeout, "stood still", true},
		{"chatter", chatter, func(err error) bool { return err == nil }, "", false},
		{"unsupported", unsupported, func(err error) bool { return errors.Is(err, backend.ErrUnsupported) }, "dot of a", false},
		{"too big", tooBig, func(err error) bool {
			var big *backend.TooBigError
			return errors.As(err, &big) && *big == backend.TooBigError{What: "HBM", Needed: 7, Limit: 5}
		}, "needs 7 bytes of HBM", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			silence := b.options.Silence
			switch test.launches {
			case hang:
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
			case stall: // in a worker that is given up soon: it does nothing else
				b.process.Kill()
				b.options.Silence = 300 * time.Millisecond
			}
			defer cancel()
			_, err := e.Run(ctx, test.launches)
			b.options.Silence = silence
			if !test.is(err) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %v, should say %q", err, test.says)
			}
			if alive := b.process.Alive(); alive == test.dies {
				t.Errorf("the worker is alive: %v", alive)
			}
			if test.dies {
				if _, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: inputs}); !isCrash(err) {
					t.Errorf("Check of what was lost: %v", err)
				}
			}
			if _, err := e.Run(context.Background(), 1); err != nil {
				t.Fatalf("Run afterwards: %v", err)
			}
			if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: inputs}); err != nil || !r.OK {
				t.Errorf("Check afterwards: %+v, %v", r, err)
			}
		})
	}

	t.Run("killed between calls", func(t *testing.T) {
		other, err := b.Compile(context.Background(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		in := []tile.Tensor{tile.NewTensor(tile.Float32, p.M, p.K), tile.NewTensor(tile.Float32, p.K, p.N)}
		if err := other.Load(in...); err != nil {
			t.Fatal(err)
		}
		b.process.Kill()
		if _, err := other.Run(context.Background(), 1); !isCrash(err) {
			t.Errorf("Run on arrays that were lost: %v", err)
		}
		if _, err := e.Run(context.Background(), 1); err != nil {
			t.Errorf("Run on inputs made from a seed: %v", err)
		}
		if err := other.Load(in...); err != nil {
			t.Errorf("Load in a new worker: %v", err)
		}
	})
}

// TestOpen_Fails opens what cannot be opened.
func TestOpen_Fails(t *testing.T) {
	for _, test := range []struct {
		opener, config, says string
		kind                 func(error) bool
	}{
		{"bad", "refuses", "no such device", func(err error) bool { return errors.Is(err, backend.ErrUnsupported) }},
		{"bad", "dies", "cannot find the driver", func(err error) bool { return errors.As(err, new(*backend.CrashError)) }},
		{"bad", "hangs", "opening the device", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		{"nothing", "", `no backend "nothing"`, func(error) bool { return true }},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		if test.config == "hangs" {
			ctx, cancel = context.WithTimeout(ctx, 300*time.Millisecond)
		}
		b, err := Open(ctx, Options{Opener: test.opener, Config: []byte(test.config), Grace: 100 * time.Millisecond})
		if err == nil {
			b.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.says) || !test.kind(err) {
			t.Errorf("%s %s: %v", test.opener, test.config, err)
		}
		cancel()
	}
}

// TestClose leaves no process behind, and every call afterwards is an error.
func TestClose(t *testing.T) {
	b := open(t, Options{Opener: "cpu"})
	p := b.process
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Alive() {
		t.Error("the worker is alive")
	}
	if _, err := b.Compile(context.Background(), nil, backend.Params{}); !errors.Is(err, errClosed) {
		t.Errorf("Compile: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// parentVariable makes the test a process that is killed by another.
const parentVariable = "MATLADDER_TEST_PARENT"

// beParent starts a worker, prints its process id and waits for a run that never
// ends.
func beParent() {
	b, err := Open(context.Background(), Options{Opener: "bad"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p := problem.New(8, 8, 8, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 8, K: 8, N: 8})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	e, err := b.Compile(context.Background(), programs, backend.Params{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(b.process.Pid())
	e.Run(context.Background(), hang)
}

// TestParentDies kills a process with a worker that hangs: the worker must end.
func TestParentDies(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	if !isRunning(pid) {
		t.Fatalf("process %d is no worker", pid)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for range 100 {
		if !isRunning(pid) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("the worker %d outlives its parent", pid)
}

// BenchmarkRun compares a launch through a worker with one in the process.
func BenchmarkRun(b *testing.B) {
	p := problem.New(16, 16, 16, tile.Float32)
	programs, err := optblock.Kernel.Build(p, "", tile.Blocks{M: 16, K: 16, N: 16})
	if err != nil {
		b.Fatal(err)
	}
	here, err := openCPU(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer here.Close()
	for _, side := range []struct {
		name string
		be   backend.Backend
	}{{"here", here}, {"worker", open(b, Options{Opener: "cpu"})}} {
		b.Run(side.name, func(b *testing.B) {
			made, err := backend.Compile(context.Background(), side.be, programs, backend.Params{})
			if err != nil {
				b.Fatal(err)
			}
			e := seeded.Of(made, programs, new(seeded.References))
			defer e.Close()
			if err := e.LoadSeeded(b.Context(), backend.InputSpec{Problem: p, Dist: "uniform"}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := e.Run(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
