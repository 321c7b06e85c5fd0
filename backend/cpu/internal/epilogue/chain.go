package epilogue

import (
	"math"
	"slices"
	"unsafe"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/backend/cpu/internal/rows"
	"matladder/tile"
)

// A chain computes a value of floats in registers, for several rows in one call: from what lies in
// memory, from numbers of rows, and from vectors of what is computed in other ways.
type chain struct {
	links []link
	end   rows.Do // that stores, or sums
	size  int     // bytes of what it stores
	rows  int     // of which vectors may have all columns, width of them
	width int
	of    int // which one of a worker it is
	loops *rows.Loops
}

// A link is an operation. Its operand is found for each call; all operands but vectors may be of
// several rows.
type link struct {
	do      rows.Do
	find    func(w *plan.Frame, row, col, count, n int) operand // nil for no operand
	lanes   plan.Lanes[float32]                                 // where that finds none
	shuffle *rows.Order                                         // of what it finds
}

// operand is elements in memory, or one number of each row; its place is nil if they are not all
// there.
type operand struct {
	at   unsafe.Pointer
	step int
	kind rows.Do
}

// lying finds operands of a kind in a matrix; nil for none.
func lying[T any](x matrix[T], kind rows.Do) func(w *plan.Frame, row, col, count, n int) operand {
	if x == nil {
		return nil
	}
	return func(w *plan.Frame, row, col, count, n int) operand {
		m := x(w, row, col, count, n)
		return operand{unsafe.Pointer(unsafe.SliceData(m.Of)), m.LD * memory.Size[T](), kind}
	}
}

// Beside its links a chain asks memory for up to so many refs, stores and ends.
const (
	asksMost  = 2
	linksMost = rows.Links - asksMost - 7
)

// arithmetic is the operations of chains, and those with their operands the other way round.
var arithmetic = map[tile.Op][2]rows.Do{
	tile.OpAdd: {rows.Add, rows.Add}, tile.OpSub: {rows.Sub, rows.SubFrom}, tile.OpMul: {rows.Mul, rows.Mul},
	tile.OpDiv: {rows.Div, rows.DivInto},
}

// chain compiles e, of floats, up to where it is in hand; nil where it is a vector already, unless
// that is wanted, too.
func (c *values) chain(e *tile.Expr, end rows.Do, size int, vectors bool) *chain {
	links := c.links(e)
	if len(links) == 1 && links[0].find == nil && !vectors {
		return nil
	}
	return c.chained(links, end, size, width(e))
}

func (c *values) chained(links []link, end rows.Do, size, width int) *chain {
	c.plan.Chained++
	return &chain{links, end, size, max(c.rows, 1), width, c.plan.Chained - 1, &c.plan.Loops}
}

// links are those of e, not too many: of more, e becomes a vector first.
func (c *values) links(e *tile.Expr) []link {
	list := c.linksOf(e)
	n := len(list)
	for _, l := range list {
		if l.shuffle != nil {
			n++
		}
	}
	if n > linksMost {
		return []link{c.vector(e)}
	}
	return list
}

func (c *values) vector(e *tile.Expr) link { return link{do: rows.Load, lanes: c.floats(e)} }

func (c *values) linksOf(e *tile.Expr) []link {
	if l := c.found(e); l != nil {
		l.do = rows.Load
		return []link{*l}
	}
	do, ok := arithmetic[e.Op]
	switch float := e.Dtype == tile.Float32 || e.Dtype == tile.BFloat16; {
	case ok && float:
		links := c.pair(e.Args[0], e.Args[1], do)
		if e.Dtype == tile.BFloat16 {
			links = append(links, link{do: rows.Round})
		}
		return links
	case e.Op == tile.OpNeg && e.Dtype == tile.Float32:
		minus := c.number(-1)
		minus.do = rows.Mul
		return append(c.links(e.Args[0]), minus)
	case e.Op == tile.OpCast && e.Dtype == tile.Float32 && e.Args[0].Dtype == tile.BFloat16:
		return c.links(e.Args[0])
	case e.Op == tile.OpCast && e.Dtype == tile.BFloat16 && e.Args[0].Dtype == tile.Float32:
		return append(c.links(e.Args[0]), link{do: rows.Round})
	}
	return []link{c.vector(e)}
}

