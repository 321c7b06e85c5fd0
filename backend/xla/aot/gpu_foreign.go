package aot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/lower/triton/ttir"
	"matladder/machine"
	"matladder/model"
)

// GPUForeign is a kernel of Triton that somebody else wrote, compiled and predicted.
type GPUForeign struct {
	GPUStep
	Counts      *ttir.Counts
	Products    string // dtype of the factors of its products; "" without products
	Precision   string // at which they multiply
	FLOPs       int64  // of the launch
	Least, Most float64
	Prediction  backend.Prediction
	Notes       []string // what makes the band wide
}

// Foreign compiles a kernel of Triton, unless it is known what XLA makes of it, and predicts
// one launch. What is not understood is backend.ErrUnsupported with the reason; other errors
// are those of Steps.
//
// Trips, products and bytes are those of the text, run for each program of the grid; shared
// memory, registers, spills and the unit that multiplies are those of the compiled kernel,
// whose numbers are constants. The model is that of this project's own kernels.
func (b *GPUBackend) Foreign(ctx context.Context, k *ttir.Kernel, l ttir.Launch) (f GPUForeign, err error) {
	if f.Counts, err = k.Count(ctx, l); err != nil {
		return f, foreignError(err)
	}
	if f.Products, f.Precision, err = productOf(f.Counts); err != nil {
		return f, err
	}
	text, err := k.Text(l, f.Counts)
	if err != nil {
		return f, foreignError(err)
	}
	kernels, err := b.compile(ctx, source{[]tritonText{{k.Name, text, l.Grid, l.Warps, l.Stages}}, func() (string, error) { return k.Module(l, f.Counts) }})
	if err != nil {
		return f, foreignError(err)
	}
	if len(kernels) != 1 {
		return f, fmt.Errorf("%w: XLA runs %d kernels for one", backend.ErrUnsupported, len(kernels))
	}
	f.Kernel = kernels[0]
	f.Layout = model.GPULayout{BlocksPerCore: b.gpu.blocksPerCore(f.Kernel), Threads: f.Kernel.Threads, SpillBytes: f.Kernel.SpillBytes, Unit: unitOf(f.Kernel)}
	if f.Layout.BlocksPerCore == 0 {
		return f, &backend.TooBigError{What: "registers", Needed: int64(4 * f.Kernel.Registers * f.Kernel.Threads), Limit: int64(4 * b.gpu.registers())}
	}
	f.Notes = append(f.Notes, f.Counts.Notes...)
	if n := f.Counts; n.Blocks > n.Programs { // its programs stay, and go from tile to tile
		cores := int64(b.device.Cores)
		f.Layout.Resident = n.Programs
		f.Notes = append(f.Notes, "a persistent kernel: the band reaches to loads for the next tile that are free")
		if n.Programs%cores != 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d programs stay on %d multiprocessors: some have more of them than others", n.Programs, cores))
		}
	}
	if n := f.Counts; n.Followed < n.Programs {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d programs were followed: too many to follow all", n.Followed, n.Programs))
	}
	dtype, precision := multiplied(f.Kernel, f.Products, f.Precision)
	if dtype != f.Products || precision != f.Precision {
		f.Notes = append(f.Notes, strings.TrimSpace(fmt.Sprintf("the compiler multiplies as %s %s, for want of instructions", dtype, precision)))
	}
	f.FLOPs = flopsOf(f.Counts)
	f.Work = b.foreignWork(f.Counts, f.Counts.MaybeBytes)
	if f.Time, err = b.foreignTime(f.Work, f.Layout, dtype, precision); err != nil {
		return f, err
	}
	f.Least, f.Most = f.Time.Seconds, f.Time.Seconds
	widen := func(w model.GPUWork, l model.GPULayout) {
		if t, err := b.foreignTime(w, l, dtype, precision); err == nil {
			f.Least, f.Most = min(f.Least, t.Seconds), max(f.Most, t.Seconds)
		}
	}
	if beside := f.Work; beside.ArithmeticSeconds > 0 {
		beside.ArithmeticSeconds = 0
		if widen(beside, f.Layout); f.Least < 0.99*f.Time.Seconds {
			f.Notes = append(f.Notes, "the least has what is computed beside products at the same time as those")
		}
	}
	if n := f.Counts; n.Longest*n.Blocks > n.Steps && n.Steps > 0 && n.Longest > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("blocks differ, with %.4g steps as a mean and %d at the most: the band reaches to all as long as that", float64(n.Steps)/float64(n.Blocks), n.Longest))
		longest := b.foreignWork(n, n.MaybeBytes)
		longest.Steps = n.Longest
		widen(longest, f.Layout)
	}
	if f.Counts.Blocks > f.Counts.Programs {
		free := f.Layout
		free.Persistent = true
		widen(f.Work, free)
	}
	if f.Counts.MaybeBytes > 0 {
		widen(b.foreignWork(f.Counts, 0), f.Layout)
	}
	f.Least, _ = model.GPUFit.Band(f.Least, f.Layout.Unit)
	_, f.Most = model.GPUFit.Band(f.Most, f.Layout.Unit)
	f.Most += model.GPUFit.LaunchSeconds
	f.Prediction = predicted(b, f.Time.Seconds, f.Least, f.Most)
	return f, nil
}

