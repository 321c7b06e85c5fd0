package pjrt

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/hlo"
	"matladder/internal/each"
	"matladder/lower/mosaic"
	"matladder/lower/stablehlo"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// launchOf returns what one launch of programs runs on a chip: kernels on a TPU or a
// GPU, elsewhere what the programs mean.
func launchOf(chip machine.Device, programs []*tile.Program, params backend.Params) (*stablehlo.Launch, error) {
	var l *stablehlo.Launch
	var err error
	switch chip.Kind {
	case machine.TPU:
		l, err = kernels(chip, programs, params.VMEMBytes)
	case machine.GPU:
		l, err = gpuKernels(chip, programs, params)
	default:
		l, err = stablehlo.Interpret(programs)
	}
	return l, refused(err)
}

// solution returns the launch that a Solver is asked for.
func solution(spec backend.ProblemSpec) (*stablehlo.Launch, error) {
	if spec.Program == "" {
		return stablehlo.Baseline(spec.Problem)
	}
	return stablehlo.Solution(spec.Program, spec.Problem)
}

// fits is why a program that was compiled as it is does not take and return what a launch has.
func fits(l *stablehlo.Launch, m *hlo.Module) error {
	var s stablehlo.Signature
	s.In, s.Out = m.Signature()
	return refused(s.Fits(l))
}

// gpuKernels returns a launch of programs as Triton kernels.
func gpuKernels(chip machine.Device, programs []*tile.Program, params backend.Params) (*stablehlo.Launch, error) {
	o, err := tritonOptions(chip, params)
	if err != nil {
		return nil, err
	}
	l, err := triton.Lower(programs, o)
	if err != nil {
		return nil, err
	}
	return stablehlo.NewLaunch(l.Name, stablehlo.ArraysOf(l.In), stablehlo.ArraysOf(l.Out), l.Function("private", "launch")), nil
}

// tritonOptions are for whom and with which parameters kernels are written. Of a GPU
// that is not in the chip table the compiler alone knows what it lacks.
func tritonOptions(chip machine.Device, params backend.Params) (o triton.Options, err error) {
	if o.Params, err = triton.ParseParams(tritonParams(params)); err != nil {
		return o, err
	}
	o.Target = triton.TargetOf(chip.Key, int64(chip.FastBytes.Value))
	return o, nil
}

// GPUAdjustments lists the parameters of kernels a step from what programs would be
// written with for a GPU (backend.Adjuster).
func GPUAdjustments(chip machine.Device, programs []*tile.Program, params backend.Params) ([]backend.Params, error) {
	o, err := tritonOptions(chip, params)
	if err != nil {
		return nil, err
	}
	all, err := triton.Adjustments(programs, o)
	if err != nil {
		return nil, refused(err)
	}
	return each.Of(all, func(a triton.Adjustment) backend.Params { return params.With(a.Name, a.Value) }), nil
}

// tritonParams are the parameters that package lower/triton reads.
func tritonParams(params backend.Params) map[string]string {
	values := map[string]string{}
	for _, name := range triton.ParamNames() {
		if v := params.Extra[name]; v != "" {
			values[name] = v
		}
	}
	return values
}

// kernels returns a launch of programs as Mosaic kernels, once package lower/mosaic
// has found nothing in them that the chip cannot run: the compiler may take
// minutes to find it. Of a generation that it does not know it says nothing.
func kernels(chip machine.Device, programs []*tile.Program, vmemBytes int64) (*stablehlo.Launch, error) {
	l, err := mosaic.Lower(programs, mosaic.Options{VMEMBytes: vmemBytes})
	if err != nil {
		return nil, err
	}
	if target, err := mosaic.FindTarget(strings.TrimPrefix(chip.Key, "tpu_")); err == nil {
		if err := target.Check(programs, mosaic.Options{VMEMBytes: vmemBytes}); err != nil {
			return nil, err
		}
	}
	return stablehlo.NewLaunch(l.Name, stablehlo.ArraysOf(l.In), stablehlo.ArraysOf(l.Out), l.Function("private", "launch")), nil
}

// refused gives the refusals of a lowering their kind.
func refused(err error) error {
	var unsupported *stablehlo.UnsupportedError
	var big *mosaic.TooBigError // triton's too
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unsupported):
		return fmt.Errorf("pjrt: %w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return fmt.Errorf("pjrt: %s: %w", big.Program, &backend.TooBigError{What: big.What, Needed: big.Needed, Limit: big.Limit})
	}
	return fmt.Errorf("pjrt: %w", err)
}

// module returns the program by which a method times launches that take a number of
// sets of operands in turn; together is 0 for a device that goes through a loop by itself.
func module(l *stablehlo.Launch, method string, together, sets int) string {
	switch {
	case method == Wall:
		return l.Once()
	case method == Chain:
		return l.Chain()
	case together > 0:
		return l.LoopTogether(together, sets)
	}
	return l.Loop()
}

// A GPU is told by the host how often to go through a loop whose end only the device knows: after
// each round it waits for the host, some 10 µs. Rounds of that many seconds make it little.
const roundSeconds = 1e-3

// together is how many launches of so many FLOPs one round of a loop makes: on a GPU as
// many as take roundSeconds at the peak, elsewhere 0.
func together(d machine.Device, flops float64) int {
	peak := d.PeakAt(tile.BFloat16.String(), "")
	switch {
	case d.Kind != machine.GPU:
		return 0
	case !peak.Known() || flops <= 0:
		return 1
	}
	const most = 256
	return int(max(1, min(most, roundSeconds*peak.Value/flops)))
}

