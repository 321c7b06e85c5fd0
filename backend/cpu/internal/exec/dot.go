package exec

import (
	"math"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/timeline"
	"matladder/tile"
)

// bring packs the blocks that the current program sees and that are not yet in their cache.
func (w *Worker) bring() {
	for i, o := range w.Plan.Operands {
		if o.Shown.From != nil {
			w.Taping = false
			w.shown[i] = [2]int{max(0, tile.Eval(o.Shown.From, &w.Frame)), tile.Eval(o.Shown.To, &w.Frame)}
		}
		switch o.Keep {
		case plan.KeepAll, plan.KeepGroup:
			w.caches[i].bring(w, i)
		case plan.KeepOwn:
			if !o.StoredRows && o.Why != plan.WhyStored {
				lanes, _ := w.extent(i)
				w.bringOwn(i, 0, lanes)
			}
		}
	}
}

// bringStored packs operand i if it is scratch that is kept packed, unless nothing has been
// stored there since it was.
func (w *Worker) bringStored(i int) {
	if o := w.Plan.Operands[i]; o.Why == plan.WhyStored {
		w.bringOwn(i, 0, o.Lanes)
	}
}

// stored tells operands that what steps stored is another.
func (w *Worker) stored(steps ...*plan.Step) {
	for _, s := range steps {
		for _, i := range w.Plan.Refs[s.Dst].Packed {
			w.tags[i][0] = -1
		}
	}
}

// bringOwn packs lanes from … to-1 of the current block of operand i, unless the worker has
// them in its slot.
func (w *Worker) bringOwn(i, from, to int) {
	o, slot := w.Plan.Operands[i], w.slot(i)
	lanes, k := w.extent(i)
	to = min(to, lanes)
	block, parts := w.Places[o.Ref].Block, (o.Lanes+1)*(o.Lanes+1)
	had, tag := w.tags[i][slot], block*parts+from*(o.Lanes+1)+to
	if from >= to || had == tag {
		return
	}
	began := w.now()
	for k0 := 0; k0 < k; k0 += o.Depth {
		depth := min(o.Depth, k-k0)
		w.packPart(o, w.piece(i, from, to-from, k0, depth), o.Packing.Panel(depth), from, to-from, k0, depth)
	}
	w.note(timeline.Pack, began, w.Plan.Refs[o.Ref].Name)
	w.tags[i][slot] = tag
	if had < 0 || had/parts != block { // else more rows of a block that has been counted
		w.countLoad(i)
	}
}

// countLoad counts the current block of operand i as brought into fast memory;
// once, if the ref is several operands.
func (w *Worker) countLoad(i int) {
	if o := w.Plan.Operands[i]; o.Counts {
		at := &w.Places[o.Ref]
		w.Counters.BlocksLoaded++
		w.Counters.BytesLoaded += w.Plan.Refs[o.Ref].Dtype.Bytes(int64(at.Rows) * int64(at.Cols))
	}
}

// slot is where operand i keeps the current block.
func (w *Worker) slot(i int) int {
	o := w.Plan.Operands[i]
	if o.Keep == plan.KeepAll {
		return o.Slot(w.Places[o.Ref].Block)
	}
	switch {
	case o.Slots == 1:
		return 0
	case o.Keep == plan.KeepOwn && o.Follows: // a window that moves on keeps what it still sees
		return w.Places[o.Ref].Block % o.Slots
	}
	r, t := &w.Plan.Refs[o.Ref], &w.Plan.Tasks
	n := 0
	if o.Keep == plan.KeepGroup {
		for _, a := range t.Inner {
			n = n*w.Plan.Program.Grid[a].Size + w.IDs[a]
		}
		n -= w.phase * t.Group
	}
	for a, axis := range w.Plan.Program.Grid {
		if axis.Semantics == tile.Arbitrary && r.DependsOn(axis) {
			n = n*axis.Size + w.IDs[a]
		}
	}
	return n
}

// extent is how many lanes and how much of k the current block has.
func (w *Worker) extent(i int) (lanes, k int) {
	o := w.Plan.Operands[i]
	at := &w.Places[o.Ref]
	if o.Columns {
		return at.Cols, at.Rows
	}
	return at.Rows, at.Cols
}

