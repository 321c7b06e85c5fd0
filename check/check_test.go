package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"matladder/internal/thoroughtest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// shapes are small, ragged and large enough to be sampled.
var shapes = [][3]int{{1, 1, 1}, {7, 5, 3}, {129, 257, 131}, {1, 300, 513}, {513, 300, 1}, {400, 520, 300}}

func problems(m, k, n int) []problem.Matmul {
	f32, bf16, i8 := problem.New(m, k, n, tile.Float32), problem.New(m, k, n, tile.BFloat16), problem.New(m, k, n, tile.Int8)
	scaled, wide := i8, bf16
	scaled.Quant, scaled.Out = problem.PerTensor, tile.BFloat16
	wide.Out = tile.Float32
	return []problem.Matmul{f32, bf16, i8, scaled, wide}
}

// multiply computes p as kernel number rung would, with float32 or int32 sums
// and, on rungs 3 and 4, an output rounded every bk elements of k.
func multiply(p problem.Matmul, rung, bk int, in []tile.Tensor) tile.Tensor {
	out := tile.NewTensor(p.Out, p.M, p.N)
	a, b := floats(in[0]), floats(in[1])
	row, sums, exact := make([]float64, p.N), make([]float32, p.N), make([]int32, p.N)
	for i := range p.M {
		clear(sums)
		clear(exact)
		for k := range p.K {
			x, ys := a[i*p.K+k], b[k*p.N:][:p.N]
			if p.Acc == tile.Int32 {
				for j, y := range ys {
					exact[j] += int32(x) * int32(y)
				}
				continue
			}
			for j, y := range ys {
				sums[j] += x * y
			}
			if (rung == 3 || rung == 4) && (k+1)%bk == 0 {
				for j, s := range sums {
					sums[j] = float32(p.Out.Round(float64(s)))
				}
			}
		}
		for j := range row {
			switch {
			case p.Quant == problem.PerTensor:
				row[j] = float64(float32(exact[j]) * (float32(in[2].At(0)) * float32(in[3].At(0))))
			case p.Acc == tile.Int32:
				row[j] = float64(exact[j])
			default:
				row[j] = float64(sums[j])
			}
		}
		out.SetAll(i*p.N, row)
	}
	return out
}

func floats(t tile.Tensor) []float32 {
	f := make([]float32, t.Len())
	for i := range f {
		f[i] = float32(t.At(i))
	}
	return f
}

func TestVerify(t *testing.T) {
	run := thoroughtest.Choose(1, 5, 7)
	for _, s := range few(shapes, 3) {
		for _, p := range problems(s[0], s[1], s[2]) {
			for _, rung := range []int{3, 5} {
				k := kernels.All[rung-1]
				if k.Supports(p) != nil {
					continue
				}
				for _, dist := range Distributions() {
					if !run() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s", k.Name(), p, dist), func(t *testing.T) {
						testVerify(t, p, k, dist)
					})
				}
			}
		}
	}
}

// few are the first of a list where everything takes ten times as long.
func few[T any](list []T, most int) []T {
	if thoroughtest.Raced {
		return list[:most]
	}
	return list
}

func testVerify(t *testing.T, p problem.Matmul, k kernels.Kernel, dist string) {
	ctx := context.Background()
	blocks := tile.Blocks{M: 128, K: 128, N: 128}
	programs, err := k.Build(p, "", blocks.Clip(p.M, p.K, p.N))
	if err != nil {
		t.Fatal(err)
	}
	in, err := Inputs(t.Context(), p, programs, 42, dist)
	if err != nil {
		t.Fatal(err)
	}
	out := multiply(p, k.Number(), blocks.Clip(p.M, p.K, p.N).K, in)
	bound, err := tile.Bind(programs)
	if err != nil {
		t.Fatal(err)
	}
	named := byName(bound.In, in)
	of, err := ReferenceOf(ctx, p, named, 42, dist)
	if err != nil {
		t.Fatal(err)
	}
	res, err := of.Verify(ctx, programs, named, map[string]tile.Tensor{"o": out})
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK || res.ErrOverBound > 1 || res.RelErr > 0.05 {
		t.Errorf("a right output: %+v", res)
	}
	if p.Out.IsInteger() && res.ErrOverBound != 0 {
		t.Errorf("an exact output has err/bound %v", res.ErrOverBound)
	}
	ops, err := operandsOf(ctx, p, named)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := newReference(ctx, ops, 1<<22) // of fewer rows than Verify makes: a fault is no easier to find
	if err != nil {
		t.Fatal(err)
	}
	ref.isConstant(dist)
	for _, fault := range Faults() {
		bad := tile.NewTensor(out.Dtype, out.Shape...)
		copy(bad.Data, out.Data)
		if err := Inject(fault, bad); err != nil {
			t.Fatal(err)
		}
		if sameValues(bad, out) {
			continue // 1×1 has no wrong tile, 0 no wrong gain and no sign
		}
		if res, err := ref.Verify(ctx, programs, named, map[string]tile.Tensor{"o": bad}); err != nil || res.OK || !(res.ErrOverBound > 1) || res.Detail == "" {
			t.Errorf("fault %s: %+v, %v", fault, res, err)
		}
	}
}