// flopsOf is what products of programs compute, blocks counted as whole.
func flopsOf(programs []*tile.Program) (flops float64) {
	for _, p := range programs {
		p.WalkExprs(func(_ *tile.Stmt, e *tile.Expr) {
			if e.Op == tile.OpDot {
				a := e.Args[0].Shape
				flops += 2 * float64(p.Steps()) * float64(a[0]) * float64(a[1]) * float64(e.Shape[1])
			}
		})
	}
	return flops
}

// leaveInHBM tells the compiler of a TPU not to move arrays to memory nearer to the core before
// they are used. Otherwise it moves what a loop carries once, before the first launch, if it is
// small enough: VMEM, on v4 CMEM. libtpu 0.0.51 then leaves them in HBM on every generation.
var leaveInHBM = hlo.Options{"xla_msa_enable": false}

// keepNaN tells the compiler of a CPU that the larger of a number and NaN is NaN, as StableHLO
// has it. Otherwise it computes the largest element of a row faster, and without the NaN in it.
var keepNaN = hlo.Options{"xla_cpu_enable_fast_min_max": false}

// oneByOne tells the compiler for GPUs that what it records to be launched together, as
// CUDA graphs, is to run in order: launches of a loop on sets of their own need nothing of
// each other, and could overlap.
var oneByOne = hlo.Options{"xla_gpu_command_buffer_scheduling_mode": "SERIALIZE"}

// unknownOption reports whether a compiler refused a program for an option that it does not have.
func unknownOption(err error, options hlo.Options) bool {
	return err != nil && slices.ContainsFunc(slices.Collect(maps.Keys(options)), func(name string) bool {
		return strings.Contains(err.Error(), name)
	})
}

// nearMemories are the memories of a TPU in which its compiler may keep arrays of a
// loop, as it numbers them, the nearest first.
var nearMemories = []struct {
	space int64
	name  string
}{{1, "vmem"}, {3, "cmem"}}

// operandsOf says in which memory of a TPU launches find their operands and leave their results:
// the nearest in which a loop keeps any of them from launch to launch, else hbm. Without a loop
// all come from HBM, where arguments are; so does what a launch itself brings nearer.
func operandsOf(m *hlo.Module) string {
	for _, memory := range nearMemories {
		for _, loop := range m.Loops() {
			for _, a := range loop.Shape.Arrays() {
				if a.Space == memory.space {
					return memory.name
				}
			}
		}
	}
	return "hbm"
}

// productRoundoff bounds how far a product of float32 or float8 operands is off on a
// device of a kind, relative to itself, beyond what its accumulator rounds.
//
// A TPU multiplies bfloat16. At default precision float32 operands are rounded to it: 2⁻⁸ each,
// twice 2⁻⁸ together. At the highest each is the sum of three bfloat16, and six of the nine
// products are added: those that are left out are below 2⁻²³ together, and the six sums round
// more often than one. A GPU rounds operands to TF32, which has 10 bits behind the point: 2⁻¹⁰
// each if it cuts them off.
//
// Tensor cores of Hopper and Ada add products of float8 to the sum so far 32 or 16 at a
// time, in fixed point: all are cut off 13 bits below the leading bit of the largest, and
// so is their sum (Xie et al., "MMA-Sim", arXiv 2511.10909, bit for bit what an H100 and an
// RTX 4090 give; 13 bits also Zhang et al., "SageAttention2", arXiv 2411.10958; "about 14",
// of which one leads, and 2 % off at k = 4096, DeepSeek-V3, arXiv 2412.19437, section
// 3.3.2). Of n terms with mean zero and root mean square s, Σ|a·b| being about 0.75·n·s,
//
//   - the sum is cut n/16 times, each time by 0.36·2⁻¹³ of itself on average; on the way to
//     the 6·√n·s that it is at most, it is half of that: √n·2⁻¹⁶ of Σ|a·b|,
//   - terms are cut by up to 0.72·2⁻¹³ of the sum, about √(n/2)·s, with errors of random
//     sign: six standard deviations of n of them are 2⁻¹¹.⁸ of Σ|a·b|; the first steps,
//     where one term may be the largest, are below 2⁻¹¹.
//
// n is k by default, where what the tensor cores hold is not promoted. At the highest
// precision it goes to float32 each 32 terms in Triton, and periodically in cuBLAS, which
// does not say how often: CUTLASS and DeepSeek's kernels do so each 128. Blackwell cuts off
// nothing that float32 would keep (MMA-Sim): what is allowed is more than it needs.
func productRoundoff(kind string, p problem.Problem) float64 {
	asked := p.Asked()
	if float8 := asked.A.IsFloat() && asked.A.Bits() == 8 && asked.B.IsFloat() && asked.B.Bits() == 8; float8 && kind == machine.GPU {
		n := 1 << 14 // of families that have no single k
		if m, ok := p.(problem.Matmul); ok {
			n = m.K
		}
		if asked.Precision == tile.Highest {
			n = min(n, 128)
		}
		return 0x1p-11 + 0x1p-16*math.Sqrt(float64(n))
	}
	if asked.A != tile.Float32 && asked.B != tile.Float32 {
		return 0
	}
	highest := asked.Precision == tile.Highest
	switch {
	case kind == machine.TPU && highest:
		return 0x1p-21
	case kind == machine.TPU:
		return 0x1.02p-7
	case kind == machine.GPU && !highest:
		return 0x1.01p-9
	}
	return 0
}