// pack lays lanes from lane0 on and elements of k from k0 on of the current
// block out in chunks that lie chunk bytes apart; k0 starts a chunk.
func (w *Worker) pack(o *plan.Operand, dst []byte, chunk, lane0, lanes, k0, k int) {
	from := w.now()
	for end := k0 + k; k0 < end; k0 += o.Depth {
		depth := min(o.Depth, end-k0)
		w.packPart(o, dst, o.Packing.Panel(depth), lane0, lanes, k0, depth)
		dst = dst[min(chunk, len(dst)):]
	}
	w.note(timeline.Pack, from, w.Plan.Refs[o.Ref].Name)
}

// packPart lays lanes from lane0 on and elements of k from k0 on out, all of one chunk,
// in panels that lie apart bytes apart.
func (w *Worker) packPart(o *plan.Operand, dst []byte, apart, lane0, lanes, k0, k int) {
	at, ld := &w.Places[o.Ref], w.Plan.Refs[o.Ref].LD
	src, off, scales := w.Data[o.Ref], element(o, at, ld, lane0, k0), w.scalesOf(o, lane0, k0)
	o.Packing.Pack(dst, apart, src, off, ld, lanes, k, o.Columns, scales)
	if w.Taping {
		w.keep(func() { o.Packing.Pack(dst, apart, src, off, ld, lanes, k, o.Columns, scales) })
	}
}

// scalesOf are those of elements of the current block of an operand, from a lane and an element of
// k on.
func (w *Worker) scalesOf(o *plan.Operand, lane0, k0 int) plan.ScalesOfGroups {
	if o.Scales.At == nil {
		return plan.ScalesOfGroups{}
	}
	r, at := &w.Plan.Refs[o.Scales.Ref], &w.Places[o.Scales.Ref]
	by := plan.ScalesOfGroups{Mem: w.Data[o.Scales.Ref], Read: o.Scales.Read, Lane: r.LD, Group: 1, First: k0 % o.Group, Size: o.Group}
	if o.IsB {
		by.Lane, by.Group = 1, r.LD
	}
	by.Off = at.Off + lane0*by.Lane + (tile.Eval(o.Scales.At, &w.Frame)+k0/o.Group)*by.Group
	return by
}

// element is where in the array element k of a lane of the block at lies.
func element(o *plan.Operand, at *plan.Place, ld, lane, k int) int {
	if o.Columns {
		return at.Off + k*ld + lane
	}
	return at.Off + lane*ld + k
}

// bringDeep packs the columns of a b that is not kept, with all of k that d
// contracts, if there is room.
func (w *Worker) bringDeep(d *plan.Dot, col, cols int) {
	o := w.Plan.Operands[d.B]
	if o.Keep != plan.KeepPiece || !o.Deep {
		return
	}
	lanes, k := w.extent(d.B)
	if k = min(k, d.K1); col < lanes && k > d.K0 {
		w.pack(o, o.Mem.Of(w.Mem)[d.K0/o.Depth*o.Chunk:], o.Chunk, col, min(cols, lanes-col), d.K0, k-d.K0)
	}
}

// multiply computes rows × cols of product d from (row, col) on, into c or onto
// what is there. Where a or b end before, the product is zero.
func (w *Worker) multiply(d *plan.Dot, c []byte, off, ldc, row, rows, col, cols int, fresh bool) {
	a, b := w.Plan.Operands[d.A], w.Plan.Operands[d.B]
	m, k := w.extent(d.A)
	n, kb := w.extent(d.B)
	m, n = min(max(m-row, 0), rows), min(max(n-col, 0), cols)
	if fresh && (m < rows || n < cols) {
		w.clearEdges(memory.View[uint32](c)[off:], ldc, m, rows, n, cols)
	}
	k = min(k, kb, d.K1)
	begin, end := w.Columns(a.Ref, k) // what a has elsewhere is zero
	if b.Shown.From != nil {
		begin, end = max(begin, w.shown[d.B][0]), min(end, w.shown[d.B][1])
	}
	if fresh && min(k, end) <= max(d.K0, begin) && m > 0 && n > 0 {
		w.clearEdges(memory.View[uint32](c)[off:], ldc, 0, rows, 0, cols)
	}
	if m == 0 || n == 0 {
		return
	}
	from := w.now()
	x := plan.Call{C: c, Off: off, LDC: ldc, M: m, N: n, Work: w.Plan.Sums.Of(w.Mem), Write: d.Write}
	depth, whole := a.Depth, d.Scales != nil
	if whole { // sums are rounded or scaled as they are written: over all of k
		depth = k - d.K0
	}
	x.Accumulate = !whole && !fresh
	for k0 := d.K0; k0 < k; k0 += depth {
		x.Depth = min(depth, kb-k0) // as deep as b is packed, though a may end before
		first, last := max(k0, begin), min(k0+x.Depth, end)
		if b.Shown.From != nil && b.Packing.Unit > 1 {
			first, last = w.multiplyEnds(d, &x, row, col, first, last, k)
		}
		if x.K0, x.K = first-k0, last-first; x.K <= 0 {
			continue
		}
		x.A = w.factor(d.A, row, m, first, x.K)
		if x.B = w.factor(d.B, col, n, k0, x.Depth); !x.B.Packed {
			x.B.Off += x.K0 * x.B.LD
		}
		if whole {
			w.whole(d, x, row, col)
		} else {
			w.call(d, x, col, k0)
		}
		x.Accumulate = !whole
	}
	if w.record != nil {
		w.note(timeline.Multiply, from, w.Plan.Refs[a.Ref].Name+"·"+w.Plan.Refs[b.Ref].Name)
	}
}

