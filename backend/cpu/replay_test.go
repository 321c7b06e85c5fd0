package cpu

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// replayed calls f for programs of the ladder's kernels whose launches may be replayed, and some
// whose may not.
func replayed(t *testing.T, f func(t *testing.T, be *Backend, p problem.Matmul, programs []*tile.Program)) {
	n := 0
	for name, o := range map[string]Options{"one": {Threads: 1}, "two": {Threads: 2}, "pieces": {Threads: 1, CacheBytes: 20 << 10, ownBytes: 1}, "groups": {Threads: 1, CacheBytes: 64 << 10}} {
		be := open(t, o)()
		t.Cleanup(func() { be.Close() })
		for _, k := range kernels.Ladder(problem.MatmulFamily)[:5] {
			for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
				for _, s := range [][3]int{{2, 1, 1}, {4, 8, 19}, {37, 40, 70}, {64, 64, 64}} {
					if n++; n%thoroughtest.OneIn(1, 3, 7) != 0 {
						continue
					}
					p := problem.New(s[0], s[1], s[2], d)
					for _, b := range []tile.Blocks{k.Candidates(p, problem.Machine{Parallel: o.Threads})[0], {M: 19, K: 32, N: 33}} {
						programs, err := k.Build(p, "", b.Clip(s[0], s[1], s[2]))
						if err != nil {
							continue // that rung has no such blocks
						}
						t.Run(fmt.Sprintf("%s/%s/%s/%s/%s", name, k.Name(), d, p.Shape(), b), func(t *testing.T) { f(t, be, p, programs) })
					}
				}
			}
		}
	}
}

// few are inputs of so small integers that no order of rounding changes a sum.
func few(t *testing.T, programs []*tile.Program, seed uint64) []tile.Tensor {
	in, _ := arraysOf(t, programs)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, x := range in {
		for i := range x.Len() {
			x.Set(i, float64(rng.IntN(3)-1))
		}
	}
	return in
}

// TestReplay: launches of a Run that are replayed leave and count what the first does, also of
// inputs that changed meanwhile.
func TestReplay(t *testing.T) {
	replays, all := 0, 0
	replayed(t, func(t *testing.T, be *Backend, p problem.Matmul, programs []*tile.Program) {
		c, err := be.Compile(t.Context(), programs, backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		e := c.(*exec.Executable)
		var first backend.Counters
		for seed := range uint64(3) {
			in := few(t, programs, seed)
			want, err := interp.Run(t.Context(), programs, in)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Load(in...); err != nil { // and poison
				t.Fatal(err)
			}
			for launch := range 18 {
				if err := e.Poison(t.Context()); err != nil {
					t.Fatal(err)
				}
				s, err := e.Run(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				same(t, want, outputsOf(t, e, programs))
				if seed == 0 && launch == 0 {
					first = s.Counters
				}
				if len(e.Runs[0].Workers) == 1 && s.Counters != first {
					t.Fatalf("launch %d counts %+v, the first %+v", launch, s.Counters, first)
				}
			}
		}
		all++
		if e.Runs[0].Replays {
			replays++
			before, err := e.Trace(t.Context())
			if err != nil || len(before.Spans) == 0 {
				t.Errorf("trace: %v, %v", before, err)
			}
		} else if len(e.Runs[0].Workers) == 1 {
			t.Error("launches of one worker are not replayed")
		}
	})
	if t.Logf("%d of %d are replayed", replays, all); replays < all/2 {
		t.Errorf("only %d of %d are replayed", replays, all)
	}
}

// TestReplay_Copies: copies that a program starts are carried out in each launch.
func TestReplay_Copies(t *testing.T) {
	b := tile.New("copies")
	i, zero, rows := b.Axis("i", 2, tile.Parallel), tile.Const(0), tile.Block(2, 8)
	x := b.In("x", tile.Float32, tile.Array(4, 8), tile.HBM)
	o := b.Out("o", tile.Float32, tile.Array(4, 8), rows.At(i, zero))
	came, arrived := b.Scratch("came", tile.Float32, 2, 8), b.Semaphores("arrived", 1)
	c := tile.NewCopy(x.Part(rows.At(i, zero)), came.Part(rows.At(zero, zero)), arrived.At(zero))
	b.Start(c)
	b.Wait(c)
	b.Store(o, tile.Add(came, came))
	programs, err := b.Programs()
	if err != nil {
		t.Fatal(err)
	}
	e, err := open(t, Options{Threads: 1})().Compile(t.Context(), programs, backend.Params{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for launch := range uint64(17) {
		runsAsInterp(t, e, programs, few(t, programs, launch))
	}
	if !e.(*exec.Executable).Runs[0].Replays {
		t.Error("launches are not replayed")
	}
}

// TestReplay_Calls: calls that are replayed use the arrays that they are given, and touch no
// others.
func TestReplay_Calls(t *testing.T) {
	replayed(t, func(t *testing.T, be *Backend, p problem.Matmul, programs []*tile.Program) {
		c, err := be.CompileCall(t.Context(), programs, backend.Params{}, backend.Layout{Unaligned: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var callers sync.WaitGroup
		for caller := range 2 {
			callers.Go(func() {
				x := new(backend.Arguments)
				for round := range uint64(4) {
					in := few(t, programs, round+10*uint64(caller))
					want, err := interp.Run(t.Context(), programs, in)
					if err != nil {
						t.Error(err)
						return
					}
					old := x.Out
					if round%2 == 0 { // else new values in the same arrays
						x.In, x.Out = nil, nil
						for _, in := range in {
							x.In = append(x.In, aligned(in))
						}
						for _, out := range want {
							x.Out = append(x.Out, Buffer(len(out.Data)))
						}
						x.Version++
					}
					for i, in := range in {
						copy(x.In[i], in.Data)
					}
					for _, out := range old {
						setAll(out, 0x5a)
					}
					for range 6 {
						for _, out := range x.Out {
							setAll(out, 0xa5)
						}
						if err := c.Call(t.Context(), x); err != nil {
							t.Error(err)
							return
						}
						for i, out := range want {
							if string(out.Data) != string(x.Out[i]) {
								t.Errorf("round %d: another output than interp's", round)
								return
							}
						}
					}
					for _, out := range old {
						if round%2 == 0 && out[0] != 0x5a {
							t.Error("an array of an earlier call was written")
						}
					}
				}
			})
		}
		callers.Wait()
	})
}

func setAll(data []byte, v byte) {
	for i := range data {
		data[i] = v
	}
}
