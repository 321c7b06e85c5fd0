package mosaic_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/lower/internal/lowertest"
)

// val is a value of the text: a vector or scalar (data), or memory (buffer).
type val struct {
	typ  string
	data []float64
	mem  *buffer
}

// buffer is memory of one type. Floats that nobody wrote are NaN, integers some
// number that is easily told from a result.
type buffer struct {
	typed
	data []float64

	arg  int     // of the kernel, that it is; 0 of a part, whose
	part *buffer // that it is a part of; nil of a whole
	lo   []int   // where the part begins
}

func newBuffer(t typed) *buffer {
	b := &buffer{typed: t, data: make([]float64, elements(t.dims))}
	b.poison()
	return b
}

func (b *buffer) poison() {
	for i := range b.data {
		b.data[i] = lowertest.Junk(b.elem)
	}
}

func elements(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// simulator runs one kernel as its text says.
type simulator struct {
	kernel    *operation
	functions map[string]*operation
	values    []*val
	steps     int

	args    []*val
	device  int
	mesh    *mesh
	barrier *buffer
}

// array is an operand or result of a kernel.
type array struct {
	elem string
	dims []int
	data []float64
}

// window is a block of an array, and which block it holds.
type window struct {
	*buffer
	array     *array
	transform *operation
	at        []int
	out       bool
}

// load reads the text of a kernel.
func load(text string) (*simulator, error) {
	ops, err := parse(text)
	if err != nil {
		return nil, err
	}
	m := &simulator{functions: map[string]*operation{}}
	for _, f := range ops {
		name := strings.Trim(f.attrs["sym_name"], `"`)
		if m.functions[name] != nil {
			return nil, fmt.Errorf("two functions %s", name)
		}
		m.functions[name] = f
		if f.attrs["tpu.core_type"] != "" {
			m.kernel = f
		}
	}
	return m, nil
}

// run runs the kernel over its grid: operands are tables, then inputs.
func (m *simulator) run(ctx context.Context, operands, results []*array) (err error) {
	var at string
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", at, p)
		}
	}()
	f := m.kernel
	grid := integers(f.attrs["iteration_bounds"])
	for d, n := range grid { // what the call gives comes before all else
		if n == math.MinInt64 {
			if operands[0].elem != "i32" || len(operands[0].dims) != 0 {
				return fmt.Errorf("bound of dimension %d is %v %s", d, operands[0].dims, operands[0].elem)
			}
			grid[d], operands = int(operands[0].data[0]), operands[1:]
		}
	}
	semantics := strings.Split(f.attrs["dimension_semantics"], ",")
	body := f.regions[0]
	prefetch, scratch := integers(f.attrs["scalar_prefetch"])[0], integers(f.attrs["scratch_operands"])[0]
	if want := len(grid) + len(operands) + len(results) + scratch; len(body.args) != want {
		return fmt.Errorf("the kernel takes %d arguments, there are %d", len(body.args), want)
	}
	if f.attrs["function_type"] != "("+strings.Join(body.types, ", ")+") -> ()" {
		return fmt.Errorf("function_type is not that of the arguments")
	}
	args := make([]*val, len(body.args))
	for i, t := range body.types[len(grid):] {
		typ := parseType(t)
		args[len(grid)+i] = &val{typ: t, mem: newBuffer(typ)}
	}
	for i, table := range operands[:prefetch] {
		args[len(grid)+i].mem.data = table.data
	}
	arrays := append(slices.Clone(operands[prefetch:]), results...)
	windows := make([]*window, len(arrays))
	params := strings.Split(strings.Trim(f.attrs["window_params"], "[]"), "}, {")
	m.args = args
	for i, a := range args {
		if a != nil {
			a.mem.arg = i
		}
	}
	for i, a := range arrays {
		b := args[len(grid)+prefetch+i].mem
		if a.elem != b.elem || len(a.dims) != len(b.dims) {
			return fmt.Errorf("array %d is %v %s, its block %v %s", i, a.dims, a.elem, b.dims, b.elem)
		}
		windows[i] = &window{buffer: b, array: a, out: i >= len(arrays)-len(results)}
		if len(grid) > 0 && strings.Trim(params[i], "{}") == "" { // stays where it is
			if b.data = a.data; !slices.Equal(a.dims, b.dims) {
				return fmt.Errorf("array %d is %v, its memory %v", i, a.dims, b.dims)
			}
			windows[i] = nil
			continue
		}
		if len(grid) == 0 {
			if !slices.Equal(a.dims, b.dims) {
				return fmt.Errorf("array %d is %v, its memory %v", i, a.dims, b.dims)
			}
			continue
		}
		_, param, _ := strings.Cut(params[i], "transform_indices = @")
		name, bounds, _ := strings.Cut(param, ", window_bounds = ")
		windows[i].transform = m.functions[strings.Trim(name, `"`)]
		if !slices.Equal(integers(strings.TrimRight(bounds, "{}[], ")), b.dims) {
			return fmt.Errorf("window_bounds of array %d are not those of its memory", i)
		}
	}
	reversed, before := make([]int, len(grid)), []int(nil)
	for _, ids := range points(grid) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at = fmt.Sprintf("program %v", ids)
		// Parallel programs may run in any order: here backwards.
		parallel := []int{}
		for d, n := range grid {
			reversed[d] = ids[d]
			if strings.Contains(semantics[d], "parallel") {
				reversed[d] = n - 1 - ids[d]
				parallel = append(parallel, ids[d])
			}
			args[d] = &val{typ: "i32", data: []float64{float64(reversed[d])}}
		}
		if before == nil || !slices.Equal(parallel, before) {
			for _, s := range args[len(args)-scratch:] {
				if !isSemaphore(s.mem.elem) {
					s.mem.poison()
				} else if before == nil {
					clear(s.mem.data)
				} else if err := m.zero(s.mem); err != nil {
					return err
				}
			}
			before = parallel
		}
		for _, w := range windows {
			if w == nil {
				continue
			}
			index := make([]int, len(w.array.dims))
			if w.transform != nil {
				got := m.call(w.transform, args[:len(grid)+prefetch])
				for d := range index {
					index[d] = int(got[d].data[0])
				}
			}
			w.move(index)
		}
		m.call(f, args)
		m.steps++
	}
	for _, w := range windows {
		if w != nil {
			w.move(nil)
		}
	}
	for _, s := range args[len(args)-scratch:] {
		if err := m.zero(s.mem); err != nil {
			return err
		}
	}
	return nil
}

