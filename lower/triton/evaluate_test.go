package triton_test

import (
	"context"
	"fmt"

	"matladder/lower/internal/lowertest"
)

// val is a value of the text: numbers, or places in an array.
type val struct {
	typ   string
	data  []float64
	array *array // of a pointer
}

// array is an operand or result of a kernel. Elements of a result remember which
// program wrote them, and between which barriers of it.
type array struct {
	elem   string
	data   []float64
	result bool
	writer []int
	epoch  []int
}

func newArray(elem string, n int, result bool) *array {
	a := &array{elem: elem, data: make([]float64, n), result: result}
	for i := range a.data {
		a.data[i] = lowertest.Junk(elem)
	}
	if result {
		a.writer, a.epoch = make([]int, n), make([]int, n)
	}
	return a
}

// simulator runs one program of a kernel as its text says.
type simulator struct {
	*function
	vals  []*val
	id    int // of the program, from 1 on
	epoch int // counts barriers
	op    *operation
}

// run runs a grid of programs, backwards: they may run in any order.
func (f *function) run(ctx context.Context, programs int, operands, results []*array) (err error) {
	m := &simulator{function: f}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("program %d, line %d: %v", m.id-1, m.op.line, p)
		}
	}()
	arrays := append(append([]*array(nil), operands...), results...)
	if len(arrays) != len(f.params) {
		return fmt.Errorf("the kernel takes %d arguments, there are %d", len(f.params), len(arrays))
	}
	for m.id = programs; m.id > 0; m.id-- {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.vals, m.epoch = make([]*val, f.values), 0
		for i, a := range arrays {
			if f.params[i] != "!tt.ptr<"+a.elem+">" {
				return fmt.Errorf("argument %d is %s, the array %s", i, f.params[i], a.elem)
			}
			m.vals[f.slots[i]] = &val{typ: f.params[i], data: []float64{0}, array: a}
		}
		m.region(f.body)
	}
	return nil
}

// region runs operations and returns what they yield.
func (m *simulator) region(ops []*operation) (yielded []*val) {
	for _, op := range ops {
		m.op = op
		ins := make([]*val, len(op.operands))
		for i, slot := range op.operands {
			ins[i] = m.vals[slot]
		}
		switch op.name {
		case "scf.yield":
			return ins
		case "scf.if":
			var out []*val
			if ins[0].data[0] != 0 {
				out = m.region(op.regions[0])
			} else if len(op.regions) > 1 {
				out = m.region(op.regions[1])
			}
			m.set(op, out)
		case "scf.for":
			carried := ins[3:]
			for i := ins[0].data[0]; i < ins[1].data[0]; i += ins[2].data[0] {
				m.vals[op.args[0]] = &val{typ: "i32", data: []float64{i}}
				for j, v := range carried {
					m.vals[op.args[1+j]] = v
				}
				carried = m.region(op.regions[0])
				m.op = op
			}
			m.set(op, carried)
		default:
			m.set(op, m.apply(op, ins))
		}
	}
	return nil
}

func (m *simulator) set(op *operation, out []*val) {
	m.op = op
	if len(out) != len(op.results) {
		panic(fmt.Sprintf("%s gives %d values for %d results", op.name, len(out), len(op.results)))
	}
	for i, slot := range op.results {
		v := *out[i]
		v.typ = op.to[i]
		if n := elements(parseType(v.typ).dims); len(v.data) != n {
			panic(fmt.Sprintf("%s gives %d elements, its type is %s", op.name, len(v.data), v.typ))
		}
		m.vals[slot] = &v
	}
}

// load reads where the mask says so; what it reads of a result, this program has
// written, before the last barrier.
func (m *simulator) load(ins []*val) *val {
	p := ins[0]
	v := &val{data: make([]float64, len(p.data))}
	for i, at := range p.data {
		if len(ins) > 1 && ins[1].data[i] == 0 {
			v.data[i] = lowertest.Junk(p.array.elem)
			if len(ins) > 2 {
				v.data[i] = ins[2].data[i]
			}
			continue
		}
		n := m.place(p.array, at)
		if p.array.result {
			switch {
			case p.array.writer[n] != m.id:
				panic(fmt.Sprintf("element %d is read by a program that did not write it (%d)", n, p.array.writer[n]-1))
			case p.array.epoch[n] == m.epoch:
				panic(fmt.Sprintf("element %d is read without a barrier behind its store", n))
			}
		}
		v.data[i] = p.array.data[n]
	}
	return v
}

func (m *simulator) place(a *array, at float64) int {
	if at < 0 || at >= float64(len(a.data)) {
		panic(fmt.Sprintf("element %v of an array of %d", at, len(a.data)))
	}
	return int(at)
}

// store writes where the mask says so. No two programs write one element, and of
// one store no two threads write different values.
func (m *simulator) store(ins []*val) {
	p := ins[0]
	for i, at := range p.data {
		if len(ins) > 2 && ins[2].data[i] == 0 {
			continue
		}
		n := m.place(p.array, at)
		if !p.array.result {
			panic("a store to an operand")
		}
		if w := p.array.writer[n]; w != 0 && w != m.id {
			panic(fmt.Sprintf("element %d is written by programs %d and %d", n, w-1, m.id-1))
		}
		p.array.data[n], p.array.writer[n], p.array.epoch[n] = ins[1].data[i], m.id, m.epoch
	}
}
