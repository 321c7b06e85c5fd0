//go:build linux && cgo

package pjrt

import (
	"context"
	"slices"
	"testing"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/backend/seeded"
	"matladder/check"
	"matladder/lower/stablehlo"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestSetsOf: sets are a power of two, and those in between are twice the cache.
func TestSetsOf(t *testing.T) {
	h100, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		device machine.Device
		bytes  int64
		want   int
	}{
		{h100, 3 * 2 * 4096 * 4096, 4}, // 101 MB in between are less than twice 50 MiB
		{h100, 3 * 2 * 2048 * 2048, 8}, // 25 MB: four in between are not enough of a power of two
		{h100, 3 * 2 * 1024 * 1024, 32},
		{h100, 3 * 2 * 512 * 512, 0}, // 67 of them and more
		{h100, 3 * 2 * 16384 * 16384, 2},
		{h100, 19e9, 2},
		{h100, 44e9, 0},          // two do not fit half of the memory
		{machine.Device{}, 1, 0}, // a GPU that is not known
		{machine.Device{}, 512e6, 2},
		{h100, 0, 0},
	} {
		got := setsOf(test.device, test.bytes)
		if got != test.want {
			t.Errorf("%d bytes on %s: %d sets, want %d", test.bytes, test.device.Key, got, test.want)
		}
		if l2 := test.device.LastLevelCacheBytes.Value; got > 0 && float64(got-1)*float64(test.bytes) < 2*l2 {
			t.Errorf("%d sets of %d bytes leave %g in the cache", got, test.bytes, l2)
		}
	}
}

// pretendGPU opens the CPU plugin as a GPU with a cache so small that launches take sets
// in turn: four of p.
func pretendGPU(t *testing.T, p problem.Matmul) *pjrtBackend {
	t.Helper()
	be := apart(t)
	device, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	need := 4 * (p.M*p.K + p.K*p.N + p.M*p.N)
	device.LastLevelCacheBytes.Value = float64(need)
	be.device = device
	return be
}

// coreOf is a launch with its arrays.
func coreOf(e backend.Executable) *executable {
	return seeded.Inner(e).(running).Core().(*executable)
}

// TestSets gives each set operands of its own: the launches of a call take them in turn,
// however many there are and however they are timed, and what each set is left is the
// product of its own operands.
func TestSets(t *testing.T) {
	p := problem.New(24, 40, 16, tile.Float32)
	be := pretendGPU(t, p)
	defer be.Close()
	spec := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
	for _, method := range methods {
		made := baseline(t, be, spec, byMethod(method))
		e := coreOf(made)
		if e.sets != 4 {
			t.Fatalf("%s: %d sets", method, e.sets)
		}
		want := make([]tile.Tensor, e.sets)
		for s := range want {
			want[s] = e.giveSet(t, s, p)
		}
		took, all := map[int]bool{}, 0
		for _, launches := range []int{1, 2, 3, 4, 5, 7, 8, 15, 1030} {
			sample, err := made.Run(context.Background(), launches)
			if err != nil || sample.Operands != OperandsHBM {
				t.Fatalf("%s: %d launches: %+v, %v", method, launches, sample, err)
			}
			all += launches
			n := e.called
			for s := range len(e.out) {
				got := tile.NewTensor(p.Out, p.M, p.N)
				if err := e.out[s].read("o", got); err != nil {
					t.Fatal(err)
				}
				is := slices.IndexFunc(want, func(w tile.Tensor) bool { return slices.Equal(w.Data, got.Data) })
				switch method {
				case Loop:
					if !stablehlo.Took(s, n, e.sets) {
						if is = slices.IndexFunc(got.Data, func(b byte) bool { return b != 0 }); is >= 0 {
							t.Errorf("%d launches: set %d was launched", n, s)
						}
						continue
					}
					if is != s {
						t.Errorf("loop of %d: set %d has the product of set %d", n, s, is)
					}
				case Chain:
					if is != (n-1)%e.sets {
						t.Errorf("chain of %d ends with the product of set %d", n, is)
					}
				case Wall:
					if is != (all-1)%e.sets {
						t.Errorf("the launch behind %d took set %d", all-1, is)
					}
				}
				took[is] = true
			}
		}
		if took[-1] || method != Wall && len(took) != e.sets {
			t.Errorf("%s took the sets %v", method, took)
		}
	}
}