// PredictBaseline predicts the kernel of Triton of spec.Program: JSON of its text, as "ttir", and of what it is
// launched with (ttir.ReadLaunch). Without one it predicts nothing.
func (b *GPUBackend) PredictBaseline(ctx context.Context, spec backend.ProblemSpec) (none backend.Prediction, err error) {
	if spec.Program == "" {
		return none, fmt.Errorf("%w: XLA times its own matmuls on the GPU to choose one", backend.ErrUnsupported)
	}
	var says struct {
		Text string `json:"ttir"`
	}
	if err := json.Unmarshal([]byte(spec.Program), &says); err != nil {
		return none, err
	}
	launch, err := ttir.ReadLaunch([]byte(spec.Program))
	if err != nil {
		return none, err
	}
	k, err := ttir.Parse(says.Text)
	if err != nil {
		return none, foreignError(err)
	}
	f, err := b.Foreign(ctx, k, launch)
	return f.Prediction, err
}

// foreignTime is the model's time; without products no rate of them matters.
func (b *GPUBackend) foreignTime(w model.GPUWork, l model.GPULayout, dtype, precision string) (model.GPUTime, error) {
	dtype = cmp.Or(dtype, "bfloat16")
	t, err := model.GPUFit.On(w, b.device, l, dtype, precision)
	if err != nil {
		return t, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	return t, nil
}

func foreignError(err error) error {
	if _, ok := err.(*ttir.UnsupportedError); ok {
		return fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	return err
}

// factors are the types of factors whose peaks are known, by their names here. Peaks of the
// two halves are the same, and of the two of 8 bits.
var factors = map[string]string{
	"bf16": "bfloat16", "f16": "bfloat16", "f32": "float32", "i8": "int8", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e4m3fn",
}

// productOf is what a kernel multiplies.
func productOf(n *ttir.Counts) (dtype, precision string, err error) {
	for i, d := range n.Dots {
		of, ok := factors[d.A]
		if !ok || factors[d.B] != of {
			return "", "", fmt.Errorf("%w: products of %s by %s, whose rate is not known", backend.ErrUnsupported, d.A, d.B)
		}
		p := ""
		if of == "float32" {
			switch d.Precision {
			case "tf32":
			case "ieee", "":
				p = machine.PrecisionHighest
			default:
				return "", "", fmt.Errorf("%w: products of float32 as %s, whose rate is not known", backend.ErrUnsupported, d.Precision)
			}
		}
		if i > 0 && (of != dtype || p != precision) {
			return "", "", fmt.Errorf("%w: products of several dtypes: %s and %s", backend.ErrUnsupported, dtype, of)
		}
		dtype, precision = of, p
	}
	return dtype, precision, nil
}

func flopsOf(n *ttir.Counts) int64 {
	return each.Sum(n.Dots, func(d ttir.Dot) int64 { return d.FLOPs() })
}

// specialLanes are elements of a multiprocessor's special functions in a cycle.
const specialLanes = 16

// foreignWork is workOf, and what steps compute beside products.
func (b *GPUBackend) foreignWork(n *ttir.Counts, maybe int64) model.GPUWork {
	w := workOf(n, maybe)
	cycles := float64(n.Lanes)/float64(b.gpu.Lanes) + float64(n.Special)/specialLanes
	w.ArithmeticSeconds = cycles / b.device.ClockHertz.Value / float64(w.Programs*w.Steps)
	return w
}

// workOf is the work of the mean block; maybe is how much of what data decides about is moved.
func workOf(n *ttir.Counts, maybe int64) model.GPUWork {
	blocks := max(1, n.Blocks)
	w := model.GPUWork{Programs: blocks, Steps: max(1, int64(math.Round(float64(n.Steps)/float64(blocks))))}
	all := float64(w.Steps * blocks)
	w.FLOPs = int64(float64(flopsOf(n)) / all)
	sure := 1.
	if loaded := n.StepBytes + n.OnceBytes; loaded > 0 {
		sure = math.Max(0, 1-float64(n.MaybeBytes-maybe)/float64(loaded))
	}
	w.StepBytes, w.OnceBytes = int64(sure*float64(n.StepBytes)/all), int64(sure*float64(n.OnceBytes))/blocks
	w.RevisedBytes, w.OutBytes = int64(float64(n.RevisedBytes)/all), n.OutBytes/blocks
	w.LeastBytes += each.Sum(n.Arrays, func(a ttir.Array) int64 { return a.Bytes })
	w.Dots = each.Of(n.Dots, func(d ttir.Dot) model.GPUDot {
		return model.GPUDot{M: d.M, N: d.N, K: d.K, BitsA: ttir.Bits(d.A), BitsB: ttir.Bits(d.B), Times: float64(d.Times) / all}
	})
	if n.Reads != nil {
		w.Reads = func(_ int, block int64, read func(model.GPURead)) {
			for _, r := range n.Reads[block] {
				read(model.GPURead{Input: r.Array, At: r.At, Bytes: int64(sure * float64(r.Bytes))})
			}
		}
	}
	return w
}