// whole multiplies all of a piece from (row, col) of the block on, and scales and rounds its sums.
func (w *Worker) whole(d *plan.Dot, x plan.Call, row, col int) {
	if w.Taping {
		y := x // that is kept
		w.leaf(func() { w.whole(d, y, row, col) })
		return
	}
	d.Product.Whole(x, d.Scales.Narrow, scalingOf(d.Scales, w, row, x.M, col, x.N))
}

// call multiplies into sums, by elements of b from a column and an element of k on.
func (w *Worker) call(d *plan.Dot, x plan.Call, col, k0 int) {
	multiply := d.Product.Multiply
	switch {
	case x.B.Packed:
	case w.Plan.Operands[d.B].Widened():
		w.multiplyWidened(d, x, col, k0+x.K0)
		return
	default:
		multiply = d.Product.Unpacked.Multiply
	}
	if !w.Taping {
		multiply(x)
		return
	}
	again, y, t := multiply, x, w.tape.Again() // copies, so that calls that are not taped allocate nothing
	x.Tape = t
	if multiply(x); t.Spoiled || len(t.Calls) == 0 {
		t.Calls = []func(){func() { again(y) }}
	}
	w.keep(t.Calls...)
}

// multiplyEnds multiplies the units of elements of k, first … last-1 of k, of which some alone
// count, with zero for the others, and returns the whole ones between.
func (w *Worker) multiplyEnds(d *plan.Dot, x *plan.Call, row, col, first, last, k int) (int, int) {
	o := w.Plan.Operands[d.B]
	unit := o.Packing.Unit
	part := func(at int) {
		y := *x
		y.K0, y.K = 0, min(unit, k-at)
		y.Depth = y.K
		r, from := &w.Plan.Refs[o.Ref], max(at, first)
		size, end := r.Dtype.Bits()/8, min(at+y.K, last)
		clear(w.unit)
		for i := from; i < end; i++ {
			src := element(o, &w.Places[o.Ref], r.LD, col, i) * size
			copy(w.unit[(i-at)*r.LD*size:], w.Data[o.Ref][src:src+x.N*size])
		}
		y.A = w.factor(d.A, row, x.M, at, y.K)
		y.B = plan.Factor{Mem: w.unit, LD: r.LD}
		if o.Keep != plan.KeepUnpacked {
			o.Packing.Pack(w.unitPacked, o.Packing.Panel(y.K), w.unit, 0, r.LD, x.N, y.K, o.Columns, plan.ScalesOfGroups{})
			y.B = plan.Factor{Mem: w.unitPacked, Packed: true}
		}
		w.call(d, y, col, at)
		x.Accumulate = true
	}
	if at := first / unit * unit; first < last && at < first {
		part(at)
		first = at + unit
	}
	if at := last / unit * unit; first < last && at < last && last < k {
		part(at)
		last = at
	}
	return first, last
}