// pair is the links of an operation on x and y.
func (c *values) pair(x, y *tile.Expr, do [2]rows.Do) []link {
	if do[0] == rows.Mul && sameValue(x, y) {
		return append(c.links(x), link{do: rows.Mul + rows.Itself})
	}
	for i, of := range []*tile.Expr{y, x} {
		if l := c.found(of); l != nil && l.shuffle == nil {
			l.do = do[i]
			return append(c.links([]*tile.Expr{x, y}[i]), *l)
		}
	}
	first, second, turned := c.links(x), c.links(y), do[1]
	keeps := func(l link) bool { return l.do == rows.Keep }
	switch {
	case len(first) == 1 && first[0].find == nil:
		first[0].do = do[1]
		return append(second, first[0])
	case len(second) > 1 && (len(first)+len(second) > linksMost-4 || slices.ContainsFunc(second, keeps) && slices.ContainsFunc(first, keeps)):
		second = []link{c.vector(y)}
		fallthrough
	case len(second) == 1 && second[0].find == nil:
		second[0].do = do[0]
		return append(first, second[0])
	case slices.ContainsFunc(second, keeps):
		first, second, turned = second, first, do[0]
	}
	i := c.slot()
	kept := func(w *plan.Frame, _, _, _, _ int) operand {
		return operand{unsafe.Pointer(unsafe.SliceData(vector[float32](w, i, rows.KeptMost))), 0, rows.Kept}
	}
	return append(append(append(first, link{do: rows.Keep, find: kept}), second...), link{do: turned, find: kept})
}

// number is a link to the same number everywhere.
func (c *values) number(v float32) link {
	at := operand{unsafe.Pointer(&v), 0, rows.Number}
	return link{find: func(*plan.Frame, int, int, int, int) operand { return at }}
}

// found is an operand that is a number of each row, or in memory, perhaps in another order; nil if
// e is anything else.
func (c *values) found(e *tile.Expr) *link {
	if e.Op == tile.OpConst {
		l := c.number(float32(e.Dtype.Round(e.Value)))
		return &l
	}
	if plan.OneColumn(e) {
		numbers := c.down(e)
		return &link{find: func(w *plan.Frame, row, _, count, _ int) operand {
			return operand{unsafe.Pointer(unsafe.SliceData(numbers(w, row, 0, count))), 4, rows.Number}
		}}
	}
	of, order := shuffled(e)
	stored := lying(inMemory[float32](c, of, tile.Float32), rows.Float32s)
	switch {
	case stored != nil:
	case of.Op == tile.OpCast && of.Dtype == tile.Float32 && of.Args[0].Dtype == tile.Int32:
		stored = lying(inMemory[int32](c, of.Args[0], tile.Int32), rows.Int32s)
	default:
		stored = lying(inMemory[uint16](c, of, tile.BFloat16), rows.BFloat16s)
	}
	if stored == nil {
		return nil
	}
	loads, forAll := c.step.Loads, plan.OneRow(of) && !plan.OneColumn(of)
	l := &link{shuffle: order, lanes: c.floats(e), find: stored}
	if forAll {
		of = of.Args[0]
	}
	load, start := columnsOf(of)
	if load == nil {
		return l
	}
	r := c.plan.Number(load.Ref)
	if !c.plan.IsAlone(r) { // rows that are read as they lie need not be widened
		c.step.Loads = loads
	}
	l.find = func(w *plan.Frame, row, col, count, n int) operand {
		x, last, step := &w.Wide[r], row+count-1, 4*w.Wide[r].LD
		if forAll {
			row, last, step = 0, 0, 0
		}
		if x.Holds(row) && x.Holds(last) && start+col+n <= w.Places[r].Cols {
			return operand{unsafe.Pointer(unsafe.SliceData(x.Row(row, start+col, n))), step, rows.Float32s}
		}
		return stored(w, row, col, count, n)
	}
	return l
}

// bind has the operations of x, up to where it is in hand, know where their operands are, and
// returns how many there are; 0 if operands are not all there, and too many for vectors.
func (x *chain) bind(w *plan.Frame, row, col, count, n int) int {
	c, next := &w.Chained[x.of], x.asks(w, count, n)
	lanes := count*n <= plan.VectorLanes && (count == 1 || count <= x.rows && n == x.width)
	for i := range x.links {
		l := &x.links[i]
		of, order := operand{}, l.shuffle
		if l.find != nil {
			of = l.find(w, row, col, count, n)
		}
		switch {
		case of.at != nil:
		case l.lanes != nil && lanes:
			of, order = operand{at: unsafe.Pointer(unsafe.SliceData(l.lanes(w, row, col, count*n))), step: 4 * n}, nil
		case l.lanes != nil:
			return 0
		}
		if l.do == rows.Keep {
			of.kind = 0
		}
		c.Do[next], c.At[next], c.Step[next] = l.do+of.kind, of.at, of.step
		if next++; order != nil {
			c.Do[next], c.At[next], c.Step[next] = rows.Shuffle, unsafe.Pointer(order), 0
			next++
		}
	}
	return next
}