// points are the programs of a grid, the last axis fastest.
func points(grid []int) [][]int {
	all := [][]int{{}}
	for _, n := range grid {
		var next [][]int
		for _, p := range all {
			for i := range n {
				next = append(next, append(slices.Clone(p), i))
			}
		}
		all = next
	}
	return all
}

// move writes back what an output holds and brings in another block; nil is none.
func (w *window) move(index []int) {
	if w.at != nil && slices.Equal(index, w.at) {
		return
	}
	if w.out && w.at != nil {
		w.each(func(inBlock, inArray int) { w.array.data[inArray] = w.data[inBlock] })
	}
	if w.at = index; index == nil {
		return
	}
	for d, n := range w.array.dims {
		if index[d] < 0 || index[d]*w.dims[d] >= n {
			panic(fmt.Sprintf("block %v of an array %v in blocks of %v", index, w.array.dims, w.dims))
		}
	}
	w.poison()
	if !w.out {
		w.each(func(inBlock, inArray int) { w.data[inBlock] = w.array.data[inArray] })
	}
}

// each calls f for the elements of the block that are inside the array.
func (w *window) each(f func(inBlock, inArray int)) {
	for i := range w.data {
		rest, inArray, stride, inside := i, 0, 1, true
		for d := len(w.dims) - 1; d >= 0; d-- {
			c := rest%w.dims[d] + w.at[d]*w.dims[d]
			rest /= w.dims[d]
			inside = inside && c < w.array.dims[d]
			inArray += c * stride
			stride *= w.array.dims[d]
		}
		if inside {
			f(i, inArray)
		}
	}
}

// call runs a function and returns what it returns.
func (m *simulator) call(f *operation, args []*val) []*val {
	m.values = m.values[:0]
	return m.region(f.regions[0], args)
}

// region runs a region. What it defined is gone afterwards.
func (m *simulator) region(g region, args []*val) []*val {
	for i, slot := range g.slots {
		if args[i].typ != g.types[i] {
			panic(fmt.Sprintf("argument %s is %s, not %s", g.args[i], args[i].typ, g.types[i]))
		}
		m.set(slot, args[i])
	}
	var returned []*val
	for _, op := range g.ops {
		ins := make([]*val, len(op.slots))
		for i, slot := range op.slots {
			if slot >= len(m.values) || m.values[slot] == nil {
				panic(fmt.Sprintf("line %d: %s is not known here", op.line, op.operands[i]))
			}
			if ins[i] = m.values[slot]; ins[i].typ != op.from[i] {
				panic(fmt.Sprintf("line %d: %s is %s, not %s", op.line, op.operands[i], ins[i].typ, op.from[i]))
			}
		}
		switch op.name {
		case "func.return", "scf.yield":
			returned = ins
		case "scf.if":
			m.region(op.regions[1-int(ins[0].data[0])], nil)
		case "scf.for":
			for i := ins[0].data[0]; i < ins[1].data[0]; i += ins[2].data[0] {
				m.region(op.regions[0], []*val{{typ: "i32", data: []float64{i}}})
			}
		default:
			v := m.apply(op, ins)
			if op.slot >= 0 {
				v.typ = op.to[0]
				if t := parseType(v.typ); !t.memref && len(v.data) != elements(t.dims) {
					panic(fmt.Sprintf("line %d: %s gives %d elements, its type is %s", op.line, op.name, len(v.data), v.typ))
				}
				m.set(op.slot, v)
			}
		}
	}
	for _, op := range g.ops {
		if op.slot >= 0 {
			m.values[op.slot] = nil
		}
	}
	for _, slot := range g.slots {
		m.values[slot] = nil
	}
	return returned
}

func (m *simulator) set(slot int, v *val) {
	for slot >= len(m.values) {
		m.values = append(m.values, nil)
	}
	m.values[slot] = v
}
