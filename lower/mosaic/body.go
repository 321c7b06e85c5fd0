package mosaic

import (
	"fmt"

	"matladder/internal/each"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// unrolled is up to how many repetitions a Loop is written out: each then has
// slices at places that the compiler knows.
const unrolled = 64

// body writes statements.
func (k *kernel) body(body []*tile.Stmt) {
	for i, s := range body {
		k.Pos = s.Pos
		if Begins(body, i) || i > 0 && Ends(body, i-1) {
			continue
		}
		if i > 0 && Begins(body, i-1) {
			k.begin = body[i-1]
		}
		if Ends(body, i) {
			k.sum(s, body[i+1])
			continue
		}
		switch s.Kind {
		case tile.When:
			k.when(s)
		case tile.Loop:
			k.loop(s)
		case tile.Start, tile.Wait, tile.WaitSent:
			k.copy(s)
		case tile.Signal:
			k.signal(s.Signal)
		case tile.Await:
			k.await(s)
		default:
			k.statement(s)
		}
		k.begin = nil
	}
}

func (k *kernel) when(s *tile.Stmt) {
	c := k.Cond(s.Cond)
	if _, known := c.Known(); !known {
		k.Line("// when %s", s.Cond)
		k.branch(c, func() { k.body(s.Body) }, func() {})
	} else if c.Is(1) {
		k.body(s.Body)
	}
}

// sum writes a statement that adds to a sum and the next one, which ends it in some steps.
func (k *kernel) sum(s, end *tile.Stmt) {
	begin, last := k.begin, k.Cond(end.Cond)
	add := func() {
		k.begin = begin
		k.statement(s)
		k.begin = nil
	}
	if _, known := last.Known(); known {
		add()
		k.when(end)
		return
	}
	k.Line("// when %s", end.Cond)
	k.branch(last, func() {
		add()
		k.body(end.Body)
	}, add)
}

func (k *kernel) loop(s *tile.Stmt) {
	if s.Axis.Size <= unrolled {
		for i := range s.Axis.Size {
			k.Line("// %s = %d", s.Axis.Name, i)
			k.ids[s.Axis] = k.Int(i)
			k.body(s.Body)
		}
		return
	}
	k.Line("// for %s in range(%d)", s.Axis.Name, s.Axis.Size)
	k.repeat(s.Axis, func() { k.body(s.Body) })
}

// Begins reports whether statement i of a body is written as part of the next one: a
// Fill in some steps of what the next one adds to in all. The sum then begins with the
// Fill's value there, chosen element by element, and memory is not filled first. That
// saves 4 % of the cycles of bfloat16 blocks of 512³ on v5e, 5 % on v6e. Of an output,
// which is widened first, it would cost more than it saves, and so it does of large sums
// of short products: 21 % of bfloat16 blocks of 1664×128×1664 on v7x.
func Begins(body []*tile.Stmt, i int) bool {
	if i+1 >= len(body) || body[i].Kind != tile.When || len(body[i].Body) != 1 {
		return false
	}
	fill, sum := body[i].Body[0], body[i+1]
	return fill.Kind == tile.Fill && fill.From == nil && sum.From == nil && fill.Ref.Kind == tile.Scratch && sum.Kind == tile.Accumulate && sum.Ref == fill.Ref && !tile.Loads(sum.Value, fill.Ref) && !short(sum)
}

// Ends reports whether statement i of a body and the next one are written as two regions:
// a product added to a sum together with what is done in the last step, and the product
// alone in all others. What begins another sum ends none. The compiler schedules a region at a time, so that the end of a sum
// runs beside its last product. That saves 3 % of the cycles of bfloat16 blocks of
// 1024×512×1024 on v6e and v7x, 1 % of 1024³. Small blocks gain nothing, and of very large
// ones the second copy takes the compiler minutes.
func Ends(body []*tile.Stmt, i int) bool {
	if i+1 >= len(body) || body[i].Kind != tile.Accumulate || body[i].From != nil || body[i+1].Kind != tile.When || Begins(body, i+1) {
		return false
	}
	const most = 1 << 30
	fits, ragged := false, false
	tile.WalkExpr(body[i].Value, func(e *tile.Expr) {
		if e.Op == tile.OpDot {
			n := tile.Elements(e.Shape)
			fits = n > large && n*int64(e.Depth()) <= most
		}
		for dim := range e.Shape {
			ragged = ragged || e.Ref != nil && e.Ref.Partial(dim)
		}
	})
	return fits && !ragged
}

// large is more elements than a sum has of which little is to be gained.
const large = 512 * 512

// short reports whether a sum is large and the products that go into it are short.
func short(sum *tile.Stmt) (is bool) {
	tile.WalkExpr(sum.Value, func(e *tile.Expr) {
		is = is || e.Op == tile.OpDot && tile.Elements(e.Shape) > large && e.Depth() < 512
	})
	return is
}

// Conditional are the parts of all steps in which regions of their own run that a body
// is written with, of those in which its conditions hold (model.Work's Shares).
func Conditional(body []*tile.Stmt, shares []float64) []float64 {
	var own []float64
	for i, s := range body {
		if s.Kind != tile.When || len(shares) == 0 {
			continue
		}
		if !Begins(body, i) {
			own = append(own, shares[0])
		}
		if i > 0 && Ends(body, i-1) {
			own = append(own, 1-shares[0])
		}
		shares = shares[1:]
	}
	return own
}

// statement writes a Fill, Store or Accumulate. If it has a Dot whose blocks end
// inside their arrays in most programs, it is written twice: masked for the
// programs at the end, and plain for all others.
func (k *kernel) statement(s *tile.Stmt) {
	k.Line("// %s %s", s.Kind, s.Ref.Name)
	masked := func(masking bool) func() {
		return func() {
			k.masking = masking
			k.write(s)
		}
	}
	full := k.noPadding(s.Value)
	if _, known := full.Known(); known {
		masked(full.Is(0))()
		return
	}
	k.branch(full, masked(false), masked(true))
}

// write evaluates a statement's value and puts it into memory.
func (k *kernel) write(s *tile.Stmt) {
	k.loads = map[*tile.Ref]value{}
	k.Forget()
	e := s.Value
	var v value
	switch {
	case s.Kind != tile.Accumulate:
		if v = k.Expr(e); s.IsPart() {
			v = k.inRows(s, v)
		}
	case e.Op == tile.OpDot && e.Args[0].Dtype != tile.Float32 && e.Dtype == tile.Float32 && s.Ref.Dtype == e.Dtype:
		// The matrix unit starts from what is there. Of bfloat16 blocks of 512³ on v5e this takes 5
		// % fewer cycles than a sum afterwards. Of float32 blocks, of int8 ones on v7x (by 10 %),
		// or where what is there must be widened first, it takes more: tools/pallasref compares.
		v = k.dot(e, k.sumSoFar(s.Ref))
	default:
		to := k.block(s.Ref).Of(mlir.Working(s.Ref.Dtype))
		v = k.Add(k.Wide(k.sumSoFar(s.Ref), s.Ref.Dtype), k.Vector(k.Wide(k.Expr(e), e.Dtype), to))
	}
	k.store(s.Ref, v)
}

// inRows is v in the rows that a store is of, and what is there in the others. Counted from
// the first of these, one comparison of unsigned numbers tells them: with two of signed ones
// bfloat16 blocks of 256×2048×768 take 6 % more cycles on v4.
func (k *kernel) inRows(s *tile.Stmt, v value) value {
	r := s.Ref
	dims := mlir.Physical(r.Shape())
	row := k.iota(len(dims)-len(r.Shape()), dims)
	if from := k.Index(s.From); !from.Is(0) {
		row = k.Apply("arith.subi", row, from)
	}
	rows := tile.AtLeast(tile.Plus(s.To, tile.Times(s.From, -1)), tile.Const(0))
	vs := k.Matched(row, k.Index(rows))
	is := k.Op(vs[0].Of("i1"), "arith.cmpi", "ult", vs...)
	return k.Choose(is, k.Wide(v, r.Dtype), k.Wide(k.load(r), r.Dtype))
}

// sumSoFar is what a statement adds to: the block of r or, in steps in which the sum
// begins, what it was to be filled with.
func (k *kernel) sumSoFar(r *tile.Ref) value {
	if k.begin == nil {
		return k.load(r)
	}
	c := k.Cond(k.begin.Cond)
	if c.Is(0) {
		return k.load(r)
	}
	start := k.Constant(k.block(r), r.Dtype.Round(k.begin.Body[0].Value.Value))
	if c.Is(1) {
		return start
	}
	return k.Choose(c, start, k.load(r))
}

// load reads the whole block of a ref, without its squeezed dimensions.
func (k *kernel) load(r *tile.Ref) value {
	if h, ok := k.held[r]; ok {
		return h.value
	}
	if v, ok := k.loads[r]; ok {
		return v
	}
	shape := r.Shape()
	if k.inLanes(r) {
		shape = k.refs[r].Dims
	}
	v := k.loadFrom(r, nil, shape)
	v.Lanes = k.block(r).Lanes
	if k.loads[r] = v; k.holds(r) {
		k.held[r] = held{value: v}
	}
	return v
}

// loadFrom reads what of a block lies from start on along one dimension of its
// shape; nil is from the beginning.
func (k *kernel) loadFrom(r *tile.Ref, start map[int]value, shape []int) value {
	k.save(r)
	k.read[r] = true
	arg := k.refs[r]
	pad := len(arg.Dims) - len(r.Block)
	at, dims, dim := make([]value, len(arg.Dims)), make([]int, len(arg.Dims)), 0
	for d := range at {
		at[d], dims[d] = k.position(k.Int(0)), arg.Dims[d]
		if d < pad || r.Block[d-pad] == tile.Squeezed {
			continue
		}
		if from, ok := start[dim]; ok {
			at[d] = k.position(from)
		}
		dims[d] = shape[dim]
		dim++
	}
	v := k.Op(shaped{Elem: arg.Elem, Dims: dims}, "vector.load", "", append([]value{arg}, at...)...)
	return k.cast(v, mlir.Physical(shape))
}

// store makes a value, rounded to the ref's dtype, the whole block of a ref.
func (k *kernel) store(r *tile.Ref, v value) {
	v = k.Vector(k.Narrow(v, r.Dtype), k.block(r))
	if k.holds(r) {
		k.held[r] = held{v, true}
		return
	}
	k.put(r, v)
}

// put writes a ref's whole block to memory.
func (k *kernel) put(r *tile.Ref, v value) {
	arg := k.refs[r]
	v = k.cast(v, arg.Dims)
	args := append([]value{v, arg}, each.Of(arg.Dims, func(int) value { return k.position(k.Int(0)) })...)
	k.Do("tpu.vector_store", fmt.Sprintf("operandSegmentSizes = array<i32: 1, 1, %d, 0>, strides = array<i32>", len(arg.Dims)), args...)
}
