package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"matladder/internal/bfloat16"
	"matladder/internal/float16"
	"matladder/problem"
	"matladder/tile"
)

// answers are the outputs of the exact probe of one element of a batch: sums of the rows
// of each class, which are all but the few special rows.
type answers struct {
	*pattern
	sums []float64 // of class after class, n each; then of the extreme rows
	base []float64 // of the anchors
}

// newAnswers computes the answers of an exact probe.
func newAnswers(ctx context.Context, p problem.Matmul, seed uint64, dist string) (*Reference, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	r := &Reference{p: p}
	for e := range p.Batch {
		if err := r.answer(ctx, e, seed, dist); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// answer adds the answers of element e of a batch.
func (r *Reference) answer(ctx context.Context, e int, seed uint64, dist string) error {
	x, err := newPattern(r.p, e, seed, dist)
	if err != nil {
		return err
	}
	a := &answers{pattern: x}
	r.answers = append(r.answers, a)
	return a.multiply(ctx)
}

// multiply computes the sums. All are integers that float64 holds.
func (a *answers) multiply(ctx context.Context) error {
	n, classes := a.p.N, a.residues*a.variants
	all := classes
	if slices.Contains(a.kinds, extremeRow) {
		all += extremeRows
	}
	a.sums, a.base = make([]float64, all*n), make([]float64, n)
	return parallel(ctx, n, func(lo, hi int) {
		b := make([]float64, hi-lo)
		add := func(class int, v float64) {
			sums := a.sums[class*n+lo:][:len(b)]
			for j, x := range b {
				sums[j] += v * x
			}
		}
		for k := 0; k < a.p.K && ctx.Err() == nil; k++ {
			a.scaledRowOfB(b, k, lo)
			if at := slices.IndexFunc(a.anchors, func(x anchor) bool { return x.k == k }); at >= 0 {
				for j, x := range b {
					a.base[lo+j] += a.anchors[at].a * x
				}
				continue
			}
			r := a.residue[k]
			for class := r * a.variants; class < (r+1)*a.variants; class++ {
				add(class, a.plainA(k, class))
			}
			for e := range all - classes {
				if v := a.extremeA(k, e); v != 0 {
					add(classes+e, v)
				}
			}
		}
	})
}

// scaledRowOfB is rowOfB with what it is multiplied by, but for the scales of rows of a.
func (a *answers) scaledRowOfB(dst []float64, k, from int) {
	a.rowOfB(dst, k, from)
	group := a.groupA(k)
	for j := range dst {
		dst[j] *= a.scaleB(k, from+j) * group
	}
}

// answer sets dst to row i of the output, each element stretched before it is rounded. step is
// every how many elements of k a sum is rounded to the dtype of the output. It reports false where
// that is not known: of another's program, whose accumulator may be narrow. b is memory for a row.
func (a *answers) answer(dst, b []float64, i, step int, known bool, stretch float64) bool {
	p, r := a.p, a.row(i)
	classes := a.residues * a.variants
	switch r.kind {
	case plainRow, extremeRow:
		class, sign := r.class, 1.0
		if r.kind == extremeRow {
			class += classes
		} else if r.negative {
			sign = -1
		}
		for j, s := range a.sums[class*p.N:][:p.N] {
			dst[j] = sign*s + a.base[j]
		}
		own := a.own(i, r)
		a.scaledRowOfB(b, own.k, 0)
		for j, x := range b {
			dst[j] += own.a * x
		}
	default:
		if r.kind == cancelRow && !known {
			return false
		}
		a.few(dst, b, r.terms, step)
	}
	a.finish(dst, i, stretch)
	return true
}

// finish makes of the sums of row i what the output has.
func (a *answers) finish(dst []float64, i int, stretch float64) {
	p, scale := a.p, a.scaleA(i)*a.scaleOfAll()
	for j, s := range dst {
		if p.Out == tile.Int32 {
			dst[j] = float64(int32(int64(activateExactly(p, s))))
			continue
		}
		s = float64(float32(float64(float32(s)) * scale))
		if p.Bias {
			s = float64(float32(s + a.bias(j)))
		}
		dst[j] = rounded(p.Out, activateExactly(p, s)*stretch)
	}
}

// activateExactly is the activation where it leaves a number or makes it 0.
func activateExactly(p problem.Matmul, x float64) float64 {
	if p.Activation != problem.NoActivation {
		return max(x, 0)
	}
	return x
}

// few sets dst to sums of a few terms, by k. Those between two multiples of step are
// added before they meet the others.
func (a *answers) few(dst, b []float64, terms []term, step int) {
	clear(dst)
	parts := make([]float64, len(dst))
	for i, t := range terms {
		a.scaledRowOfB(b, t.k, 0)
		for j, x := range b {
			parts[j] += t.a * x
		}
		if i+1 < len(terms) && terms[i+1].k/step == t.k/step {
			continue
		}
		for j := range dst {
			if dst[j] += parts[j]; step < a.p.K {
				dst[j] = rounded(a.p.Out, dst[j])
			}
		}
		clear(parts)
	}
}

// rounded is x, which float32 holds or nearly, in a dtype of outputs.
func rounded(d tile.Dtype, x float64) float64 {
	switch f := float32(x); d {
	case tile.Float32:
		return float64(f)
	case tile.BFloat16:
		return float64(bfloat16.Widen(bfloat16.Round(f)))
	case tile.Float16:
		return float64(float16.Widen(float16.Round(f)))
	}
	return x
}

// verifyAnswers compares each element of out with its answer.
func (r *Reference) verifyAnswers(ctx context.Context, programs []*tile.Program, out tile.Tensor) (Result, error) {
	p := r.p
	step := roundingStep(programs, p)
	known := programs != nil || p.Out.Bits() >= p.Acc.Bits()
	each := make([]mismatches, p.Batch*p.M)
	err := parallel(ctx, p.Batch*p.M, func(lo, hi int) {
		got, want, b := make([]float64, p.N), make([]float64, p.N), make([]float64, p.N)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			each[i] = r.compareAnswer(i, step, known, out, got, want, b)
		}
	})
	if err != nil {
		return Result{}, err
	}
	var all mismatches
	for _, m := range each {
		if all.count == 0 {
			all = m
			continue
		}
		all.count += m.count
	}
	if all.count == 0 {
		return Result{OK: true}, nil
	}
	at := ""
	if p.Batch > 1 {
		at = fmt.Sprintf("%d, ", all.row/p.M)
	}
	return Result{
		ErrOverBound: math.Inf(1), RelErr: math.NaN(),
		Detail: fmt.Sprintf("of small integers o[%s%d, %d] is %.9g, must be exactly %.9g; %d of %d elements are wrong",
			at, all.row%p.M, all.col, all.got, all.want, all.count, out.Len()),
	}, nil
}

// compareAnswer compares row i of the output, counted through the batch. got, want and b
// are memory for a row each.
func (r *Reference) compareAnswer(i, step int, known bool, out tile.Tensor, got, want, b []float64) mismatches {
	p, m := r.p, mismatches{}
	out.Decode(got, i*p.N, 1)
	answer := func(dst []float64, stretch float64) {
		if !r.answers[i/p.M].answer(dst, b, i%p.M, step, known, stretch) {
			copy(dst, got) // but NaN, which nothing equals
		}
	}
	answer(want, 1)
	var low, high []float64
	for j, g := range got {
		if g == want[j] {
			continue
		}
		if slack := activationSlack(p); slack > 0 && low == nil {
			low, high = make([]float64, p.N), make([]float64, p.N)
			answer(low, 1-slack)
			answer(high, 1+slack)
		}
		if low != nil && g >= low[j] && g <= high[j] {
			continue
		}
		if m.count++; m.count == 1 {
			m.row, m.col, m.got, m.want = i, j, g, want[j]
		}
	}
	return m
}

// activationSlack is by which part an activation may be off ahead of the last rounding: no
// exponential function is exact. Where what it is of lies halfway between two numbers
// of the output, either is right.
func activationSlack(p problem.Matmul) float64 {
	if p.Activation == problem.Gelu || p.Activation == problem.Silu {
		return 8 * tile.Float32.Epsilon()
	}
	return 0
}

// mismatches are the elements that differ, and the first.
type mismatches struct {
	count, row, col int
	got, want       float64
}
