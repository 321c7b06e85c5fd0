package problemtest

import (
	"fmt"
	"math"
	"testing"

	"matladder/problem"
	"matladder/tile"
)

// wide are scales from the least that a quantizer makes to nearly the largest, moderate those that
// groups of k may have.
var (
	wide     = []float64{0x1p-126, 1e-25, 1e-17, 3e4, 1e20, 1e35}
	moderate = []float64{0x1p-64, 0.02, 0x1p64}
)

// A solver returns o of p and its named inputs.
type solver = func(t *testing.T, p problem.Matmul, in map[string]tile.Tensor) (o tile.Tensor)

// Scales multiplies codes whose sums are exact by scales of every size, and compares with
// float64: a result that float32 holds has four roundings, whatever is between.
func Scales(t *testing.T, solve solver) {
	for _, q := range []problem.Quant{"per_tensor", "per_tensor+token", "per_channel+tensor", "per_channel+token", "per_block8+token", "per_block8+token_block"} {
		for _, d := range []tile.Dtype{tile.Int8, tile.Float8E4M3FN, tile.Float8E5M2} {
			t.Run(fmt.Sprint(q, " ", d), func(t *testing.T) { testScales(t, d, q, solve) })
		}
	}
}

// testScales has one product in each row, the largest, the smallest, or none, all of them by
// each scale of rows; columns are of the largest and of the smallest code. A batch has what one
// scale of all is in turn.
func testScales(t *testing.T, d tile.Dtype, q problem.Quant, solve solver) {
	_, most := d.Range()
	least := 1.0
	if d.IsFloat() {
		least = map[tile.Dtype]float64{tile.Float8E4M3FN: 0x1p-9, tile.Float8E5M2: 0x1p-16}[d]
	}
	scheme, err := New(1, 1, 1, 1, d, d, tile.Float32, q, "").Scheme()
	if err != nil {
		t.Fatal(err)
	}
	ofB := wide
	if scheme.B == problem.Block {
		ofB = moderate
	}
	codes := []float64{most, least, 0}
	batchA, batchB := 1, 1
	if scheme.A == problem.Tensor {
		batchA = len(wide)
	}
	if scheme.B == problem.Tensor {
		batchB = len(ofB)
	}
	const k = 16
	batch, rows, cols := batchA*batchB, len(codes)*len(wide), 2*len(ofB)
	p := New(batch, rows, k, cols, d, d, tile.Float32, q, "")
	// What element (row, col) of a matrix of the batch is scaled by.
	sa := func(e, row int) float64 {
		if batchA > 1 {
			return wide[e%batchA]
		}
		return wide[row/len(codes)]
	}
	sb := func(e, col int) float64 {
		if batchB > 1 {
			return ofB[e/batchA]
		}
		return ofB[col/2]
	}
	array := func(d tile.Dtype, at func(e, row, col int) float64, dims ...int) tile.Tensor {
		if batch > 1 {
			dims = append([]int{batch}, dims...)
		}
		x := tile.NewTensor(d, dims...)
		of, width := x.Len()/batch, dims[len(dims)-1]
		for i := range x.Len() {
			x.Set(i, at(i/of, i%of/width, i%width))
		}
		return x
	}
	scaleA := func(e, row, _ int) float64 { return sa(e, row) }
	scaleB := func(e, _, col int) float64 { return sb(e, col) }
	groups := p.Groups(scheme)
	in := map[string]tile.Tensor{
		"a": array(d, func(_, row, col int) float64 {
			if col != row%k {
				return 0
			}
			return codes[row%len(codes)]
		}, rows, k),
		"b":  array(d, func(_, _, col int) float64 { return codes[col%2] }, k, cols),
		"sa": array(tile.Float32, scaleA, map[problem.Grain][]int{problem.Token: {rows, 1}, problem.TokenBlock: {rows, groups}, problem.Tensor: {1, 1}}[scheme.A]...),
		"sb": array(tile.Float32, scaleB, map[problem.Grain][]int{problem.Channel: {1, cols}, problem.Block: {groups, 1, cols}, problem.Tensor: {1, 1}}[scheme.B]...),
	}
	o := solve(t, p, in)
	for i := range o.Len() {
		e, row, col := i/(rows*cols), i/cols%rows, i%cols
		sum, a, b := codes[row%len(codes)]*codes[col%2], float64(float32(sa(e, row))), float64(float32(sb(e, col)))
		want, got := sum*a*b, o.At(i)
		if want < math.MaxFloat32 && !(math.Abs(got-want) <= 4*0x1p-24*want+tile.Float32.SmallestNormal()) {
			t.Fatalf("sum %v · sa %v · sb %v is %v, should be %v", sum, a, b, got, want)
		}
	}
}
