package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/passes"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/thoroughtest"
	"matladder/tile"
	"matladder/tile/tiletest"
)

// packs and calls are what an execution was seen to do.
type packs struct {
	calls, lanes, depth, elements int // lanes and depth are the largest
}

type calls struct {
	block, direct     int // of the functions of a product
	inRows            int // with an a that is not packed
	fresh, streamed   int
	narrowed, scaled  int
	rows, cols, depth int // the largest
	work              int // bytes of call.work that were written
}

// trace watches the packing of each operand and each product of a plan.
func trace(p *plan.Plan) (map[*plan.Operand]*packs, map[*plan.Dot]*calls) {
	var mu sync.Mutex
	packed, multiplied := map[*plan.Operand]*packs{}, map[*plan.Dot]*calls{}
	for _, o := range p.Operands {
		s, pack := &packs{}, o.Packing.Pack
		packed[o] = s
		o.Packing.Pack = func(dst []byte, apart int, src []byte, off, ld, lanes, k int, columns bool, by plan.ScalesOfGroups) {
			mu.Lock()
			s.calls, s.lanes, s.depth, s.elements = s.calls+1, max(s.lanes, lanes), max(s.depth, k), s.elements+lanes*k
			mu.Unlock()
			pack(dst, apart, src, off, ld, lanes, k, columns, by)
		}
	}
	plan.AllSteps(p.Steps, func(st *plan.Step) {
		for _, d := range st.Dots {
			s, traced := &calls{}, *d.Product
			see := func(n *int, x plan.Call) {
				mu.Lock()
				defer mu.Unlock()
				*n++
				s.rows, s.cols, s.depth = max(s.rows, x.M), max(s.cols, x.N), max(s.depth, x.K)
				if !x.Accumulate {
					s.fresh++
				}
				if !x.A.Packed {
					s.inRows++
				}
			}
			seen := func(x plan.Call, size int) { // by a product with a packed b
				see(&s.block, x)
				mu.Lock()
				defer mu.Unlock()
				if x.Write == gemm.WriteNonTemporal && uintptr(unsafe.Pointer(&x.C[x.Off*size]))%64 == 0 && x.LDC*size%64 == 0 && traced.Work > 0 {
					s.streamed++
				}
			}
			count := func(n *int) {
				mu.Lock()
				defer mu.Unlock()
				*n++
			}
			writes := func(x plan.Call, product func(plan.Call)) {
				const blank = 0xa5
				for i := range x.Work {
					x.Work[i] = blank
				}
				product(x)
				n := len(x.Work)
				for n > 0 && x.Work[n-1] == blank {
					n--
				}
				mu.Lock()
				defer mu.Unlock()
				s.work = max(s.work, n)
			}
			multiply, whole, direct := traced.Multiply, traced.Whole, traced.Unpacked
			traced.Multiply = func(x plan.Call) {
				seen(x, 4)
				writes(x, multiply)
			}
			traced.Whole = func(x plan.Call, isNarrow bool, by gemm.Scaling) {
				size, kind := 4, &s.scaled
				if isNarrow {
					size = 2
				}
				if by.Rows == nil {
					kind = &s.narrowed
				}
				seen(x, size)
				count(kind)
				writes(x, func(x plan.Call) { whole(x, isNarrow, by) })
			}
			reader := *direct
			reader.Multiply = func(x plan.Call) {
				see(&s.direct, x)
				writes(x, direct.Multiply)
			}
			traced.Unpacked = &reader
			multiplied[d], d.Product = s, &traced
		}
	})
	return packed, multiplied
}