// TestVerify_Unwritten checks that rows outside the sample are looked at too.
func TestVerify_Unwritten(t *testing.T) {
	for _, p := range few(problems(400, 520, 300), 1) {
		programs, err := kernels.All[4].Build(p, "", tile.Blocks{M: 128, K: 128, N: 128})
		if err != nil {
			t.Fatal(err)
		}
		in, err := Inputs(t.Context(), p, programs, 1, Uniform)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]tile.Tensor{"a": in[0], "b": in[1]}
		if p.Quant != "" {
			named["sa"], named["sb"] = in[2], in[3]
		}
		ref, err := NewReference(t.Context(), p, named)
		if err != nil {
			t.Fatal(err)
		}
		out := multiply(p, 5, 0, in)
		for row := range p.M {
			at := row * p.N * p.Out.Bits() / 8
			saved := append([]byte(nil), out.Data[at:at+p.N*p.Out.Bits()/8]...)
			clear(out.Data[at : at+len(saved)])
			if row%50 == 0 {
				if res, err := ref.Verify(t.Context(), programs, named, map[string]tile.Tensor{"o": out}); err != nil || res.OK {
					t.Errorf("%s: row %d is zero: %+v, %v", p, row, res, err)
				}
			}
			copy(out.Data[at:], saved)
		}
	}
}

// TestVerify_Activation damages rows outside the sample, of which an activation
// leaves no combination to compare.
func TestVerify_Activation(t *testing.T) {
	for _, activation := range few([]problem.Activation{problem.Relu, problem.Gelu, problem.Silu}, 1) {
		p := problem.New(300, 1200, 256, tile.BFloat16)
		p.Activation = activation
		programs, err := kernels.All[4].Build(p, "", tile.Blocks{M: 300, K: 1200, N: 256})
		if err != nil {
			t.Fatal(err)
		}
		in, err := Inputs(t.Context(), p, programs, 1, Uniform)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]tile.Tensor{"a": in[0], "b": in[1]}
		ops, err := operandsOf(t.Context(), p, named)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newReference(t.Context(), ops, 0) // of as few rows as of a large problem
		if err != nil {
			t.Fatal(err)
		}
		wide := p
		wide.Out = tile.Float32
		sums, out := multiply(wide, 5, 0, in), tile.NewTensor(p.Out, p.M, p.N)
		for i := range out.Len() {
			out.Set(i, activate(activation, sums.At(i)))
		}
		for row := 0; row < p.M; row += 70 {
			for _, bad := range []float64{math.NaN(), -1} {
				at := row*p.N + row%p.N
				saved := out.At(at)
				out.Set(at, bad)
				if res, err := r.Verify(t.Context(), programs, named, map[string]tile.Tensor{"o": out}); err != nil || res.OK || res.Detail == "" {
					t.Errorf("%s, %v in row %d: %+v, %v", activation, bad, row, res, err)
				}
				out.Set(at, saved)
			}
		}
		saved := slices.Clone(out.Data)
		for _, square := range [][4]int{{0, 64, 0, 64}, {128, 192, 64, 128}, {256, 300, 192, 256}} { // plausible, and of other columns
			for row := square[0]; row < square[1]; row++ {
				for col := square[2]; col < square[3]; col++ {
					out.Set(row*p.N+col, activate(activation, sums.At(row*p.N+(col+7)%p.N)))
				}
			}
			if res, err := r.Verify(t.Context(), programs, named, map[string]tile.Tensor{"o": out}); err != nil || res.OK || res.Detail == "" {
				t.Errorf("%s, square %v: %+v, %v", activation, square, res, err)
			}
			copy(out.Data, saved)
		}
		if res, err := r.Verify(t.Context(), programs, named, map[string]tile.Tensor{"o": out}); err != nil || !res.OK {
			t.Errorf("%s: %+v, %v", activation, res, err)
		}
	}
}

