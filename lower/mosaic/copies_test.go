package mosaic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"matladder/kernels"
	"matladder/kernels/sharded"
	exchange "matladder/kernels/sharded/v6_experts"
	"matladder/lower/internal/lowertest"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// mesh is machines that run one kernel, and wait for each other.
type mesh struct {
	machines []*simulator
	mu       sync.Mutex
	moved    *sync.Cond
}

func isSemaphore(elem string) bool { return strings.HasPrefix(elem, "!tpu.") }

// zero is an error unless all counters are.
func (m *simulator) zero(b *buffer) error {
	if isSemaphore(b.elem) && slices.ContainsFunc(b.data, func(n float64) bool { return n != 0 }) {
		return fmt.Errorf("counters %v are left", b.data)
	}
	return nil
}

// whole is the memory that b is a part of.
func (b *buffer) whole() *buffer {
	if b.part != nil {
		return b.part
	}
	return b
}

// places lists the elements of b in the memory that it is a part of.
func (b *buffer) places() []int {
	if b.part == nil {
		b = &buffer{typed: b.typed, part: b, lo: make([]int, len(b.dims))}
	}
	dims := b.dims
	for len(dims) < len(b.lo) { // squeezed
		dims = append([]int{1}, dims...)
	}
	list := []int{0}
	for d := range dims {
		var next []int
		for _, at := range list {
			for i := range dims[d] {
				c := b.lo[d] + i
				if c < 0 || c >= b.part.dims[d] {
					panic(fmt.Sprintf("element %d of dimension %d, whose size is %d", c, d, b.part.dims[d]))
				}
				next = append(next, at*b.part.dims[d]+c)
			}
		}
		list = next
	}
	return list
}

// copying runs what there is about copies. A copy happens where it is started.
func (m *simulator) copying(op *operation, ins []*val) *val {
	number := func(i int) int { return int(ins[i].data[0]) }
	segments := func(want ...int) bool { return slices.Equal(integers(op.attrs["operandSegmentSizes"]), want) }
	switch op.name {
	case "tpu.memref_slice":
		b := ins[0].mem
		lo := make([]int, len(b.dims))
		for d := range lo {
			lo[d] = number(d + 1)
		}
		if b.part != nil || !segments(1, len(lo), 0) {
			panic(fmt.Sprintf("line %d: a part of a part, or segments %s", op.line, op.attrs["operandSegmentSizes"]))
		}
		return &val{mem: &buffer{typed: parseType(op.to[0]), part: b, lo: lo}}
	case "tpu.memref_squeeze":
		b := ins[0].mem
		return &val{mem: &buffer{typed: parseType(op.to[0]), part: b.whole(), lo: b.lo}}
	case "tpu.sem_barrier":
		return &val{mem: m.barrier}
	case "tpu.enqueue_dma":
		from, to, target := ins[0].mem, ins[1].mem, m
		arrived := ins[len(ins)-1].mem
		switch {
		case segments(1, 0, 1, 1, 0, 0):
		case segments(1, 1, 1, 1, 1, 0):
			to, arrived, target = ins[2].mem, ins[3].mem, m.mesh.machines[number(4)]
		default:
			panic(fmt.Sprintf("line %d: segments %s", op.line, op.attrs["operandSegmentSizes"]))
		}
		if from.elem != to.elem || !slices.Equal(from.dims, to.dims) {
			panic(fmt.Sprintf("line %d: from %v to %v", op.line, op.from[0], op.from))
		}
		m.mesh.mu.Lock()
		memory := target.args[to.whole().arg].mem
		places := from.places()
		for i, at := range to.places() {
			memory.data[at] = from.whole().data[places[i]]
		}
		n := float64(len(places))
		target.count(arrived, n)
		if target != m || len(ins) > 3 {
			m.count(ins[1].mem, n)
		}
		m.mesh.mu.Unlock()
		m.mesh.moved.Broadcast()
	case "tpu.wait_dma2":
		if !segments(1, 1, 1, 0, 0) && !segments(1, 1, 1, 1, 1) {
			panic(fmt.Sprintf("line %d: segments %s", op.line, op.attrs["operandSegmentSizes"]))
		}
		m.await(ins[0].mem, float64(len(ins[2].mem.places())))
	case "tpu.sem_signal":
		target := m.mesh.machines[number(2)]
		m.mesh.mu.Lock()
		target.barrier.data[0] += float64(number(1))
		m.mesh.mu.Unlock()
		m.mesh.moved.Broadcast()
	case "tpu.sem_wait":
		m.await(ins[0].mem, float64(number(1)))
	}
	return &val{}
}

// count adds to the counter of this machine that b names.
func (m *simulator) count(b *buffer, n float64) {
	m.args[b.whole().arg].mem.data[b.places()[0]] += n
}

// await takes n from a counter of this machine.
func (m *simulator) await(b *buffer, n float64) {
	memory := m.barrier
	if b != m.barrier {
		memory = m.args[b.whole().arg].mem
	}
	at := b.places()[0]
	m.mesh.mu.Lock()
	for memory.data[at] < n {
		if len(m.mesh.machines) == 1 {
			m.mesh.mu.Unlock()
			panic(fmt.Sprintf("waits for %v of %v for ever", n, memory.data[at]))
		}
		m.mesh.moved.Wait()
	}
	memory.data[at] -= n
	m.mesh.mu.Unlock()
}

