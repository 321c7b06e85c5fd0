package check

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"matladder/problem"
	"matladder/problem/quant"
	"matladder/tile"
)

// operands are the inputs of one product, which stand for real numbers.
type operands struct {
	p         problem.Matmul
	scheme    problem.Scheme
	a, b      tile.Tensor
	za, zb    tile.Tensor // without data where p has none
	sa, sb    []float64   // with the scales of all multiplied in; nil where p has none
	bias      []float64   // zeros if p has none
	salt      uint64      // of what a reference draws
	quantizer quantizer   // of all of a, if it is quantized as one inside the launch
}

// operandsOf finds the operands among named inputs.
func operandsOf(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor) (operands, error) {
	scheme, err := p.Scheme()
	o := operands{p: p, scheme: scheme, bias: make([]float64, p.N)}
	if err != nil {
		return o, err
	}
	bShape := []int{p.K, p.N}
	if p.TransB {
		bShape = []int{p.N, p.K}
	}
	a, b := operandCodes("a", p, scheme), operandCodes("b", p, scheme)
	given := scheme.A != problem.NoGrain && !scheme.Dynamic
	var bias, sa, sb, ta, tb tile.Tensor
	two := scheme.TwoLevels()
	for _, w := range []struct {
		name  string
		to    *tile.Tensor
		need  bool
		shape []int
	}{
		{"a", &o.a, true, []int{p.M, p.K}}, {"b", &o.b, true, bShape}, {"bias", &bias, p.Bias, []int{1, p.N}},
		{"sa", &sa, given, a.Shape(p.M, p.K)}, {"ta", &ta, given && two, []int{1, 1}}, {"tb", &tb, two, []int{1, 1}},
		{"za", &o.za, given && scheme.ZeroA, a.Shape(p.M, p.K)},
		{"sb", &sb, scheme.B != problem.NoGrain, b.Shape(p.K, p.N)}, {"zb", &o.zb, scheme.ZeroB, b.Shape(p.K, p.N)},
	} {
		if !w.need {
			continue
		}
		if *w.to = in[w.name]; !slices.Equal(w.to.Shape, w.shape) {
			return o, fmt.Errorf("check: %s has shape %v, want %v", w.name, w.to.Shape, w.shape)
		}
	}
	if p.Bias {
		bias.Decode(o.bias, 0, 1)
	}
	o.sa, o.sb = scalesOf(sa, ta), scalesOf(sb, tb)
	if scheme.Dynamic && scheme.A == problem.Tensor {
		lo, hi, err := extremes(ctx, p.M, p.K, func(row, col int) float32 { return float32(o.a.At(row*p.K + col)) })
		if err != nil {
			return o, err
		}
		o.quantizer = newQuantizer(p, scheme, lo, hi)
	}
	return o, nil
}

// scalesOf are scales times that of all.
func scalesOf(scales, all tile.Tensor) []float64 {
	if scales.Data == nil {
		return nil
	}
	list := scales.Floats()
	if all.Data != nil {
		for i := range list {
			list[i] *= all.At(0)
		}
	}
	return list
}

// rowsOfA are some rows by rowOfA, with their doubts.
func (o operands) rowsOfA(rows []int) (values, doubts [][]float64) {
	values, doubts = make([][]float64, len(rows)), make([][]float64, len(rows))
	for i, row := range rows {
		values[i], doubts[i] = make([]float64, o.p.K), make([]float64, o.p.K)
		o.rowOfA(values[i], doubts[i], row)
	}
	return values, doubts
}