// TestPlan_Agrees runs what is planned, on problems that blocks divide, and
// holds the plan to what packing and the micro-kernels were called for, to what
// workers were dealt and to the memory that was allocated.
func TestPlan_Agrees(t *testing.T) {
	var cases []planCase
	blocks := tile.Blocks{M: 32, K: 64, N: 64}
	for _, isa := range gemm.Supported() {
		for _, d := range []string{"float32", "bfloat16", "int8"} {
			for k := 1; k <= 5; k++ {
				cases = append(cases, planCase{k, d, 256, 256, 256, "", blocks, isa.String(), Options{Threads: 3}})
			}
			cases = append(cases, planCase{4, d, 24, 2048, 1024, "", tile.Blocks{M: 24, K: 1024, N: 1024}, isa.String(), Options{Threads: 2}})
			cases = append(cases, planCase{4, d, 8, 4096, 192, "", tile.Blocks{M: 8, K: 2048, N: 64}, isa.String(), Options{Threads: 2}})
		}
		for _, q := range []string{
			"float8_e4m3fn", "int8:per_channel+token", "bfloat16xint8:per_tensor:bias+gelu",
			"bfloat16xint8:per_channel+dynamic_tensor", "int8:per_channel+token:bias", "bfloat16xint8:per_channel:bias", "bfloat16xint8:per_channel+dynamic_token:bias+silu",
		} {
			cases = append(cases, planCase{5, q, 128, 256, 192, "", tile.Blocks{M: 64, K: 256, N: 64}, isa.String(), Options{Threads: 2}})
		}
		// Few rows.
		cases = append(cases, planCase{5, "bfloat16xint8:per_channel", 8, 4096, 1024, "", tile.Blocks{M: 8, K: 2048, N: 512}, isa.String(), Options{Threads: 2}})
		for _, q := range []string{"bfloat16xint4:per_block128+zero_b", "mxfp4", "mxfp8:bias", "bfloat16xnvfp4", "float16"} {
			kernel := 6
			if q == "float16" {
				kernel = 5
			}
			cases = append(cases, planCase{kernel, q, 128, 256, 192, "", tile.Blocks{M: 64, K: 256, N: 64}, isa.String(), Options{Threads: 2}})
			cases = append(cases, planCase{kernel, q, 8, 4096, 1024, "", tile.Blocks{M: 8, K: 2048, N: 512}, isa.String(), Options{Threads: 2}})
		}
		cases = append(cases, planCase{5, "bfloat16xint8:per_channel+dynamic_token", 128, 256, 192, "fused", tile.Blocks{M: 64, K: 256, N: 64}, isa.String(), Options{Threads: 2}})
	}
	for name, o := range keeping() {
		cases = append(cases, planCase{4, "float32", 128, 256, 256, name, blocks, "generic", o})
	}
	if len(gemm.AMX.Missing()) == 0 {
		for name, o := range keeping() {
			cases = append(cases, planCase{4, "int8", 128, 256, 256, name, blocks, "amx", o})
		}
		// Rows all in one set of the cache, outputs larger than L2, and several runs over k.
		cases = append(cases,
			planCase{4, "int8", 32, 4096, 64, "set", tile.Blocks{M: 32, K: 2048, N: 64}, "amx", Options{Threads: 2}},
			planCase{1, "int8", 1024, 2240, 1024, "stream", tile.Blocks{M: 1}, "amx", Options{Threads: 1}},
			planCase{1, "bfloat16", 1024, 256, 2048, "stream", tile.Blocks{M: 1}, "amx", Options{Threads: 1}},
			planCase{5, "bfloat16xint8:per_channel", 256, 1600, 256, "", tile.Blocks{M: 256, K: 1600, N: 256}, "amx", Options{Threads: 1}})
	}
	cases = append(cases, planCase{4, "float32", 96, 128, 320, "uneven", tile.Blocks{M: 32, K: 64, N: 64}, "generic", Options{Threads: 2, CacheBytes: 100 << 10}})
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			c.options.ISA = c.isa
			if c.kernel == 4 {
				c.variant = "" // names options
			}
			be := open(t, c.options)()
			agree(t, be, c.programs(t), backend.Params{})
		})
	}
}

// agree runs programs once.
func agree(t *testing.T, be *Backend, programs []*tile.Program, params backend.Params) {
	t.Helper()
	compiled, err := be.Compile(context.Background(), programs, params)
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Close()
	e := compiled.(*exec.Executable)
	type seen struct {
		packed     map[*plan.Operand]*packs
		multiplied map[*plan.Dot]*calls
	}
	var saw []seen
	for _, p := range e.Plans {
		packed, multiplied := trace(p)
		saw = append(saw, seen{packed, multiplied})
	}
	var in []tile.Tensor
	for _, r := range e.Bound.In {
		in = append(in, tile.NewTensor(r.Dtype, r.Array...))
	}
	if err := e.Load(in...); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for i, p := range e.Plans {
		agreeOnOperands(t, p, saw[i].packed)
		agreeOnProducts(t, p, saw[i].multiplied)
		agreeOnWorkers(t, e.Runs[i])
		agreeOnBuffers(t, p)
		agreeOnUse(t, p, saw[i].multiplied)
	}
	_, _, workers := e.Buffers()
	if n := int64(len(e.Pages)); n < e.Size() || n > e.Size()+int64(workers+len(e.Tensors)+1)*memory.CacheLine || workers != e.Pool.Size {
		t.Errorf("%d bytes for %d workers were allocated, the plan says %d and %d", n, e.Pool.Size, e.Size(), workers)
	}
}

func agreeOnOperands(t *testing.T, p *plan.Plan, packed map[*plan.Operand]*packs) {
	t.Helper()
	for _, o := range p.Operands {
		got, array := packed[o], int(tile.Elements(p.Refs[o.Ref].Array))
		ok := got.calls > 0 && got.depth <= o.Depth
		switch o.Keep {
		case plan.KeepUnpacked:
			ok = got.calls == 0
		case plan.KeepAll, plan.KeepGroup: // once for all workers
			ok = ok && got.elements == array
		case plan.KeepOwn: // at least once
			ok = ok && got.elements >= array
		case plan.KeepPiece:
			ok = ok && got.lanes <= o.Piece && got.elements >= array
		}
		if !ok {
			t.Errorf("%s: packed in %+v; the plan says %+v", p.NameOf(o), *got, *o)
		}
	}
}