// factor is operand i from a lane and an element of k on, packed unless products
// read it where it lies.
func (w *Worker) factor(i, lane, lanes, k0, depth int) plan.Factor {
	o := w.Plan.Operands[i]
	if o.Keep == plan.KeepUnpacked {
		ld := w.Plan.Refs[o.Ref].LD
		return plan.Factor{Mem: w.Data[o.Ref], Off: element(o, &w.Places[o.Ref], ld, lane, k0), LD: ld, Far: o.Far, Scales: w.scalesOf(o, lane, k0)}
	}
	cache := w.caches[i]
	return plan.Factor{Mem: w.piece(i, lane, lanes, k0, depth), Packed: true, Far: cache != nil && cache.far}
}

// clearEdges zeroes what rows × cols of 32 bits have beyond m × n.
func (w *Worker) clearEdges(c []uint32, ldc, m, rows, n, cols int) {
	if w.Taping {
		w.leaf(func() { w.clearEdges(c, ldc, m, rows, n, cols) })
		return
	}
	for i := range rows {
		from := n
		if i >= m {
			from = 0
		}
		clear(c[i*ldc+from : i*ldc+cols])
	}
}

// piece returns operand i packed from a lane and an element of k on, packing it if it is not kept.
func (w *Worker) piece(i, lane, lanes, k0, depth int) []byte {
	o := w.Plan.Operands[i]
	chunk := k0 / o.Depth * o.Chunk
	inside := lane / o.Packing.Lanes * o.Packing.Panel(depth)
	switch o.Keep {
	case plan.KeepAll, plan.KeepGroup:
		return w.caches[i].block(w.slot(i))[chunk+inside:]
	case plan.KeepOwn:
		return o.Mem.Of(w.Mem)[w.slot(i)*o.Block:][chunk+inside:]
	}
	mem := o.Mem.Of(w.Mem)
	if o.Deep {
		return mem[chunk:]
	}
	w.pack(o, mem, o.Chunk, lane, lanes, k0, depth)
	return mem
}

// multiplyWidened is Unpacked.Multiply of a b that is widened piece by piece, from a column and an
// element of k on.
func (w *Worker) multiplyWidened(d *plan.Dot, x plan.Call, col, k0 int) {
	w.Taping = false
	o := w.Plan.Operands[d.B]
	from, n := x.B, x.N
	x.B = plan.Factor{Mem: o.Mem.Of(w.Mem), LD: o.WideStride()}
	for j := 0; j < n; j += o.Piece {
		x.N = min(o.Piece, n-j)
		o.Packing.Widening.Rows(x.B.Mem, from.Mem, from.Off+j, from.LD, x.K, x.N, x.B.LD)
		if by := w.scalesOf(o, col+j, k0); by.Size > 0 {
			o.Packing.Widening.Scale(x.B.Mem, x.K, x.N, x.B.LD, true, by)
		}
		d.Product.Unpacked.Multiply(x)
		x.Off += x.N
	}
}

// negativeZero changes no number that it is added to, not even a zero.
var negativeZero = float32(math.Copysign(0, -1))

// scalingOf is the scaling of m×n elements from (row, col) of the block on.
func scalingOf(x *plan.Scales, w *Worker, row, m, col, n int) gemm.Scaling {
	if x.Plain {
		return gemm.Scaling{}
	}
	const panel = 32 // columns
	mem := memory.View[float32](x.Mem.Of(w.Mem))
	by := gemm.Scaling{Rows: mem[:2*m], Columns: mem[2*x.Rows:][:2*n]}
	memory.Fill(by.Rows, 1)
	for which, v := range []plan.Lanes[float32]{x.RowsOf, x.LastOf} {
		for from := 0; v != nil && from < m; from += plan.VectorLanes {
			for i, factor := range v(&w.Frame, row+from, 0, min(plan.VectorLanes, m-from)) {
				by.Rows[2*(from+i)+which] = factor
			}
		}
	}
	for from := 0; from < n; from += plan.VectorLanes {
		some := min(plan.VectorLanes, n-from)
		for half, v := range []plan.Lanes[float32]{x.ColumnsOf, x.TermsOf} {
			var values []float32
			if v != nil {
				values = v(&w.Frame, 0, col+from, some)
			}
			for j := 0; j < some; j += panel {
				to := by.Columns[2*(from+j)+half*panel:][:panel]
				switch {
				case v != nil:
					copy(to, values[j:])
				case half == 0:
					memory.Fill(to, 1)
				default:
					memory.Fill(to, negativeZero)
				}
			}
		}
	}
	return by
}
