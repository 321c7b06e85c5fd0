package check

import (
	"context"
	"math"
	"runtime"
	"sync"

	"matladder/internal/each"
	"matladder/problem"
	"matladder/tile"
)

// maxProducts bounds the multiplications of the row reference: all rows of a
// 256³ problem, 32 of 1024³, the minimum from 4096³ on.
const (
	maxProducts = 1 << 25
	minRows     = 4
)

// probes is the number of random combinations of each row that are compared.
const probes = 2

// Reference is what float64 arithmetic says of one problem and its inputs. It
// does not keep the inputs, which are given again to Verify, and may be used
// for many programs, by one goroutine at a time.
type Reference struct {
	p       problem.Matmul
	parts   []*Reference // of each element of a batch; nothing else is set then
	answers []*answers   // of each element of a batch of an exact probe; nothing else is set then
	rows    []int        // output rows computed in full, ascending
	cells   []cells      // and elements of others, where no combination of a row can be compared
	exact   map[int]*rowValues
	apart   map[int]*rowValues // of cells
	meant   []float64          // the same rows on operands before they were quantized; nil if unknown
	probes  []probe
	normA   []float64 // squared norm of each row of a
	normB   float64   // squared Frobenius norm of b

	products float64 // relative error of the device's products
	constant bool    // inputs are: roundings of a row are all alike, and no noise
}

// isConstant tells the reference of inputs that are all alike.
func (r *Reference) isConstant(dist string) {
	r.constant = Constant(dist)
	for _, part := range r.parts {
		part.isConstant(dist)
	}
}

// rowValues are reference rows, flattened to len(rows)×n, or cells, one row's behind
// another's, of a sum that is cut every step elements of k.
type rowValues struct {
	sum    []float64 // Σ a·b
	sumAbs []float64 // Σ |a|·|b|
	doubt  []float64 // Σ doubt·|b|, where a is quantized inside the launch
	cuts   []float64 // Σ |partial sum| at each cut
	cuts2  []float64 // Σ (partial sum)² at each cut
}

// probe is a random vector x with the combination a·(b·x) of every row.
type probe struct {
	x, want []float64
	doubt   []float64 // of want, where a is quantized inside the launch
}

// NewReference computes the reference of p on named inputs: a, b, and what a
// quantization or bias needs.
func NewReference(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor) (*Reference, error) {
	return newReferenceOf(ctx, p, in, maxProducts, 0)
}

// newReferenceOf is NewReference of rows of up to products multiplications. salt says which are
// drawn, and which combinations.
func newReferenceOf(ctx context.Context, p problem.Matmul, in map[string]tile.Tensor, products int, salt uint64) (*Reference, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Batch > 1 {
		return newBatchReference(ctx, p, in, products, salt)
	}
	ops, err := operandsOf(ctx, p, in)
	if err != nil {
		return nil, err
	}
	ops.salt = salt
	return newReference(ctx, ops, products)
}

// newReference computes rows of up to products multiplications.
func newReference(ctx context.Context, ops operands, products int) (*Reference, error) {
	r := &Reference{p: ops.p, rows: sampleRows(ops.p, products, ops.salt), exact: map[int]*rowValues{}, apart: map[int]*rowValues{}}
	if ops.p.Activation != problem.NoActivation && len(r.rows) < ops.p.M {
		r.cells = sampleCells(ops.p, ops.salt)
	}
	if err := r.makeProbes(ctx, ops); err != nil {
		return nil, err
	}
	return r, nil
}

// sampleRows spreads the affordable number of rows over the output: one at
// random in each of as many bands.
func sampleRows(p problem.Matmul, products int, salt uint64) []int {
	count := min(p.M, max(minRows, products/max(1, p.K*p.N)))
	rows := make([]int, count)
	for i := range rows {
		lo, hi := i*p.M/count, (i+1)*p.M/count
		rows[i] = lo + int(mix(uint64(i)^hash(p.String())^salt)%uint64(hi-lo))
	}
	return rows
}