// giveSet gives a set operands of its own and returns their product.
func (e *executable) giveSet(t *testing.T, set int, p problem.Matmul) tile.Tensor {
	t.Helper()
	in := []tile.Tensor{tile.NewTensor(p.A, p.M, p.K), tile.NewTensor(p.B, p.K, p.N)}
	for i, x := range in {
		for at := range tile.Elements(x.Shape) {
			x.Set(int(at), float64((int(at)*(7+i)+11*set)%5-2))
		}
		b, err := e.backend.transfer("operand", x)
		if err != nil {
			t.Fatal(err)
		}
		place := set*len(in) + i
		if err := e.in[place].free(); err != nil {
			t.Fatal(err)
		}
		e.in[place] = b
	}
	o := tile.NewTensor(p.Out, p.M, p.N)
	for m := range p.M {
		for n := range p.N {
			sum := 0.
			for k := range p.K {
				sum += in[0].At(m*p.K+k) * in[1].At(k*p.N+n)
			}
			o.Set(m*p.N+n, sum)
		}
	}
	return o
}

// TestSets_Verified: the check looks at each set. One of several sets that is wrong makes
// the answer wrong; operands=any takes one set, and says so.
func TestSets_Verified(t *testing.T) {
	p := problem.New(24, 40, 16, tile.Float32)
	be := pretendGPU(t, p)
	defer be.Close()
	spec := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
	for wrong := -1; wrong < 4; wrong++ {
		made := baseline(t, be, spec, byMethod(Loop))
		e := coreOf(made)
		if wrong >= 0 {
			e.giveSet(t, wrong, p)
		}
		if _, err := made.Run(context.Background(), 6); err != nil {
			t.Fatal(err)
		}
		r, err := made.Check(t.Context(), backend.CheckSpec{InputSpec: spec})
		if err != nil || r.OK != (wrong < 0) {
			t.Errorf("set %d is wrong: %+v, %v", wrong, r, err)
		}
		if err := made.Poison(t.Context()); err != nil {
			t.Error(err)
		}
	}
	made := baseline(t, be, spec, backend.Params{Extra: map[string]string{operandsParam: OperandsAny}})
	e := coreOf(made)
	if s, err := made.Run(context.Background(), 5); err != nil || s.Operands != inL2 || e.sets != 1 {
		t.Errorf("%d sets, %+v, %v", e.sets, s, err)
	}
	if r, err := made.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOneByOne: XLA knows the option by which launches do not overlap, and its value.
func TestOneByOne(t *testing.T) {
	be := openCPU(t, Options{}).(*pjrtBackend)
	defer be.Close()
	launch, err := stablehlo.Baseline(problem.New(8, 8, 8, tile.Float32))
	if err != nil {
		t.Fatal(err)
	}
	for _, options := range []hlo.Options{oneByOne, {"xla_gpu_command_buffer_scheduling_mode": "ALL_AT_ONCE"}} {
		e := &executable{backend: be, launch: launch}
		err := e.build(launch.Once(), nil, options)
		if known := options["xla_gpu_command_buffer_scheduling_mode"] == "SERIALIZE"; known != (err == nil) {
			t.Errorf("%v: %v", options, err)
		}
	}
}

// TestInt4: operands of four bits reach a device whose memory is not the host's.
func TestInt4(t *testing.T) {
	be := apart(t)
	defer be.Close()
	p := problem.New(24, 40, 15, tile.Int8)
	p.B = tile.Int4
	spec := backend.InputSpec{Problem: p, Seed: 3, Dist: check.Uniform}
	e := baseline(t, be, spec, byMethod(Loop))
	if _, err := e.Run(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	if r, err := e.Check(t.Context(), backend.CheckSpec{InputSpec: spec}); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	in := tile.NewTensor(tile.Int4, 3)
	for i, v := range []float64{-8, 7, -1} {
		in.Set(i, v)
	}
	if got := apart4(in); !slices.Equal(got, []byte{0xf8, 7, 0xff}) {
		t.Errorf("% x", got)
	}
}