// asks begins with operations that ask memory for a part of what comes after this strip.
func (x *chain) asks(w *plan.Frame, count, n int) int {
	c, next := &w.Chained[x.of], 0
	for i := range w.Prefetches {
		b := w.Prefetches[i].Next()
		row := len(b) / count
		if row == 0 || next == asksMost {
			continue
		}
		c.Do[next], c.At[next], c.Step[next] = rows.Ask, unsafe.Pointer(&b[0]), row
		if row > n {
			c.Do[next]++
		}
		if row > 2*n {
			c.Do[next]++
		}
		next++
	}
	return next
}

// A target is where elements go, past the caches if they are to; kept as float32, too, if there is
// a place for that.
type target struct {
	at, kept unsafe.Pointer
	step     int // bytes from row to row of at
	past     bool
}

// do goes over a piece of which some operations are bound.
func (x *chain) do(c *rows.Chain, bound, count, n int, to target) {
	link := func(do rows.Do, at unsafe.Pointer, step int) {
		c.Do[bound], c.At[bound], c.Step[bound] = do, at, step
		bound++
	}
	if to.kept != nil {
		if x.end == rows.StoreBFloat16 {
			link(rows.Round, nil, 0)
		}
		link(rows.StoreFloat32, to.kept, to.step/x.size*4)
	}
	switch {
	case x.end == rows.Sum:
		link(rows.Sum, nil, 0)
		link(rows.TurnSum, to.at, to.step)
	case to.past && uintptr(to.at)%memory.CacheLine == 0 && (count == 1 || to.step%memory.CacheLine == 0):
		link(x.end+1, to.at, to.step)
		link(rows.Turn, nil, 0)
	default:
		link(x.end, to.at, to.step)
		link(rows.Turn, nil, 0)
	}
	x.loops.Chain(c, count, n)
}

// store computes columns col … col+n-1 of count rows, and stores them.
func (x *chain) store(w *plan.Frame, row, col, count, n int, to target) {
	c := &w.Chained[x.of]
	if bound := x.bind(w, row, col, count, n); bound > 0 {
		x.do(c, bound, count, n, to)
		return
	}
	for i := range count {
		for from := 0; from < n; from += plan.VectorLanes {
			m, piece := min(plan.VectorLanes, n-from), to
			piece.at = unsafe.Add(to.at, i*to.step+from*x.size)
			if to.kept != nil {
				piece.kept = unsafe.Add(to.kept, i*to.step/x.size*4+from*4)
			}
			x.do(c, x.bind(w, row+i, col+from, 1, m), 1, m, piece)
		}
	}
}

// sum adds up columns from … to-1 of each of some rows.
func (x *chain) sum(w *plan.Frame, row, from, to int, out []float32) {
	c := &w.Chained[x.of]
	if bound := x.bind(w, row, from, len(out), to-from); bound > 0 {
		x.do(c, bound, len(out), to-from, target{at: unsafe.Pointer(unsafe.SliceData(out)), step: 4})
		return
	}
	for i := range out {
		out[i] = 0
		for col := from; col < to; col += plan.VectorLanes {
			m, piece := min(plan.VectorLanes, to-col), out[i]
			x.do(c, x.bind(w, row+i, col, 1, m), 1, m, target{at: unsafe.Pointer(&out[i])})
			out[i] += piece
		}
	}
}

// sums compiles the sum of each row of e's operand, where that is computed; nil where it is not.
func (c *values) sums(e *tile.Expr) func(w *plan.Frame, row int, out []float32) {
	if e.Dtype != tile.Float32 || !plan.AlongRow(e) || e.Args[0].Op == tile.OpLoad && e.Args[0].Ref.Kind == tile.Scratch {
		return nil
	}
	x, all := c.chain(e.Args[0], rows.Sum, 4, false), width(e.Args[0])
	if x == nil {
		return nil
	}
	c.step.Sums++
	return func(w *plan.Frame, row int, out []float32) { x.sum(w, row, 0, all, out) }
}

// computed is x, which has some columns, in a vector.
func (c *values) computed(x *chain, width int) plan.Lanes[float32] {
	return lanes(c, func(w *plan.Frame, row, col int, out []float32) {
		count, n := 1, len(out)
		if n > width { // stacked
			count, n = n/width, width
		}
		x.store(w, row, col, count, n, target{at: unsafe.Pointer(unsafe.SliceData(out)), step: 4 * n})
	})
}