// agreeOnProducts counts how often the micro-kernels were called, and with what.
func agreeOnProducts(t *testing.T, p *plan.Plan, multiplied map[*plan.Dot]*calls) {
	t.Helper()
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		for _, d := range s.Dots {
			c, loops, got := p.CallOf(s, d), p.LoopsOf(s, d), multiplied[d]
			total, chunks, cols, unpacked := p.Programs(), loops[2].Count, c.Cols, c.B.Keep == plan.KeepUnpacked
			for _, l := range loops[:3] {
				total *= l.Count
			}
			if unpacked && c.B.Widened() {
				total *= loops[3].Count
				cols = min(cols, c.B.Piece)
			}
			fresh := total / chunks
			if s.Direct && s.Stmt.Kind == tile.Accumulate {
				if s.Zeroed == nil {
					fresh = 0
				} else {
					fresh /= programsOf(p, s.Zeroed)
				}
			}
			want := calls{block: total, fresh: fresh, rows: c.Rows, cols: cols, depth: c.Depth, work: got.work}
			if unpacked {
				want.block, want.direct = 0, total
			}
			for of, asked := range map[*int]bool{&want.inRows: c.A.Keep == plan.KeepUnpacked, &want.streamed: d.Write == gemm.WriteNonTemporal, &want.narrowed: d.Scales != nil && d.Scales.Plain, &want.scaled: d.Scales != nil && !d.Scales.Plain} {
				if asked {
					*of = total
				}
			}
			if *got != want {
				t.Errorf("%s: %+v; the plan says %+v", s.Stmt, *got, want)
			}
		}
	})
}

// programsOf is how many programs see one block of an output or scratch that is zeroed
// where cond holds: those along k where that is its first step.
func programsOf(p *plan.Plan, cond tile.Cond) int {
	for _, a := range p.Program.Grid {
		if c, ok := cond.(tile.TestCond); ok && c.X == tile.IndexExpr(a) {
			return a.Size
		}
	}
	return 1
}

func agreeOnWorkers(t *testing.T, r *exec.Run) {
	t.Helper()
	tasks, ran := &r.Plan.Tasks, 0
	for _, w := range r.Workers {
		ran += int(w.Counters.GridSteps)
	}
	least, most := tasks.Spread()
	dealt := make([]int, len(r.Queues))
	for phase := range tasks.Phases() {
		r.Queues.Deal(tasks.Count(phase))
		for i := range r.Queues {
			next, end := exec.Unpair(r.Queues[i].Load())
			dealt[i] += end - next
		}
	}
	if len(r.Workers) != tasks.Workers || ran != r.Plan.Programs() || slices.Min(dealt) != least || slices.Max(dealt) != most {
		t.Errorf("%d workers, dealt %v tasks, ran %d programs; the plan says %d, %d to %d, %d", len(r.Workers), dealt, ran, tasks.Workers, least, most, r.Plan.Programs())
	}
}

func agreeOnBuffers(t *testing.T, p *plan.Plan) {
	t.Helper()
	shared, own := 0, 0
	for _, b := range p.Buffers {
		if n := tile.Ceil(b.Bytes, 64) * 64; b.Shared {
			shared += n
		} else {
			own += n
		}
	}
	if shared != p.SharedBytes || own != p.LocalBytes {
		t.Errorf("%d bytes shared and %d of a worker, the plan says %d and %d: %+v", p.SharedBytes, p.LocalBytes, shared, own, p.Buffers)
	}
}

// agreeOnUse: of the memory that helps products as much is written as the plan says;
// by tiles at most.
func agreeOnUse(t *testing.T, p *plan.Plan, multiplied map[*plan.Dot]*calls) {
	t.Helper()
	written, tiles := 0, false
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		for _, d := range s.Dots {
			written, tiles = max(written, multiplied[d].work), tiles || d.Product.Work > 0
		}
	})
	for _, b := range p.Buffers {
		if b.What == plan.HelpPiece || b.What == plan.HelpSums {
			if written > b.Used || written < b.Used && !tiles {
				t.Errorf("%d bytes of %+v were written", written, b)
			}
			written = 0
		}
	}
	if written > 0 {
		t.Errorf("%d bytes of no buffer were written", written)
	}
}

// TestPlan_Random: whatever compiles has a plan, which tells all of its memory.
func TestPlan_Random(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, o := range keeping() {
		be := open(t, o)()
		explained := 0
		for range 500 / thoroughtest.OneIn(1, 2, 7) {
			data := make([]byte, 64)
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			program, err := tiletest.Random(data)
			if err != nil {
				continue
			}
			programs := []*tile.Program{program}
			e, err := be.compile(context.Background(), programs, backend.Params{})
			if err != nil {
				continue
			}
			text := e.Print([]string{"any"}, false)
			for _, pass := range passes.Passes {
				if !strings.Contains(text, "\n"+pass.Name+" ") {
					t.Errorf("nothing of pass %s in\n%s", pass.Name, text)
				}
			}
			agreeOnBuffers(t, e.Plans[0])
			explained++
		}
		if explained < 50/thoroughtest.OneIn(1, 2, 7) {
			t.Errorf("%s: only %d programs", name, explained)
		}
	}
}
