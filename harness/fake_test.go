package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// fake is a backend whose clock stands still except while it runs: every time is
// a function of its seed. It computes right outputs, unless told to misbehave.
type fake struct {
	device machine.Device
	rate   float64       // FLOP/s of every program
	jitter float64       // relative spread of times
	misdo  map[string]do // by kernel name
	blind  bool          // Check calls everything right
	start  time.Duration // to start a program; if positive, launches are a loop in one
	slept  time.Duration // for so long launches take twice their time when others had the machine

	awake time.Duration            // that launches took since
	ran   map[string]time.Duration // by kernel: all launches

	rng      *rand.Rand
	clock    time.Time
	open     int64 // bytes of the executables that are open
	most     int64 // largest open ever
	compiles int
	params   map[string]string // of a kernel's last compilation
	order    []string          // kernels in the order of their timed runs
	products map[inputs]*product
}

// inputs is what the inputs of all kernels of a fake are made from, and product what they
// compute of them, with what was found of it.
type inputs struct {
	problem.Matmul
	seed uint64
	dist string
}

type product struct {
	out   tile.Tensor
	ref   check.Verifier
	found map[string]backend.CheckResult // by the faults that it had
}

// do is one way to misbehave.
type do struct {
	compile error
	load    error
	check   error
	close   error
	run     error
	after   int  // runs that go well first
	hang    bool // until cancelled
	crash   bool
	fault   string
	fast    bool // takes a thousandth of the time
	wild    int  // m of the problems whose times spread twofold
}

func newFake() *fake {
	known := func(v float64) machine.Figure { return machine.Figure{Value: v, Source: "made up"} }
	return &fake{
		device: machine.Device{
			Key: "fake", Names: []string{"Fake 1"}, Kind: machine.TPU, Parallel: 2,
			Peak:                    map[string]machine.Figure{"float32": known(1e10), "bfloat16": known(2e10), "int8": known(4e10)},
			BandwidthBytesPerSecond: known(1e10),
			MemoryBytes:             known(1 << 30),
			LastLevelCacheBytes:     known(1 << 20),
		},
		rate: 5e9, jitter: 0.01,
		rng:    rand.New(rand.NewPCG(1, 2)),
		clock:  time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		params: map[string]string{}, ran: map[string]time.Duration{}, products: map[inputs]*product{},
	}
}

func (f *fake) now() time.Time         { return f.clock }
func (f *fake) Name() string           { return "fake" }
func (f *fake) Device() machine.Device { return f.device }
func (f *fake) Close() error           { return nil }

func (f *fake) Solve(context.Context, backend.ProblemSpec) (backend.Executable, error) {
	return nil, backend.ErrUnsupported
}

func (f *fake) Compile(_ context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	d := f.misdo[programs[0].Name]
	if d.compile != nil {
		return nil, d.compile
	}
	b, err := tile.Bind(programs)
	if err != nil {
		return nil, err
	}
	var need int64
	for _, r := range append(b.In, b.Out...) {
		need += r.ArrayBytes()
	}
	if limit := int64(f.device.MemoryBytes.Value); need > limit {
		return nil, &backend.TooBigError{What: "memory", Needed: need, Limit: limit}
	}
	f.compiles++
	f.params[programs[0].Name] = params.String()
	f.clock = f.clock.Add(time.Millisecond)
	return &fakeExe{fake: f, do: d, programs: programs}, nil
}

type fakeExe struct {
	*fake
	do
	*product
	programs []*tile.Program
	p        problem.Matmul
	in       []tile.Tensor
	bytes    int64
	runs     int
}

func (e *fakeExe) LoadSeeded(ctx context.Context, spec backend.InputSpec) (err error) {
	if e.load != nil {
		return e.load
	}
	e.p = spec.Problem.(problem.Matmul)
	e.in, err = check.Inputs(ctx, e.p, e.programs, spec.Seed, spec.Dist)
	key := inputs{e.p, spec.Seed, spec.Dist}
	if e.products[key] == nil {
		e.products[key] = &product{found: map[string]backend.CheckResult{}}
	}
	e.product = e.products[key]
	e.open -= e.bytes
	e.bytes = Point{Problem: e.p}.bytes()
	e.open += e.bytes
	e.most = max(e.most, e.open)
	return err
}

