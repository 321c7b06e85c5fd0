package problemtest

import (
	"fmt"
	"math"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// wide are scales from the least to the largest that a quantizer makes, moderate those that
// groups of k may have.
var (
	wide     = []float64{0x1p-126, 1e-25, 1e-17, 0.02, 3e4, 1e20, 1e35, 0x1p120}
	moderate = []float64{0x1p-64, 0.02, 3e4, 0x1p64}
)

type solver = func(t *testing.T, p problem.Matmul, in map[string]tile.Tensor) (o tile.Tensor)

// Scales multiplies codes whose sums are exact by scales of every size, and compares with
// float64: a result that float32 holds has four roundings, whatever is between. solve
// returns o of p and its named inputs.
func Scales(t *testing.T, solve solver) {
	for _, q := range []problem.Quant{"per_tensor", "per_tensor+token", "per_channel+tensor", "per_channel+token", "per_block8+token", "per_block8+token_block"} {
		for _, d := range []tile.Dtype{tile.Int8, tile.Float8E4M3FN, tile.Float8E5M2} {
			t.Run(fmt.Sprint(q, " ", d), func(t *testing.T) { testScales(t, d, q, solve) })
		}
	}
}

// testScales has one product in each row, the largest, the smallest, or none, all of them by
// each scale of rows; columns are of the largest and of the smallest code.
func testScales(t *testing.T, d tile.Dtype, q problem.Quant, solve solver) {
	_, most := d.Range()
	least := 1.0
	if d.IsFloat() {
		least = map[tile.Dtype]float64{tile.Float8E4M3FN: 0x1p-9, tile.Float8E5M2: 0x1p-16}[d]
	}
	const k = 16
	codes := []float64{most, least, 0}
	scheme, err := q.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	ofB := wide
	if scheme.B == problem.Block {
		ofB = moderate
	}
	rows, cols := len(codes)*len(wide), 2*len(ofB)
	p := New(1, rows, k, cols, d, d, tile.Float32, q, "")
	tensor := func(d tile.Dtype, at func(i int) float64, dims ...int) tile.Tensor {
		x := tile.NewTensor(d, dims...)
		for i := range x.Len() {
			x.Set(i, at(i))
		}
		return x
	}
	in := map[string]tile.Tensor{
		"a": tensor(d, func(i int) float64 {
			if i%k != i/k%k {
				return 0
			}
			return codes[i/k%len(codes)]
		}, rows, k),
		"b": tensor(d, func(i int) float64 { return codes[i%2] }, k, cols),
	}
	// Where one scale is of all, every other in turn: then rows or columns are as many again.
	for _, one := range ofOne(scheme.A == problem.Tensor || scheme.A == problem.NoGrain, wide) {
		for _, other := range ofOne(scheme.B == problem.Tensor, ofB) {
			sa := func(row int) float64 { return wide[row/len(codes)] }
			sb := func(col int) float64 { return ofB[col/2] }
			if one > 0 {
				sa = func(int) float64 { return one }
			}
			if other > 0 {
				sb = func(int) float64 { return other }
			}
			in["sa"] = tensor(tile.Float32, sa, 1, 1)
			if scheme.A == problem.Token {
				in["sa"] = tensor(tile.Float32, sa, rows, 1)
			} else if scheme.A == problem.TokenBlock {
				in["sa"] = tensor(tile.Float32, func(i int) float64 { return sa(i / 2) }, rows, 2)
			}
			in["sb"] = tensor(tile.Float32, sb, 1, 1)
			if scheme.B == problem.Channel {
				in["sb"] = tensor(tile.Float32, sb, 1, cols)
			} else if scheme.B == problem.Block {
				in["sb"] = tensor(tile.Float32, func(i int) float64 { return sb(i % cols) }, 2, 1, cols)
			}
			o := solve(t, p, in)
			for i := range o.Len() {
				sum, a, b := codes[i/cols%len(codes)]*codes[i%2], float64(float32(sa(i/cols))), float64(float32(sb(i%cols)))
				want, got := sum*a*b, o.At(i)
				if want < math.MaxFloat32 && !(math.Abs(got-want) <= 4*0x1p-24*want+tile.Float32.SmallestNormal()) {
					t.Fatalf("sum %v · sa %v · sb %v is %v, should be %v", sum, a, b, got, want)
				}
			}
		}
	}
}

// ofOne are the scales that all of an operand has in turn, or 0 where its parts have all of them.
func ofOne(all bool, list []float64) []float64 {
	if all {
		return list
	}
	return []float64{0}
}

// ScalesOf has the programs of the fifth rung run by a machine.
func ScalesOf(t *testing.T, run Machine) {
	Scales(t, func(t *testing.T, p problem.Matmul, in map[string]tile.Tensor) tile.Tensor {
		programs := build(t, p, "")
		return run(programs, inputs(t, programs, in))["o"]
	})
}
