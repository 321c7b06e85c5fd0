package ttir

import (
	"context"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// machine runs what is kept of a kernel for one program after the other.
type machine struct {
	k      *Kernel
	ctx    context.Context
	args   []value
	values []value
	id     [3]int64
	grid   [3]int64
	ran    int64 // operations
	limit  int64
	inside []*op // loops
	c      *counter
}

// fail ends a reading at an operation.
func (o *op) fail(format string, args ...any) {
	panic(refusal{&UnsupportedError{o.line, fmt.Sprintf(format, args...)}})
}

// program runs one program.
func (m *machine) program(id int64) (err error) {
	defer refused(&err)
	m.id = [3]int64{id % m.grid[0], id / m.grid[0] % m.grid[1], id / m.grid[0] / m.grid[1]}
	copy(m.values, m.args)
	m.c.begin(0)
	m.run(m.k.body)
	m.c.end()
	return nil
}

// run runs a region and returns what it yields.
func (m *machine) run(ops []*op) (yields []int) {
	for _, o := range ops {
		before := m.ran
		m.ran += o.cost
		if m.ran>>12 != before>>12 && m.ctx.Err() != nil {
			panic(refusal{m.ctx.Err()})
		}
		m.within(o)
		switch o.name {
		case "scf.yield":
			return o.args
		case "scf.for":
			m.loop(o)
		case "scf.if":
			m.branch(o)
		case "tt.dot":
			m.c.dots[o]++
		case "tt.load", "tt.descriptor_load", "tt.store", "tt.descriptor_store", "tt.descriptor_reduce", "tt.atomic_rmw":
			m.transfer(o)
			for _, s := range o.results {
				m.values[s] = fromData(o.line)
			}
		default:
			for _, s := range o.results {
				m.values[s] = m.value(o)
			}
		}
	}
	return nil
}

// within ends what one program has done too much of.
func (m *machine) within(o *op) {
	if m.ran > m.limit {
		o.fail("one program does more than %d operations, which is too long to follow", m.limit)
	}
}

// why says what a value that is not known came from.
func (m *machine) why(slot int) string {
	if at := m.values[slot].from; at > 0 {
		return fmt.Sprintf("what line %d gives, which only a run tells", at)
	}
	return "what only a run tells"
}

func (m *machine) loop(o *op) {
	var bounds [3]int64
	for i, s := range o.args[:3] {
		if !m.values[s].uniform() {
			o.fail("how often the loop runs depends on %s", m.why(s))
		}
		bounds[i] = m.values[s].c
	}
	if bounds[2] <= 0 {
		o.fail("the step of the loop is %d", bounds[2])
	}
	carried := each.Of(o.args[3:], func(s int) value { return m.values[s] })
	m.inside = append(m.inside, o)
	defer func() { m.inside = m.inside[:len(m.inside)-1] }()
	for i, round := bounds[0], 0; i < bounds[1]; i, round = i+bounds[2], round+1 {
		m.ran++ // of a body without operations too
		m.within(o)
		if o.tile && round > 0 {
			m.c.begin(round)
		}
		if o.step {
			m.c.step(o)
		}
		m.values[o.blockArg[0]] = num(i)
		for j, v := range carried {
			m.values[o.blockArg[j+1]] = v
		}
		for j, s := range m.run(o.regions[0]) {
			if j < len(carried) {
				carried[j] = m.values[s]
			}
		}
	}
	for i, s := range o.results {
		if i < len(carried) {
			m.values[s] = carried[i]
		}
	}
}

func (m *machine) branch(o *op) {
	cond := m.values[o.args[0]]
	if !cond.uniform() {
		if o.acts {
			o.fail("whether this is done depends on %s", m.why(o.args[0]))
		}
		for _, s := range o.results {
			m.values[s] = fromData(o.line)
		}
		return
	}
	region := o.regions[0]
	if cond.c == 0 {
		region = o.regions[1]
	}
	yields := m.run(region)
	for i, s := range o.results {
		if i < len(yields) {
			m.values[s] = m.values[yields[i]]
		}
	}
}

var (
	startText = regexp.MustCompile(`start = (-?\d+)`)
	axisText  = regexp.MustCompile(`axis = (\d+)`)
	orderText = regexp.MustCompile(`order = (?:array<i32: ([\d, ]+)>|\[([\d, ]+)\])`)
)

// value is the result of an operation that only computes.
func (m *machine) value(o *op) value {
	arg := func(i int) value { return m.values[o.args[i]] }
	var shape []int
	if len(o.to) > 0 {
		shape = o.to[len(o.to)-1].dims
	}
	switch o.name {
	case "arith.constant":
		text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(o.text), "dense<"), ">")
		switch text {
		case "true", "false":
			return num(int64(len("false") - len(text)))
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return num(n)
		}
	case "tt.get_program_id":
		return num(m.id[axisOf(o.text)])
	case "tt.get_num_programs":
		return num(m.grid[axisOf(o.text)])
	case "tt.make_range":
		v := value{kind: number}
		if found := startText.FindStringSubmatch(o.text); found != nil {
			v.c, _ = strconv.ParseInt(found[1], 10, 32)
		}
		if len(shape) == 1 && shape[0] > 1 {
			v.dims = []vector{{step: 1}}
		}
		return v
	case "tt.splat", "tt.broadcast", "tt.unsplat", "arith.extsi", "arith.trunci", "arith.index_cast":
		return arg(0)
	case "arith.extui":
		return flat(arg(0))
	case "tt.expand_dims":
		if at := axisText.FindStringSubmatch(o.text); at != nil {
			axis, _ := strconv.Atoi(at[1])
			return moved(arg(0), len(shape), func(d int) int {
				if d >= axis {
					return d + 1
				}
				return d
			})
		}
	case "tt.trans":
		if found := orderText.FindStringSubmatch(o.text); found != nil {
			order := strings.Split(strings.ReplaceAll(found[1]+found[2], " ", ""), ",")
			return moved(arg(0), len(shape), func(d int) int { return slices.Index(order, strconv.Itoa(d)) })
		}
	case "tt.reshape":
		if v, ok := reshaped(arg(0), o.from[0].dims, shape); ok && v.kind != mask {
			return v
		}
	case "tt.addptr":
		p, by := arg(0), arg(1)
		switch {
		case p.kind == pointer && by.kind == number:
			return sum(p, by, 1)
		case p.kind == pointer:
			return value{kind: pointer, base: p.base, lost: true, from: by.from}
		}
	case "tt.make_tensor_descriptor":
		if v, ok := m.descriptor(o); ok {
			return v
		}
	case "arith.select":
		if v, ok := chosen(arg(0), arg(1), arg(2), shape); ok {
			return v
		}
	case "arith.cmpi":
		predicate, _, _ := strings.Cut(o.text, ",")
		if f := comparisons[strings.TrimSpace(predicate)]; f != nil {
			if v, ok := byElement(arg(0), arg(1), shape, func(a, b int64) (int64, bool) { return truth(f(a, b)), true }); ok {
				return asMask(v)
			}
		}
	default:
		if len(o.args) == 2 {
			if v, ok := binary(o.name, arg(0), arg(1), shape, len(o.to) > 0 && o.to[0].elem == "i1"); ok {
				return v
			}
		}
	}
	for _, s := range o.args {
		if v := m.values[s]; v.kind == unknown && v.from > 0 {
			return fromData(v.from)
		}
	}
	return fromData(o.line)
}