func (e *fakeExe) Run(ctx context.Context, launches int) (backend.Sample, error) {
	e.runs++
	if e.runs > e.after {
		switch {
		case e.hang:
			<-ctx.Done()
			return backend.Sample{}, ctx.Err()
		case e.crash:
			panic("segmentation violation")
		case e.run != nil:
			return backend.Sample{}, e.run
		}
	}
	e.multiply()
	seconds := float64(e.p.FLOPs()) / e.rate * (1 + e.jitter*e.rng.Float64())
	if e.wild == e.p.M {
		seconds *= 1 + e.rng.Float64()
	}
	if e.fast {
		seconds /= 1000
	}
	elapsed := e.start + time.Duration(float64(launches)*seconds*float64(time.Second))
	elapsed += min(elapsed, max(0, e.slept-e.awake)/2)
	e.awake += elapsed
	e.ran[e.programs[0].Name] += elapsed
	e.clock = e.clock.Add(elapsed)
	e.order = append(e.order, e.programs[0].Name)
	method := "direct"
	if e.start > 0 {
		method = "loop"
	}
	return backend.Sample{Elapsed: elapsed, Method: method}, nil
}

// multiply computes the output once: it is the same in every run of every kernel.
func (e *fakeExe) multiply() {
	if e.out.Data != nil {
		return
	}
	p, a, b := e.p, floats(e.in[0]), floats(e.in[1])
	scale := 1.0
	if p.Quant == problem.PerTensor {
		scale = e.in[2].At(0) * e.in[3].At(0)
	}
	e.out = tile.NewTensor(p.Out, p.M, p.N)
	for i := range p.M {
		for j := range p.N {
			var sum float64
			for k := range p.K {
				sum += a[i*p.K+k] * b[k*p.N+j]
			}
			e.out.Set(i*p.N+j, sum*scale)
		}
	}
}

func floats(t tile.Tensor) []float64 {
	f := make([]float64, t.Len())
	for i := range f {
		f[i] = t.At(i)
	}
	return f
}

func (e *fakeExe) Check(ctx context.Context, spec backend.CheckSpec) (backend.CheckResult, error) {
	if e.check != nil && e.runs > e.after {
		return backend.CheckResult{}, e.check
	}
	if e.blind {
		return backend.CheckResult{OK: true}, nil
	}
	faults := spec.Fault + " "
	if e.runs > e.after {
		faults += e.fault
	}
	if res, ok := e.found[faults]; ok {
		return res, nil
	}
	out := tile.NewTensor(e.p.Out, e.p.M, e.p.N)
	copy(out.Data, e.out.Data)
	for _, fault := range []string{spec.Fault, e.fault} {
		if fault == "" || fault == e.fault && e.runs <= e.after {
			continue
		}
		if err := check.Inject(fault, out); err != nil {
			return backend.CheckResult{}, err
		}
	}
	in := map[string]tile.Tensor{"a": e.in[0], "b": e.in[1]}
	if e.p.Quant != problem.NoQuant {
		in["sa"], in["sb"] = e.in[2], e.in[3]
	}
	if e.ref == nil {
		ref, err := check.ReferenceOf(ctx, e.p, in, spec.Seed, spec.Dist)
		if err != nil {
			return backend.CheckResult{}, err
		}
		e.ref = ref
	}
	res, err := e.ref.Verify(ctx, e.programs, in, map[string]tile.Tensor{"o": out})
	if err == nil {
		e.found[faults] = res
	}
	return res, err
}

func (e *fakeExe) Poison(context.Context) error {
	e.awake = 0
	return nil
}

func (e *fakeExe) Close() error {
	e.open -= e.bytes
	return e.do.close
}

func (e *fakeExe) Load(...tile.Tensor) error    { return errors.New("not used by the harness") }
func (e *fakeExe) Results(...tile.Tensor) error { return fmt.Errorf("not used by the harness") }
