package cpu

import (
	"matladder/tile"
	"matladder/timeline"
)

// bring packs the blocks that the current program sees and that are not yet
// in their cache.
func (w *worker) bring() {
	for i, o := range w.plan.operands {
		switch o.keep {
		case keepAll, keepGroup:
			w.caches[i].bring(w, i)
		case keepOwn:
			slot, block := w.slot(i), w.places[o.ref].block
			if w.tags[i][slot] != block {
				mem := o.mem.of(w.mem)[slot*o.block:][:o.block]
				lanes, k := w.extent(i)
				w.pack(o, mem, o.chunk, 0, lanes, 0, k)
				w.tags[i][slot] = block
				w.countLoad(i)
			}
		}
	}
}

// countLoad counts the current block of operand i as brought into fast memory;
// once, if the ref is several operands.
func (w *worker) countLoad(i int) {
	if o := w.plan.operands[i]; o.counts {
		at := &w.places[o.ref]
		w.counters.BlocksLoaded++
		w.counters.BytesLoaded += w.plan.refs[o.ref].Dtype.Bytes(int64(at.rows) * int64(at.cols))
	}
}

// slot is where operand i keeps the current block.
func (w *worker) slot(i int) int {
	o := w.plan.operands[i]
	if o.keep == keepAll {
		return w.places[o.ref].block
	}
	switch {
	case o.slots == 1:
		return 0
	case o.keep == keepOwn && o.follows: // a window that moves on keeps what it still sees
		return w.places[o.ref].block % o.slots
	}
	r, t := &w.plan.refs[o.ref], &w.plan.tasks
	n := 0
	if o.keep == keepGroup {
		for _, a := range t.inner {
			n = n*w.plan.program.Grid[a].Size + w.ids[a]
		}
		n -= w.phase * t.group
	}
	for a, axis := range w.plan.program.Grid {
		if axis.Semantics == tile.Arbitrary && r.dependsOn(axis) {
			n = n*axis.Size + w.ids[a]
		}
	}
	return n
}

// extent is how many lanes and how much of k the current block has.
func (w *worker) extent(i int) (lanes, k int) {
	o := w.plan.operands[i]
	at := &w.places[o.ref]
	if o.columns {
		return at.cols, at.rows
	}
	return at.rows, at.cols
}

// pack lays lanes from lane0 on and elements of k from k0 on of the current
// block out in chunks that lie chunk bytes apart; k0 starts a chunk.
func (w *worker) pack(o *operand, dst []byte, chunk, lane0, lanes, k0, k int) {
	from := w.now()
	for end := k0 + k; k0 < end; k0 += o.depth {
		depth := min(o.depth, end-k0)
		w.packPart(o, dst, o.packing.panel(depth), lane0, lanes, k0, depth)
		dst = dst[min(chunk, len(dst)):]
	}
	w.note(timeline.Pack, from, w.plan.refs[o.ref].Name)
}

// packPart lays lanes from lane0 on and elements of k from k0 on out, all of one chunk,
// in panels that lie apart bytes apart.
func (w *worker) packPart(o *operand, dst []byte, apart, lane0, lanes, k0, k int) {
	at, ld := &w.places[o.ref], w.plan.refs[o.ref].ld
	o.packing.pack(dst, apart, w.data[o.ref], o.element(at, ld, lane0, k0), ld, lanes, k, o.columns)
}

// element is where in the array element k of a lane of the block at lies.
func (o *operand) element(at *place, ld, lane, k int) int {
	if o.columns {
		return at.off + k*ld + lane
	}
	return at.off + lane*ld + k
}

// bringDeep packs the columns of a b that is not kept, with all of k that d
// contracts, if there is room.
func (w *worker) bringDeep(d *dot, col, cols int) {
	o := w.plan.operands[d.b]
	if o.keep != keepPiece || !o.deep {
		return
	}
	lanes, k := w.extent(d.b)
	if k = min(k, d.k1); col < lanes && k > d.k0 {
		w.pack(o, o.mem.of(w.mem)[d.k0/o.depth*o.chunk:], o.chunk, col, min(cols, lanes-col), d.k0, k-d.k0)
	}
}

