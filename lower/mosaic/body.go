package mosaic

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// unrolled is up to how many repetitions a Loop is written out: each then has
// slices at places that the compiler knows.
const unrolled = 64

// body writes statements.
func (k *kernel) body(body []*tile.Stmt) {
	for i, s := range body {
		k.pos = s.Pos
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
		case tile.Tell:
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
	c := k.cond(s.Cond)
	switch {
	case !c.known:
		k.line("// when %s", s.Cond)
		k.branch(c.value, func() { k.body(s.Body) }, nil)
	case c.holds:
		k.body(s.Body)
	}
}

// sum writes a statement that adds to a sum and the next one, which ends it in some steps.
func (k *kernel) sum(s, end *tile.Stmt) {
	begin, last := k.begin, k.cond(end.Cond)
	add := func() {
		k.begin = begin
		k.statement(s)
		k.begin = nil
	}
	if last.known {
		add()
		k.when(end)
		return
	}
	k.line("// when %s", end.Cond)
	k.branch(last.value, func() {
		add()
		k.body(end.Body)
	}, add)
}

func (k *kernel) loop(s *tile.Stmt) {
	if s.Axis.Size <= unrolled {
		for i := range s.Axis.Size {
			k.line("// %s = %d", s.Axis.Name, i)
			k.ids[s.Axis] = knownIndex(i)
			k.body(s.Body)
		}
		return
	}
	k.line("// for %s in range(%d)", s.Axis.Name, s.Axis.Size)
	k.repeat(k.unique(s.Axis.Name), s.Axis.Size, func(i value) {
		k.ids[s.Axis] = index{value: i}
		k.body(s.Body)
	})
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
	return fill.Kind == tile.Fill && fill.From == nil && sum.From == nil && fill.Ref.Kind == tile.Scratch && sum.Kind == tile.Accumulate && sum.Ref == fill.Ref && !reads(sum.Value, fill.Ref) && !short(sum)
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
			fits = n > large && n*int64(depth(e)) <= most
		}
		for dim := range e.Shape {
			ragged = ragged || e.Ref != nil && e.Ref.Overhangs(dim)
		}
	})
	return fits && !ragged
}

// large is more elements than a sum has of which little is to be gained.
const large = 512 * 512

// short reports whether a sum is large and the products that go into it are short.
func short(sum *tile.Stmt) (is bool) {
	tile.WalkExpr(sum.Value, func(e *tile.Expr) {
		is = is || e.Op == tile.OpDot && tile.Elements(e.Shape) > large && depth(e) < 512
	})
	return is
}