// descriptor is an array as a kernel describes it: base, sizes, strides.
func (m *machine) descriptor(o *op) (value, bool) {
	base := m.values[o.args[0]]
	if base.kind != pointer || base.dims != nil || base.lost || len(o.args)%2 == 0 {
		return value{}, false
	}
	v := value{kind: descriptor, base: base.base, c: base.c}
	rank := len(o.args) / 2
	for i, s := range o.args[1:] {
		if !m.values[s].uniform() {
			return value{}, false
		}
		if i < rank {
			v.shape = append(v.shape, m.values[s].c)
		} else {
			v.strides = append(v.strides, m.values[s].c)
		}
	}
	return v, true
}

// transfer counts a load or a store.
func (m *machine) transfer(o *op) {
	at := m.values[o.args[0]]
	t := move{op: o, base: at.base, step: len(m.inside) > 0 && m.inside[len(m.inside)-1].step}
	switch at.kind {
	case pointer:
		shape := o.from
		if o.loads() && len(shape) == 0 {
			shape = o.to
		}
		if len(shape) == 0 {
			o.fail("%s without a type", o.name)
		}
		t.bits = Bits(shape[0].pointee())
		holds := num(1)
		if where := 1 + int(truth(o.stores())); len(o.args) > where {
			holds = m.values[o.args[where]]
		}
		if holds.kind == unknown || at.lost {
			t.maybe, t.lost = holds.kind == unknown, at.lost
			if t.line = holds.from; at.lost {
				t.line = at.from
			}
			holds = num(1)
		}
		if holds.uniform() && holds.c == 0 {
			return
		}
		if at.lost {
			t.elements = shape[0].elements()
			break
		}
		t.low, t.high, t.elements = span(at, flatMask(holds), shape[0].dims)
	case descriptor:
		types := append(slices.Clone(o.from), o.to...)
		box := types[0]
		t.bits = Bits(box.elem)
		t.low, t.high, t.elements = at.c, at.c, 1
		offsets := o.args[1:]
		if o.stores() {
			offsets = offsets[:len(offsets)-1]
		}
		if len(offsets) != len(at.shape) || len(box.dims) != len(at.shape) {
			o.fail("%d offsets into an array of %d dimensions", len(offsets), len(at.shape))
		}
		for d, s := range offsets {
			from := m.values[s]
			if !from.uniform() {
				o.fail("where this is depends on %s", m.why(s))
			}
			first, last := max(0, from.c), min(at.shape[d], from.c+int64(box.dims[d]))
			if last <= first {
				return
			}
			t.elements *= last - first
			t.low += first * at.strides[d]
			t.high += (last - 1) * at.strides[d]
		}
	default:
		o.fail("which array this is depends on %s", m.why(o.args[0]))
	}
	if t.bits == 0 {
		o.fail("a transfer of elements whose size is not known")
	}
	if t.elements > 0 {
		m.c.move(t)
	}
}

// flatMask is a mask that holds everywhere as 1.
func flatMask(v value) value {
	if v.kind == mask && v.along() == -1 {
		return num(1)
	}
	return v
}

// Bits is how many bits an element takes in memory, 0 if that is not known.
func Bits(elem string) int64 {
	if strings.HasPrefix(elem, "!tt.ptr") {
		return 64
	}
	if elem == "i1" {
		return 8
	}
	rest := strings.TrimLeft(elem, "bfiu")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(rest[:end], 10, 16)
	if bits.OnesCount64(uint64(n)) != 1 || n > 64 {
		return 0
	}
	return n
}