// multiply computes rows × cols of product d from (row, col) on, into c or onto
// what is there. Where a or b end before, the product is zero.
func (w *worker) multiply(d *dot, c []byte, off, ldc, row, rows, col, cols int, fresh bool) {
	a, b := w.plan.operands[d.a], w.plan.operands[d.b]
	m, k := w.extent(d.a)
	n, kb := w.extent(d.b)
	m, n = min(max(m-row, 0), rows), min(max(n-col, 0), cols)
	if fresh && (m < rows || n < cols) {
		clearEdges(view[uint32](c)[off:], ldc, m, rows, n, cols)
	}
	k = min(k, kb, d.k1)
	if fresh && k <= d.k0 && m > 0 && n > 0 {
		clearEdges(view[uint32](c)[off:], ldc, 0, rows, 0, cols)
	}
	if m == 0 || n == 0 {
		return
	}
	from := w.now()
	x := call{c: c, off: off, ldc: ldc, m: m, n: n, work: w.plan.sums.of(w.mem), write: d.write}
	depth, whole := a.depth, d.narrow || d.scales != nil
	if whole { // sums are rounded or scaled as they are written: over all of k
		depth = k - d.k0
	}
	for k0 := d.k0; k0 < k; k0 += depth {
		x.k, x.accumulate = min(depth, k-k0), !whole && (!fresh || k0 > d.k0)
		x.a = w.factor(d.a, row, m, k0, x.k)
		x.b = w.factor(d.b, col, n, k0, x.k)
		switch {
		case d.narrow:
			d.product.narrow(x)
		case d.scales != nil:
			d.product.scaled(x, d.scales.narrow, d.scales.of(w, row, m, col, n))
		case x.b.packed:
			d.product.multiply(x)
		case b.widened():
			w.multiplyWidened(d, x)
		default:
			d.product.direct(x)
		}
	}
	if w.record != nil {
		w.note(timeline.Multiply, from, w.plan.refs[a.ref].Name+"·"+w.plan.refs[b.ref].Name)
	}
}

// factor is operand i from a lane and an element of k on, packed unless products
// read it where it lies.
func (w *worker) factor(i, lane, lanes, k0, depth int) factor {
	o := w.plan.operands[i]
	if o.keep == keepUnpacked {
		ld := w.plan.refs[o.ref].ld
		return factor{mem: w.data[o.ref], off: o.element(&w.places[o.ref], ld, lane, k0), ld: ld}
	}
	return factor{mem: w.piece(i, lane, lanes, k0, depth), packed: true}
}

// clearEdges zeroes what rows × cols of 32 bits have beyond m × n.
func clearEdges(c []uint32, ldc, m, rows, n, cols int) {
	for i := range rows {
		from := n
		if i >= m {
			from = 0
		}
		clear(c[i*ldc+from : i*ldc+cols])
	}
}

// piece returns operand i packed from a lane and an element of k on, packing it
// if it is not kept.
func (w *worker) piece(i, lane, lanes, k0, depth int) []byte {
	o := w.plan.operands[i]
	chunk := k0 / o.depth * o.chunk
	inside := lane / o.packing.lanes * o.packing.panel(depth)
	switch o.keep {
	case keepAll, keepGroup:
		return w.caches[i].block(w.slot(i))[chunk+inside:]
	case keepOwn:
		return o.mem.of(w.mem)[w.slot(i)*o.block:][chunk+inside:]
	}
	mem := o.mem.of(w.mem)
	if o.deep {
		return mem[chunk:]
	}
	w.pack(o, mem, o.chunk, lane, lanes, k0, depth)
	return mem
}