// depth is how many products each element of a Dot adds up.
func depth(dot *tile.Expr) int {
	a := dot.Args[0].Shape
	if dot.TransA {
		return a[0]
	}
	return a[1]
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

func reads(e *tile.Expr, r *tile.Ref) (found bool) {
	tile.WalkExpr(e, func(x *tile.Expr) { found = found || x.Ref == r })
	return found
}

// statement writes a Fill, Store or Accumulate. If it has a Dot whose blocks end
// inside their arrays in most programs, it is written twice: masked for the
// programs at the end, and plain for all others.
func (k *kernel) statement(s *tile.Stmt) {
	k.line("// %s %s", s.Kind, s.Ref.Name)
	full := k.noPadding(s.Value)
	if full.known {
		k.masking = !full.holds
		k.write(s)
		return
	}
	k.branch(full.value, func() {
		k.masking = false
		k.write(s)
	}, func() {
		k.masking = true
		k.write(s)
	})
}

// write evaluates a statement's value and puts it into memory.
func (k *kernel) write(s *tile.Stmt) {
	k.loads, k.memo = map[*tile.Ref]value{}, mlir.Memo[value]{}
	e := s.Value
	var v value
	switch {
	case s.Kind != tile.Accumulate:
		if v = k.expr(e); s.IsPart() {
			v = k.inRows(s, v)
		}
	case e.Op == tile.OpDot && e.Args[0].Dtype != tile.Float32 && e.Dtype == tile.Float32 && s.Ref.Dtype == e.Dtype:
		// The matrix unit starts from what is there. Of bfloat16 blocks of 512³ on
		// v5e this takes 5 % fewer cycles than a sum afterwards. Of float32 blocks, of
		// int8 ones on v7x (by 10 %), or where what is there must be widened first, it
		// takes more: tools/pallasref compares.
		v = k.dot(e, k.sumSoFar(s.Ref))
	default:
		to := k.block(s.Ref).of(mlir.Working(s.Ref.Dtype))
		v = k.binary(add(to.elem), k.wide(k.sumSoFar(s.Ref), s.Ref.Dtype), k.vector(k.wide(k.expr(e), e.Dtype), to))
	}
	k.store(s.Ref, v)
}

// inRows is v in the rows that a store is of, and what is there in the others. Counted from
// the first of these, one comparison of unsigned numbers tells them: with two of signed ones
// bfloat16 blocks of 256×2048×768 take 6 % more cycles on v4.
func (k *kernel) inRows(s *tile.Stmt, v value) value {
	r := s.Ref
	dims := physical(r.Shape())
	row := k.iota(len(dims)-len(r.Shape()), dims)
	if from := k.index(s.From); !from.known || from.n != 0 {
		row = k.binary("arith.subi", row, k.number(from))
	}
	rows := tile.AtLeast(tile.Plus(s.To, tile.Times(s.From, -1)), tile.Const(0))
	vs := k.matched(row, k.number(k.index(rows)))
	is := k.op(vs[0].of("i1"), "arith.cmpi", predicate(unsignedLess), vs...)
	return k.choose(is, k.wide(v, r.Dtype), k.wide(k.load(r), r.Dtype))
}

// sumSoFar is what a statement adds to: the block of r or, in steps in which the sum
// begins, what it was to be filled with.
func (k *kernel) sumSoFar(r *tile.Ref) value {
	if k.begin == nil {
		return k.load(r)
	}
	c := k.cond(k.begin.Cond)
	if c.known && !c.holds {
		return k.load(r)
	}
	start := k.constant(k.block(r), r.Dtype.Round(k.begin.Body[0].Value.Value))
	if c.known {
		return start
	}
	return k.choose(c.value, start, k.load(r))
}

func add(elem string) string {
	if elem == "f32" {
		return "arith.addf"
	}
	return "arith.addi"
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
		shape = k.refs[r].dims
	}
	v := k.loadFrom(r, nil, shape)
	v.lanes = k.inLanes(r)
	if k.loads[r] = v; k.holds(r) {
		k.held[r] = held{value: v}
	}
	return v
}

// loadFrom reads what of a block lies from start on along one dimension of its
// shape; nil is from the beginning.
func (k *kernel) loadFrom(r *tile.Ref, start map[int]index, shape []int) value {
	k.save(r)
	k.read[r] = true
	arg := k.refs[r]
	pad := len(arg.dims) - len(r.Block)
	at, dims, dim := make([]value, len(arg.dims)), make([]int, len(arg.dims)), 0
	for d := range at {
		at[d], dims[d] = k.position(knownIndex(0)), arg.dims[d]
		if d < pad || r.Block[d-pad] == tile.Squeezed {
			continue
		}
		if from, ok := start[dim]; ok {
			at[d] = k.position(from)
		}
		dims[d] = shape[dim]
		dim++
	}
	v := k.access(shaped{elem: arg.elem, dims: dims}, arg, at)
	return k.cast(v, physical(shape))
}

func (k *kernel) access(to shaped, arg argument, at []value) value {
	v := value{name: fmt.Sprintf("%%%d", k.next), shaped: to}
	k.next++
	args := append([]value{{name: arg.name}}, at...)
	k.line("%s = %s", v.name, operation("vector.load", "", arg.memory.String()+", "+types(at), to.String(), args...))
	return v
}

// store makes a value, rounded to the ref's dtype, the whole block of a ref.
func (k *kernel) store(r *tile.Ref, v value) {
	v = k.vector(k.narrow(v, r.Dtype), k.block(r))
	if k.holds(r) {
		k.held[r] = held{v, true}
		return
	}
	k.put(r, v)
}

// put writes a ref's whole block to memory.
func (k *kernel) put(r *tile.Ref, v value) {
	arg := k.refs[r]
	v = k.cast(v, arg.dims)
	args := []value{v, {name: arg.name}}
	from := v.shaped.String() + ", " + arg.memory.String()
	for range arg.dims {
		args = append(args, k.position(knownIndex(0)))
		from += ", index"
	}
	k.do("tpu.vector_store", fmt.Sprintf("operandSegmentSizes = array<i32: 1, 1, %d, 0>, strides = array<i32>", len(arg.dims)), from, args...)
}

// cast gives a vector other dimensions of as many elements.
func (k *kernel) cast(v value, dims []int) value {
	to := shaped{elem: v.elem, dims: dims}
	if to.String() == v.shaped.String() {
		return v
	}
	return k.op(to, "vector.shape_cast", "", v)
}