// TestFill_Inputs counts what distributions with a number promise, and reads their names.
func TestFill_Inputs(t *testing.T) {
	p := problem.New(64, 128, 96, tile.Float32)
	fill := func(dist, name string) tile.Tensor {
		x := tile.NewTensor(tile.Float32, 64, 128)
		if err := Fill(t.Context(), x, name, p, 5, dist); err != nil {
			t.Fatal(err)
		}
		return x
	}
	uniform, other := fill(Uniform, "a"), fill("sparse:30", "b")
	for _, n := range []int{0, 1, 7, 22, 23} {
		x := fill(fmt.Sprint("bits:", n), "a")
		for i, v := range x.Float32s() {
			u := uniform.Float32s()[i]
			if low := uint32(1)<<(23-n) - 1; math.Float32bits(v)&low != 0 || math.Float32bits(v)|low != math.Float32bits(u)|low {
				t.Fatalf("bits:%d of %x is %x", n, math.Float32bits(u), math.Float32bits(v))
			}
		}
	}
	for _, percent := range []int{1, 30, 99} {
		zeros, both := 0, 0
		for i, v := range fill(fmt.Sprint("sparse:", percent), "a").Float32s() {
			if v == 0 {
				zeros++
				if other.At(i) == 0 {
					both++
				}
			} else if float64(v) != uniform.At(i) {
				t.Fatalf("sparse:%d has %g for %g", percent, v, uniform.At(i))
			}
		}
		if n := float64(64 * 128); math.Abs(float64(zeros)/n-float64(percent)/100) > 0.03 || float64(both)/n > float64(percent)*0.3/100+0.03 {
			t.Errorf("sparse:%d: %d zeros of %g, %d of them in the other operand", percent, zeros, n, both)
		}
	}
	for name, want := range map[string]string{"uniform": "uniform", "bits:07": "bits:7", "sparse:99": "sparse:99", "bits": "", "bits:24": "", "sparse:0": "", "sparse:100": "", "bits:-1": "", "bits:x": "", "": "", "exact": "", "ones:1": "", "nan": ""} {
		if got, err := ParseInputs(name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", name, got, err)
		}
	}
	b, i8 := problem.New(8, 8, 8, tile.BFloat16), problem.New(8, 8, 8, tile.Int8)
	if Suits(b, "bits:7") != nil || Suits(b, "bits:8") == nil || Suits(i8, "bits:0") == nil || Suits(i8, "sparse:50") != nil || Suits(p, "bits:23") != nil {
		t.Error("Suits")
	}
}

func TestFill(t *testing.T) {
	for _, d := range tile.Dtypes() {
		for _, dist := range Distributions() {
			x, y, z := tile.NewTensor(d, 100, 333), tile.NewTensor(d, 100, 333), tile.NewTensor(d, 100, 333)
			p := problem.New(100, 333, 1, tile.Float32)
			for _, f := range []struct {
				t    tile.Tensor
				name string
				seed uint64
			}{{x, "a", 1}, {y, "a", 1}, {z, "a", 2}} {
				if err := Fill(t.Context(), f.t, f.name, p, f.seed, dist); err != nil {
					t.Fatal(err)
				}
			}
			if string(x.Data) != string(y.Data) || string(x.Data) == string(z.Data) && !Constant(dist) {
				t.Errorf("%s %s: an array is not a function of its seed", d, dist)
			}
			var mean, square float64
			for i := range x.Len() {
				v := x.At(i)
				mean += v / float64(x.Len())
				square += v * v / float64(x.Len())
			}
			center := 0.0
			if lo, hi := d.Range(); d.IsInteger() && dist != Integers {
				center = (lo + hi) / 2
			} else if d == tile.Uint8 {
				center = 4
			}
			switch {
			case Constant(dist):
				center = map[string]float64{Zeros: 0, Ones: 1}[dist]
			case dist == "sparse:50":
				center /= 2
			}
			if math.Abs(mean-center) > 0.03*math.Sqrt(square) {
				t.Errorf("%s %s: mean %g, rms %g", d, dist, mean, math.Sqrt(square))
			}
		}
	}
	if err := Fill(t.Context(), tile.NewTensor(tile.Float32, 1), "a", problem.Matmul{}, 0, "zero"); err == nil {
		t.Error("an unknown distribution is accepted")
	}
}
