package aot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"matladder/backend"
	"matladder/internal/goldentest"
	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/lower/triton"
	"matladder/problem"
	"matladder/problem/problemtest"
	"matladder/tile"
)

// gpuMatrix is a table of what compiles for which GPU.
type gpuMatrix struct {
	gpus    []string // one of each generation's instructions
	file    string
	maker   string   // what compiles, before its version
	require string   // what MATLADDER_REQUIRE calls it
	head    string   // of the page, with the version and four counts
	formats []string // with scales of groups, of large blocks
}

var nvidiaMatrix = gpuMatrix{[]string{"a100", "l4", "h100", "b200"}, "../../../docs/gpu_matrix.md", "jax-cuda13-pjrt", "cuda", nvidiaHead, []string{"mxfp8", "mxfp4", "nvfp4", "mxfp8xmxfp4"}}

var amdMatrix = gpuMatrix{[]string{"mi300x", "mi355x"}, "../../../docs/gpu_matrix_amd.md", "Triton", "triton", amdHead, nil}

// matrixCell is one kernel on one problem: a row of the table.
type matrixCell struct {
	kernel   kernels.Kernel
	variant  string
	problem  problem.Problem
	blocks   tile.Blocks
	programs []*tile.Program
}

func (c matrixCell) what() string {
	words := append([]string{c.problem.String()}, problem.Words(c.problem)...)
	if f := c.problem.Family(); f != problem.Families()[0] { // rungs of several families have one name
		words = append([]string{f.Name}, words...)
	}
	return strings.Join(words, " ")
}

func (c matrixCell) rung() string { return strings.TrimSpace(c.kernel.Name() + " " + c.variant) }

// matrix lists every rung of matmul on even, ragged and batched sizes in every dtype,
// every quantization and variant of the rungs with scales, formats by name, and every rung of the other
// families in bfloat16 on ragged sizes.
func matrix(t *testing.T, formats []string) []matrixCell {
	var cells []matrixCell
	add := func(k kernels.Kernel, variant string, p problem.Problem, b tile.Blocks) {
		if k.Supports(p) != nil {
			return
		}
		b = problem.Clip(p, b)
		programs, err := k.Build(p, variant, b)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, matrixCell{k, variant, p, b, programs})
	}
	ladder := kernels.Ladder(problem.Families()[0])
	for n, k := range ladder {
		shapes, b := []problem.Matmul{{M: 512, K: 512, N: 512}, {M: 300, K: 1200, N: 500}, {Batch: 3, M: 96, K: 100, N: 200}}, tile.Blocks{M: 128, K: 64, N: 128}
		switch n {
		case 0, 1: // whole arrays, or panels of them
			shapes, b = []problem.Matmul{{M: 64, K: 64, N: 64}, {M: 40, K: 70, N: 50}, {M: 512, K: 512, N: 512}}, tile.Blocks{}
		case 2:
			b = tile.Blocks{}
		}
		for _, s := range shapes {
			for _, like := range []struct {
				d tile.Dtype
				p tile.Precision
			}{{tile.Float32, tile.Default}, {tile.Float32, tile.Highest}, {tile.BFloat16, tile.Default}, {tile.Int8, tile.Default}, {tile.Float8E4M3FN, tile.Default}, {tile.Float8E5M2, tile.Default}} {
				p := problem.New(s.M, s.K, s.N, like.d)
				p.Batch, p.Precision = max(1, s.Batch), like.p
				if p.Out.Bits() == 8 { // float8 is no dtype to sum in
					p.Out = tile.BFloat16
				}
				blocks := b
				if blocks == (tile.Blocks{}) {
					blocks = k.Candidates(p, problem.Machine{Parallel: 2})[0]
				}
				add(k, "", p, blocks)
			}
		}
	}
	for _, p := range append(problemtest.Quantized(1, 300, 1200, 500, 128), problemtest.Quantized(3, 128, 512, 256, 128)[:3]...) {
		for _, variant := range problemtest.Kernel(p).Variants(p) {
			add(kernels.Of(problemtest.Kernel(p)), variant, p, tile.Blocks{M: 64, K: 128, N: 128})
		}
	}
	for _, words := range formats {
		asked, err := problem.MatmulFamily.Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		p := problem.MakeMatmul(problem.Sizes{300, 1200, 500, 1}, asked)
		add(kernels.Of(problemtest.Kernel(p)), "", p, tile.Blocks{M: 128, K: 64, N: 128})
	}
	for _, f := range problem.Families()[1:] {
		for _, words := range f.Dtypes[1:2] { // bfloat16
			asked, err := f.Parse(words)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Make(matrixSizes[f.Name], asked)
			for _, k := range kernels.Ladder(f) {
				add(k, "", p, tile.Blocks{M: 64, K: 64, N: 64})
			}
		}
	}
	return cells
}