// values returns the reference rows of a sum cut every step elements of k.
func (r *Reference) values(ctx context.Context, ops operands, step int) (*rowValues, error) {
	if v := r.exact[step]; v != nil {
		return v, nil
	}
	v := newRowValues(len(r.rows) * r.p.N)
	avals, doubts := ops.rowsOfA(r.rows)
	err := parallel(ctx, r.p.N, func(lo, hi int) {
		const together = 32 // rows of b, for which a row of sums stays in the nearest cache
		var b, size [together][]float64
		for i := range b {
			b[i], size[i] = make([]float64, hi-lo), make([]float64, hi-lo)
		}
		for from := 0; from < r.p.K; from += together {
			count := min(together, r.p.K-from)
			for i := range count {
				if ctx.Err() != nil {
					return
				}
				ops.rowOfB(b[i], size[i], from+i, lo)
			}
			for row := range r.rows {
				for i := range count {
					k := from + i
					v.add(row*r.p.N+lo, avals[row][k], doubts[row][k], b[i], size[i], (k+1)%step == 0 || k+1 == r.p.K)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	r.exact[step] = v
	return v, nil
}

func newRowValues(n int) *rowValues {
	return &rowValues{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// add adds a·b to values from at on, an element of a with its doubt by a row of b whose
// magnitudes are size; then the sum is cut or not.
func (v *rowValues) add(at int, a, doubt float64, b, size []float64, cut bool) {
	sum, sumAbs, size := v.sum[at:][:len(b)], v.sumAbs[at:][:len(b)], size[:len(b)]
	magnitude := math.Abs(a)
	for j, bv := range b {
		sum[j] += a * bv
		sumAbs[j] += magnitude * size[j]
	}
	if doubt > 0 {
		for j, size := range size {
			v.doubt[at+j] += doubt * size
		}
	}
	if cut {
		cuts, cuts2 := v.cuts[at:][:len(b)], v.cuts2[at:][:len(b)]
		for j, s := range sum {
			cuts[j] += math.Abs(s)
			cuts2[j] += s * s
		}
	}
}

// makeProbes draws the vectors of Freivalds' check and multiplies them through.
// For an integer output the entries are 16-bit integers and everything is exact
// (|a·(b·x)| < 2^7·2^7·2^15·k·n stays below 2^53 up to 4096²; above, entries
// are ±1); for floats they are ±1, so that errors add up like noise.
func (r *Reference) makeProbes(ctx context.Context, ops operands) error {
	p := r.p
	wide := p.Out.IsInteger() && float64(p.K)*float64(p.N) <= 1<<24
	r.probes = make([]probe, probes)
	y := make([][]float64, probes)
	for v := range r.probes {
		x := make([]float64, p.N)
		for j := range x {
			h := mix(mix(uint64(v)+hash("probe")^ops.salt) + uint64(j))
			if x[j] = float64(h>>63)*2 - 1; wide {
				x[j] = float64(int16(h >> 48))
			}
		}
		r.probes[v] = probe{x, make([]float64, p.M), make([]float64, p.M)}
		y[v] = make([]float64, p.K)
	}
	normB := make([]float64, p.K)
	err := parallel(ctx, p.K, func(lo, hi int) {
		b, size := make([]float64, p.N), make([]float64, p.N)
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			ops.rowOfB(b, size, k, 0)
			normB[k] = dot(size, size)
			for v := range y {
				y[v][k] = dot(b, r.probes[v].x)
			}
		}
	})
	if err != nil {
		return err
	}
	r.normB = each.Sum(normB, func(s float64) float64 { return s })
	r.normA = make([]float64, p.M)
	return parallel(ctx, p.M, func(lo, hi int) {
		a, doubt := make([]float64, p.K), make([]float64, p.K)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			ops.rowOfA(a, doubt, i)
			r.normA[i] = dot(a, a)
			for v := range y {
				r.probes[v].want[i] = dot(a, y[v]) + dot(ops.bias, r.probes[v].x)
				for k, d := range doubt {
					r.probes[v].doubt[i] += d * math.Abs(y[v][k])
				}
			}
		}
	})
}

func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// checkEvery is how many elements are made, or looked at, between two looks at a context.
const checkEvery = 1 << 16

// inStrips is parallel in strips of about checkEvery elements, of which each of
// 0 … n-1 has width. When ctx ends, no more begin.
func inStrips(ctx context.Context, n, width int, f func(lo, hi int)) error {
	strip := max(1, checkEvery/max(1, width))
	return parallel(ctx, n, func(lo, hi int) {
		for ; lo < hi && ctx.Err() == nil; lo += strip {
			f(lo, min(lo+strip, hi))
		}
	})
}

// parallel splits 0 … n-1 over all cores and waits for them. The error is that of
// ctx, at which f is to look.
func parallel(ctx context.Context, n int, f func(lo, hi int)) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
	return ctx.Err()
}

// cellSide is the side of the squares of the output in each of which one element is
// computed: no larger than a block of a kernel that is worth measuring.
const cellSide = 64

// cells are elements of one row of the output.
type cells struct {
	row  int
	cols []int // ascending
	at   int   // of the first in values
}

// sampleCells draws one element of each square: those of a band of squares are in one row.
func sampleCells(p problem.Matmul, salt uint64) []cells {
	seed := hash("cells"+p.String()) ^ salt
	draw := func(band, i, n int) int { // one of the i-th of the sides that n has
		lo := i * cellSide
		return lo + int(mix(mix(seed+uint64(band))+uint64(i))%uint64(min(cellSide, n-lo)))
	}
	list, across := make([]cells, tile.Ceil(p.M, cellSide)), tile.Ceil(p.N, cellSide)
	for i := range list {
		list[i] = cells{draw(0, i, p.M), make([]int, across), i * across}
		for j := range across {
			list[i].cols[j] = draw(1+i, j, p.N)
		}
	}
	return list
}

// cellValues returns the cells of a sum cut every step elements of k.
func (r *Reference) cellValues(ctx context.Context, ops operands, step int) (*rowValues, error) {
	if v := r.apart[step]; v != nil || len(r.cells) == 0 {
		return v, nil
	}
	across := len(r.cells[0].cols)
	v := newRowValues(len(r.cells) * across)
	avals, doubts := ops.rowsOfA(each.Of(r.cells, func(c cells) int { return c.row }))
	err := parallel(ctx, across, func(lo, hi int) {
		from, to := lo*cellSide, min(hi*cellSide, r.p.N)
		b, size := make([]float64, to-from), make([]float64, to-from)
		some, sizes := make([]float64, hi-lo), make([]float64, hi-lo)
		for k := 0; k < r.p.K && ctx.Err() == nil; k++ {
			ops.rowOfB(b, size, k, from)
			for i, c := range r.cells {
				for j, col := range c.cols[lo:hi] {
					some[j], sizes[j] = b[col-from], size[col-from]
				}
				v.add(c.at+lo, avals[i][k], doubts[i][k], some, sizes, (k+1)%step == 0 || k+1 == r.p.K)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	r.apart[step] = v
	return v, nil
}