// stored compiles a store of e to columns of the destination, of dtype d, for at most so many rows
// in one call; nil where e is a vector, unless those are wanted, too.
func (c *values) stored(e *tile.Expr, begin int, d tile.Dtype, past, vectors bool) (write rowsWriter, atOnce int) {
	end := rows.StoreFloat32
	if d == tile.BFloat16 {
		end = rows.StoreBFloat16
	}
	x := c.chain(e, end, d.Bits()/8, vectors)
	if x == nil {
		return nil, 0
	}
	atOnce = rowsAtOnce
	if slices.ContainsFunc(x.links, func(l link) bool { return l.find == nil && l.lanes != nil }) {
		atOnce = x.rows
	}
	r := c.step.Dst
	ld := c.plan.Refs[r].LD
	return func(w *plan.Frame, row, col, count, n int) {
		first, last := max(col-begin, 0), min(col+n-begin, x.width)
		if n = last - first; n > 0 {
			at := (w.Places[r].Off + row*ld + begin + first) * x.size
			_ = w.Data[r][at+((count-1)*ld+n)*x.size-1]
			to := target{at: unsafe.Pointer(&w.Data[r][at]), step: ld * x.size, past: past}
			if c.step.Keeps {
				to.kept = unsafe.Pointer(&w.Wide[r].Row(row, first, n)[0])
			}
			x.store(w, row, first, count, n, to)
		}
	}, atOnce
}

// shuffled sees e, which chooses and moves columns, as those of one load in an order that is the
// same for each eight, perhaps negated; or as it is.
func shuffled(e *tile.Expr) (*tile.Expr, *rows.Order) {
	if e.Op != tile.OpSelect && e.Op != tile.OpConcat || len(e.Shape) == 0 {
		return e, nil
	}
	var order rows.Order
	var load *tile.Expr
	start := 0
	for j := range width(e) {
		from, col, sign := origin(e, j)
		if from == nil {
			return e, nil
		}
		if col -= j &^ 7; j == 0 {
			load, start = from, col&^7
		}
		place := uint32(col - start)
		if j < 8 {
			order.At[j], order.At[j+8], order.Bits[j], order.Bits[j+8] = place, place+8, sign, sign
		}
		if from != load || col < start || place > 7 || j&^7+int(place) >= width(e) || order.At[j%8] != place || order.Bits[j%8] != sign {
			return e, nil
		}
	}
	of := *e
	of.Op, of.Dim, of.Index, of.Args, of.Dtype = tile.OpSlice, len(e.Shape)-1, tile.Const(start), []*tile.Expr{load}, load.Dtype
	return &of, &order
}

// origin is the load and the column of it that column j of e is, and the bit that differs; no load
// if e computes anything.
func origin(e *tile.Expr, j int) (load *tile.Expr, col int, sign uint32) {
	switch e.Op {
	case tile.OpLoad:
		return e, j, 0
	case tile.OpCast:
		if e.Dtype == tile.Float32 && e.Args[0].Dtype == tile.BFloat16 {
			return origin(e.Args[0], j)
		}
	case tile.OpNeg:
		load, col, sign = origin(e.Args[0], j)
		return load, col, sign ^ 1<<31
	case tile.OpSlice:
		if from, ok := e.Index.(tile.Const); ok && e.Dim == len(e.Shape)-1 {
			return origin(e.Args[0], j+int(from))
		}
	case tile.OpConcat:
		for i := 0; e.Dim == len(e.Shape)-1 && i < len(e.Args); i++ {
			if j < width(e.Args[i]) {
				return origin(e.Args[i], j)
			}
			j -= width(e.Args[i])
		}
	case tile.OpSelect:
		if v, ok := ofColumn(e.Args[0], j); ok {
			return origin(e.Args[2-int(v)], j)
		}
	}
	return nil, 0, 0
}

// ofColumn is what e is in column j, if that is the same in all rows, programs and launches.
func ofColumn(e *tile.Expr, j int) (float64, bool) {
	var args [2]float64
	for i, x := range e.Args {
		v, ok := ofColumn(x, j)
		if i > 1 || !ok || x.Dtype == tile.Bool {
			return 0, false
		}
		args[i] = v
	}
	switch e.Op {
	case tile.OpConst:
		return e.Dtype.Round(e.Value), true
	case tile.OpIota:
		return float64(j), e.Dim == len(e.Shape)-1
	case tile.OpCast, tile.OpBroadcast:
		return e.Dtype.Round(args[0]), true
	case tile.OpMul:
		return e.Dtype.Round(args[0] * args[1]), true
	case tile.OpRoundEven:
		return math.RoundToEven(args[0]), true
	case tile.OpCompare:
		return float64(oneIf(e.Cmp.Holds(args[0], args[1]))), true
	}
	return 0, false
}

// sameValue reports whether two values are the same one, or load the same ref.
func sameValue(x, y *tile.Expr) bool {
	return x == y || x.Op == tile.OpLoad && y.Op == tile.OpLoad && x.Ref == y.Ref
}