// matrixSizes are ragged ones of each family but matmul.
var matrixSizes = map[string]problem.Sizes{
	"attention": {200, 300, 4, 2, 80, 1},
	"softmax":   {300, 1000},
	"norm":      {300, 1000},
	"rope":      {200, 2, 80, 2},
	"grouped":   {300, 200, 300, 5},
}

// matrixOutcome is one cell for one generation: what the compiled kernels take, or why
// there are none.
func matrixOutcome(ctx context.Context, b *GPUBackend, c matrixCell) string {
	_, list, err := b.lowered(ctx, c.programs, backend.Params{})
	var big *backend.TooBigError
	var lacks *triton.UnsupportedError
	var crash *backend.CrashError
	switch {
	case errors.As(err, &big):
		return fmt.Sprintf("too_big: %s, %.0f of %.0f KiB", big.What, float64(big.Needed)/1024, float64(big.Limit)/1024)
	case errors.As(err, &lacks):
		return "unsupported: " + lacks.Reason
	case errors.As(err, &crash):
		return "crashed"
	case errors.Is(err, backend.ErrUnsupported):
		return "unsupported: " + err.Error()
	case err != nil:
		return "failed: " + err.Error()
	}
	var parts []string
	for _, k := range list {
		s := fmt.Sprintf("%d r, %.3g KiB", k.Registers, float64(k.SharedBytes)/1024)
		if k.SpillBytes > 0 {
			s += fmt.Sprintf(", **%d B spilled**", k.SpillBytes)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// open opens a backend for each generation, or skips the test.
func (m gpuMatrix) open(t *testing.T, cache string) map[string]*GPUBackend {
	t.Helper()
	if m.require == "triton" {
		openTriton(t)
	} else {
		openGPU(t)
	}
	all := map[string]*GPUBackend{}
	for _, name := range m.gpus {
		b, err := OpenGPUBackend(BackendOptions{Topology: name, Cache: cache, Options: Options{Parallel: 2}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		all[name] = b
	}
	return all
}

// row is the cell's row of the table.
func (c matrixCell) row(outcomes []string) string {
	return fmt.Sprintf("| %s | %s | %s | %s |\n", c.rung(), c.what(), c.blocks, strings.Join(outcomes, " | "))
}

// TestGPUMatrix compiles a sample of the matrix and compares it with the table of
// docs/gpu_matrix.md: up to 44 compilations, spread over rungs, families and generations. With MATLADDER_TESTS=full it compiles all of it, some hundred: what did compile
// before is taken from the cache of backend/xla/aot, so that it may be interrupted. Then
// -update writes the table.
func TestGPUMatrix(t *testing.T) { nvidiaMatrix.check(t) }

// TestAMDMatrix does so for AMD's GPUs and docs/gpu_matrix_amd.md.
func TestAMDMatrix(t *testing.T) { amdMatrix.check(t) }

func (m gpuMatrix) check(t *testing.T) {
	cells := matrix(t, m.formats)
	if thoroughtest.Full() {
		m.whole(t, cells)
		return
	}
	text, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	backends := m.open(t, t.TempDir())
	known := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); len(f) == 3+len(m.gpus) {
			known[strings.TrimSpace(f[0])+"|"+strings.TrimSpace(f[1])+"|"+strings.TrimSpace(f[2])] = f[3:]
		}
	}
	_, version := backends[m.gpus[0]].Plugin()
	same := strings.Contains(string(text), m.maker+" "+version)
	compiled, turn, most := 0, 0, m.most()
	for _, c := range cells {
		want := known[c.rung()+"|"+c.what()+"|"+c.blocks.String()]
		if want == nil {
			t.Errorf("%s has no row for %s %s %s: its head says what writes it", m.file, c.rung(), c.what(), c.blocks)
			continue
		}
		for i, name := range m.gpus {
			compiles := !strings.Contains(want[i], ": ")
			if turn++; compiles && (turn%matrixEvery != 0 || compiled == most) {
				continue
			}
			if !compiles && !strings.HasPrefix(want[i], "too_big") && !strings.HasPrefix(want[i], "unsupported") {
				t.Errorf("%s on %s %s %s: the table has %q", name, c.rung(), c.what(), c.blocks, want[i])
				continue
			}
			if compiles {
				compiled++
			}
			t.Run(fmt.Sprintf("%s/%s/%s", name, c.rung(), c.what()), func(t *testing.T) {
				t.Parallel()
				got, want := matrixOutcome(t.Context(), backends[name], c), strings.TrimSpace(want[i])
				if !same && compiles { // another version deals registers otherwise
					got, want = word(got), word(want)
				}
				if got != want {
					t.Errorf("%s, the table has %s", got, want)
				}
			})
		}
	}
	if compiled < most/2 {
		t.Errorf("%d compilations", compiled)
	}
}

const (
	matrixEvery = 7 // no divisor of the number of generations: each has its turn
	fewMatrix   = 4 // compilations where the plugin is there by chance
)

// most is how many cells are compiled: most where the compiler is required.
func (m gpuMatrix) most() int {
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), m.require) {
		return 44
	}
	return fewMatrix
}

// word is the outcome without its figures.
func word(outcome string) string {
	before, _, found := strings.Cut(outcome, ":")
	if !found {
		return "compiles"
	}
	return before
}

// whole compiles all cells for all generations and compares with the table, or
// writes it.
func (m gpuMatrix) whole(t *testing.T, cells []matrixCell) {
	backends := m.open(t, "")
	outcomes := make([][]string, len(cells))
	for i := range outcomes {
		outcomes[i] = make([]string, len(m.gpus))
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		wg.Go(func() {
			for t.Context().Err() == nil {
				n := int(next.Add(1)) - 1
				i, g := n/len(m.gpus), n%len(m.gpus)
				if i >= len(cells) {
					return
				}
				outcomes[i][g] = matrixOutcome(t.Context(), backends[m.gpus[g]], cells[i])
				if o := outcomes[i][g]; n%50 == 0 || !slices.Contains([]string{"compiles", "too_big", "unsupported"}, word(o)) || strings.Contains(o, "spilled") {
					t.Logf("%d of %d: %s %s %s: %s", n, len(cells)*len(m.gpus), m.gpus[g], cells[i].rung(), cells[i].what(), o)
				}
			}
		})
	}
	wg.Wait()
	_, version := backends[m.gpus[0]].Plugin()
	goldentest.Assert(t, m.file, m.page(cells, outcomes, version))
}

// page is the file of the table.
func (m gpuMatrix) page(cells []matrixCell, outcomes [][]string, version string) []byte {
	count, spills := map[string]int{}, 0
	for _, o := range slices.Concat(outcomes...) {
		count[word(o)]++
		if strings.Contains(o, "spilled") {
			spills++
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, m.head, version, count["compiles"], len(cells)*len(m.gpus), spills, count["too_big"], count["unsupported"])
	for i, c := range cells {
		b.WriteString(c.row(outcomes[i]))
	}
	return b.Bytes()
}

const nvidiaHead = `# What compiles for which GPU

<!-- Written by MATLADDER_TESTS=full go test ./backend/xla/aot -run TestGPUMatrix -update -timeout 2h -->

Reference: which kernels compile for which NVIDIA GPU, with the registers and shared memory they take. No GPU is needed or used. [gpu.md](gpu.md) says how to run them.

The table has every rung of matmul in every dtype, on even, ragged and batched sizes, and every quantization of the fifth and sixth. It also has formats with scales of groups, and every rung of the other families in bfloat16 on ragged sizes. The plugin jax-cuda13-pjrt %s compiled them for A100 (sm_80), L4 (sm_89), H100 (sm_90a) and B200 (sm_100a). %d of %d programs compile, %d of them with registers spilled to memory; %d are ` + "`too_big`, %d `unsupported`" + `.

| a cell says | meaning |
| --- | --- |
| ` + "`126 r, 16 KiB`" + ` | registers of a thread and shared memory of a block, for each kernel of the launch in order, from ptxas and XLA |
| ` + "`too_big`" + ` | package lower/triton or a limit of XLA refuses it before any compiler runs: what one program needs, and what the GPU has |
| ` + "`unsupported`" + ` | the same, with what is missing |

Blocks are fixed here, so that rows compare; the same kernel may fit in smaller ones. Every run of .ci/run compiles a sample of this table, ` + "`.ci/full gpus`" + ` all of it.

## Scales of groups

The tensor cores of Blackwell multiply block-scaled formats themselves. [v6](../kernels/v6_mx/README.md) uses them where this table says native. Elsewhere it scales the sum of each group.

| formats | B200, GB200, B300 | RTX PRO 6000 | other GPUs |
| --- | --- | --- | --- |
| mxfp8 | native | native | no |
| mxfp4, nvfp4 | native; B is copied along K first | the same | no |
| mxfp8 × mxfp4 | native, at float8's rate | no | no |
| mxint8, a wide A with narrow weights, precision ` + "`highest`" + ` | no | no | no |

- Blocks need 128 rows or more (32 on the RTX PRO 6000). Their depth has to be a power of two, 64 or more.
- float4 has two elements to a byte: K has to be even, and N too for mxfp8 × mxfp4. The copy of B is part of each launch.
- A product of float4 whose blocks of B have one reader is not worth a copy. Then mxfp4 is native at float8's rate on the B200, and the rest is not.
- No GPU has run these. The machine code has the instructions, and the text means what the interpreter says.

[The notebook](notebook/blockscaled.md#gpus-squares-of-4096) has what is predicted.

## The table

| kernel | problem | blocks | sm_80 | sm_89 | sm_90 | sm_100 |
| --- | --- | --- | --- | --- | --- | --- |
`

const amdHead = `# What compiles for which GPU of AMD

<!-- Written by MATLADDER_TESTS=full go test ./backend/xla/aot -run TestAMDMatrix -update -timeout 1h -->

Reference: which kernels compile for which GPU of AMD, with the registers and shared memory they take. No GPU is needed or used, and nothing was run. [gpu.md](gpu.md#amd-gpus) says how to predict them, [gpu_matrix.md](gpu_matrix.md) has the same programs on NVIDIA's.

The table has every rung of matmul in every dtype, on even, ragged and batched sizes, and every quantization of the fifth and sixth. It also has every rung of the other families in bfloat16 on ragged sizes. Triton %s compiled them for the MI300X and MI325X (gfx942), and for the MI350X and MI355X (gfx950). %d of %d programs compile, %d of them with registers spilled to memory; %d are ` + "`too_big`, %d `unsupported`" + `.

| a cell says | meaning |
| --- | --- |
| ` + "`212 r, 32 KiB`" + ` | for each kernel of the launch in order: registers of a thread (VGPRs, AGPRs among them), and shared memory (LDS) of a block. The assembly's metadata and Triton say them |
| ` + "`too_big`" + ` | what one program needs, and what it may have. Of 512 KiB of registers that is 480 or less, as each thread keeps some for addresses |
| ` + "`unsupported`" + ` | what is missing |

float8 is in the formats of OCP. gfx950 multiplies them; gfx942 has instructions for other formats (fnuz) alone, and Triton multiplies them there as float16, at half the rate. float32 at precision ` + "`default`" + ` is TF32 on gfx942 (xf32); gfx950 has no such instruction, and Triton multiplies float32 as it is.

| kernel | problem | blocks | gfx942 | gfx950 |
| --- | --- | --- | --- | --- |
`