// TestCopies runs the text of programs that copy themselves, on all devices of a mesh, and
// holds it to what interp says that they mean.
func TestCopies(t *testing.T) {
	for _, k := range sharded.All {
		p := problem.Sharded{M: 64, K: 32, N: 64, Devices: 4, Dtype: tile.Float32, Way: problem.Gather}
		switch k.Name {
		case "v1_chip":
			p.Devices = 1
		case "v5_scatter":
			p.Way = problem.Scatter
		}
		t.Run(k.Name, func(t *testing.T) {
			programs, err := k.Build(p, "", tile.Blocks{M: 8, K: 8, N: 8})
			if err != nil {
				t.Fatal(err)
			}
			runCopies(t, programs[0], p.Devices)
		})
	}
	t.Run("v6_experts", func(t *testing.T) {
		p := problem.Exchanged{Each: problem.Experts{Tokens: 20, Dim: 24, Experts: 8, Choices: 2, Capacity: 8, Order: problem.TopFirst, Dtype: tile.Float32}, N: 16, Devices: 4}
		programs, err := exchange.Kernel{}.Build(p, tile.Blocks{M: 8, N: 8})
		if err != nil {
			t.Fatal(err)
		}
		runCopies(t, programs[0], p.Devices)
	})
}

// TestCopies_Config: arrays that a kernel copies from are held in main memory, by the numbers
// of its operands, and copies whose places Verify has proved are not checked again; of other
// kernels nothing is said.
func TestCopies_Config(t *testing.T) {
	config := func(programs []*tile.Program, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		launch, err := mosaic.Lower(programs, mosaic.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(launch.Module(), `\22`, `"`)
		_, text, _ = strings.Cut(text, `"needs_layout_passes":true`)
		text, _, _ = strings.Cut(text, "}}")
		return text
	}
	const (
		mine    = `"disable_bounds_checks":true,"input_memory_space_colors":[{"operand_index":0,"color":0},{"operand_index":1,"color":0}]`
		a       = `"disable_bounds_checks":true,"input_memory_space_colors":[{"operand_index":1,"color":0}]` // behind the device's place
		all     = `"output_memory_space_colors":[{"color":0,"shape_index":[1]}]`                             // behind o
		scatter = `"disable_bounds_checks":true,` + all
	)
	want := map[string]string{"v1_chip": mine, "v2_gather": a + "," + all, "v3_ring": a + "," + all, "v4_both": a + "," + all, "v5_scatter": scatter}
	for _, k := range sharded.All {
		p := problem.Sharded{M: 64, K: 32, N: 64, Devices: 4, Dtype: tile.Float32, Way: problem.Gather}
		switch k.Name {
		case "v1_chip":
			p.Devices = 1
		case "v5_scatter":
			p.Way = problem.Scatter
		}
		if text := config(k.Build(p, "", tile.Blocks{M: 8, K: 8, N: 8})); !strings.Contains(text, want[k.Name]) {
			t.Errorf("%s: %s", k.Name, text)
		}
	}
	five, _ := kernels.Rung(problem.MatmulFamily, 5)
	if text := config(five.Build(problem.New(64, 64, 64, tile.Float32), "", tile.Blocks{M: 64, K: 64, N: 64})); strings.Contains(text, "color") || strings.Contains(text, "bounds") {
		t.Errorf("a kernel without copies: %s", text)
	}
}

func runCopies(t *testing.T, program *tile.Program, devices int) {
	launch, err := mosaic.Lower([]*tile.Program{program}, mosaic.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	in := make([][]tile.Tensor, devices)
	w := &mesh{}
	w.moved = sync.NewCond(&w.mu)
	operands, results := make([][]*array, devices), make([][]*array, devices)
	for d := range in {
		for range program.Mesh {
			operands[d] = append(operands[d], &array{elem: "i32", dims: []int{1}, data: []float64{float64(d)}})
		}
		for _, ref := range program.RefsOf(tile.In) {
			x := tile.NewTensor(ref.Dtype, ref.Array...)
			a := &array{elem: "f32", dims: x.Shape}
			for i := range x.Len() {
				x.Set(i, float64(r.IntN(9)-4))
				a.data = append(a.data, x.At(i))
			}
			in[d], operands[d] = append(in[d], x), append(operands[d], a)
		}
		for _, ref := range program.Refs {
			if ref.Kind == tile.Out || ref.Main && ref.Kind == tile.Scratch {
				a := &array{elem: "f32", dims: ref.Array, data: repeat(lowertest.Junk("f32"), elements(ref.Array))}
				if ref.Kind == tile.Out {
					results[d] = append([]*array{a}, results[d]...)
				} else {
					results[d] = append(results[d], a)
				}
			}
		}
		m, err := load(launch.Kernels[0].Body)
		if err != nil {
			t.Fatalf("%v\n%s", err, launch.Kernels[0].Body)
		}
		m.device, m.mesh, m.barrier = d, w, &buffer{typed: typed{dims: []int{}}, data: []float64{0}}
		w.machines = append(w.machines, m)
	}
	want, err := interp.RunMesh(context.Background(), []*tile.Program{program}, in, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// All machines make their arguments before any reaches another's: the barrier sees to it.
	errs := make([]error, devices)
	var all sync.WaitGroup
	for d, m := range w.machines {
		all.Go(func() { errs[d] = m.run(t.Context(), operands[d], results[d]) })
	}
	all.Wait()
	for d, err := range errs {
		if err != nil {
			t.Fatalf("device %d: %v\n%s", d, err, launch.Kernels[0].Body)
		}
		for i, x := range results[d][0].data {
			if x != want[d][0].At(i) {
				t.Fatalf("device %d: element %d is %g, interp says %g", d, i, x, want[d][0].At(i))
			}
		}
		if m := w.machines[d]; m.barrier.data[0] != 0 {
			t.Errorf("device %d: the barrier has counted %v too many", d, m.barrier.data[0])
		}
	}
}