// rowOfA sets dst to what a row of a stands for, quantized if the launch does so. Then doubt is by
// how much each element may differ: one code, where it is so near the middle between two that the
// rounding of the division decides. Of another a doubt is left as it is.
func (o operands) rowOfA(dst, doubt []float64, row int) {
	o.a.Decode(dst, row*o.p.K, 1)
	switch {
	case o.scheme.A == problem.NoGrain:
	case !o.scheme.Dynamic:
		of := operandCodes("a", o.p, o.scheme)
		for from, part := range o.parts(dst) {
			g := of.Group(row, from, o.p.K)
			zero := 0.0
			if o.za.Data != nil {
				zero = o.za.At(g)
			}
			for i, x := range part {
				part[i] = o.sa[g] * (x - zero)
			}
		}
	default:
		for from, part := range o.parts(dst) {
			q := o.quantizer
			if o.scheme.A != problem.Tensor {
				q = newQuantizer(o.p, o.scheme, float32(slices.Min(part)), float32(slices.Max(part)))
			}
			for i, x := range part {
				part[i], doubt[from+i] = q.real(float32(x))
			}
		}
	}
}

// parts are those of a row of a that share a scale, by where they begin.
func (o operands) parts(row []float64) iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		size := len(row)
		if o.scheme.A == problem.TokenBlock {
			size = o.scheme.Block
		}
		for from := 0; from < len(row); from += size {
			if !yield(from, row[from:min(from+size, len(row))]) {
				return
			}
		}
	}
}

// quantizer quantizes a group of a inside the launch.
type quantizer struct {
	quant.Step
	doubtful   bool // the zero point is so near the middle between two
	bottom, up float64
}

// nearly is the relative difference that two ways to divide may have: a few roundings of float32.
const nearly = 0x1p-21

// newQuantizer finds the step of elements from lo to hi.
func newQuantizer(p problem.Matmul, scheme problem.Scheme, lo, hi float32) quantizer {
	codes, _ := p.Factors()
	q := quantizer{Step: quant.Fit(lo, hi, codes, quant.GroupingOf(scheme, true))}
	q.bottom, q.up = codes.Range()
	if scheme.ZeroA {
		steps := math.Min(float64(lo), 0) / float64(q.Scale)
		q.doubtful = math.RoundToEven(steps*(1-nearly)) != math.RoundToEven(steps*(1+nearly))
	}
	return q
}

// real is what the code of x stands for, and by how much it may differ.
func (q quantizer) real(x float32) (value, doubt float64) {
	code := q.Quantize(x)
	value = q.Real(code)
	doubt = math.Abs(q.Real(q.Quantize(x*(1+nearly))) - q.Real(q.Quantize(x*(1-nearly))))
	if q.doubtful && (code == q.bottom || code == q.up) {
		doubt = float64(q.Scale)
	}
	return value, doubt
}

// rowOfB sets dst to what b[k, from : from+len(dst)] stands for, and size to the
// magnitude of the numbers that a program computes with: sb·(|code| + |zero|)
// where sums are rounded before the zero point is taken out, |dst| elsewhere.
func (o operands) rowOfB(dst, size []float64, k, from int) {
	if o.p.TransB {
		o.b.Decode(dst, from*o.p.K+k, o.p.K)
	} else {
		o.b.Decode(dst, k*o.p.N+from, 1)
	}
	if o.scheme.B == problem.NoGrain {
		for j, x := range dst {
			size[j] = math.Abs(x)
		}
		return
	}
	first, stride := operandGroup(o.scheme, k, from, o.p.N), 1
	if o.scheme.B == problem.Tensor {
		stride = 0
	}
	rounded := o.scheme.ZeroB && !o.p.Acc.IsInteger()
	zeros := []int32{}
	if o.scheme.ZeroB {
		zeros = o.zb.Int32s()
	}
	for j, x := range dst {
		scale, zero := o.sb[first+j*stride], 0.0
		if o.scheme.ZeroB {
			zero = float64(zeros[first+j*stride])
		}
		dst[j] = scale * (x - zero)
		if size[j] = math.Abs(dst[j]); rounded {
			size[j] = scale * (math.Abs(x) + math.Abs(zero))
		}
	}
}

func operandGroup(s problem.Scheme, row, col, cols int) int {
	return quant.Grouping{Grain: s.B, Block: s.Block}.Group(row, col, cols)
}
