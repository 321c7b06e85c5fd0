package gomlx

import (
	"context"
	stderrors "errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/pkg/errors"

	"matladder"
)

// Compile cuts the graph, has the Go backend compile the segments, and a program made for
// each different operation between them.
func (b *builder) Compile() (compute.Executable, error) {
	if !b.main.returned {
		return nil, errors.Errorf("matladder: graph %q: Return was not called", b.Name())
	}
	p := planning{builder: b, e: &executable{backend: b.backend, name: b.Name(), constants: map[int]compute.Buffer{}, programs: map[string]*matladder.Program{}},
		slots: map[*node]int{}, level: map[*op]int{}, crosses: map[*node]bool{}}
	if err := p.plan(); err != nil {
		p.e.Finalize()
		return nil, err
	}
	return p.e, nil
}

// planning makes an executable. An operation of the Go backend on level l is part of segment
// l; a task on level l runs behind segment l and ahead of the next.
type planning struct {
	*builder
	e       *executable
	slots   map[*node]int
	ops     []*op // that outputs need, each behind what it reads
	level   map[*op]int
	crosses map[*node]bool // what is read elsewhere than in the segment that makes it
}

func (p *planning) plan() error {
	e, f := p.e, p.main
	e.names = f.names
	for _, n := range f.inputs {
		p.slot(n)
		e.inputs = append(e.inputs, n.shape)
	}
	find := patterns{function: f, uses: map[*node]int{}, seen: map[*op]bool{}}
	for _, n := range f.outputs {
		find.count(n)
	}
	find.find()
	for _, n := range f.outputs {
		if err := p.visit(n); err != nil {
			return err
		}
	}
	segments := 0
	for _, l := range p.level {
		segments = max(segments, l+1)
	}
	for _, o := range p.ops {
		o.reads(func(n *node) {
			if !source(n) && (o.task != nil || n.op.task != nil || p.level[o] != p.level[n.op]) {
				p.crosses[n] = true
			}
		})
	}
	for _, n := range f.outputs {
		p.crosses[n] = true
	}
	of := make([][]*op, segments)
	for _, o := range p.ops {
		of[p.level[o]] = append(of[p.level[o]], o)
	}
	for _, ops := range of {
		task := func(o *op) bool { return o.task != nil }
		if err := p.segment(slices.DeleteFunc(slices.Clone(ops), task)); err != nil {
			return err
		}
		for _, o := range ops {
			if task(o) {
				p.launch(o)
			}
		}
	}
	for _, n := range f.outputs {
		e.outputs, e.results = append(e.outputs, p.slot(n)), append(e.results, n.shape)
	}
	e.slots = len(p.slots)
	e.arrange()
	return nil
}

// slot is where a value is while the graph runs.
func (p *planning) slot(n *node) int {
	if _, ok := p.slots[n]; !ok {
		p.slots[n] = len(p.slots)
	}
	return p.slots[n]
}

// source says that a value is there before anything runs.
func source(n *node) bool { return n.op == nil || n.op.kind == compute.OpTypeConstant }

// reads calls visit with each value that computing an operation takes.
func (o *op) reads(visit func(*node)) {
	if o.task == nil {
		o.needs(visit)
		return
	}
	for _, v := range o.task.args {
		visit(v.node)
	}
}

// visit puts the operation that makes n in order, behind those that make what it reads, and
// says its level.
func (p *planning) visit(n *node) error {
	if source(n) {
		slot := p.slot(n)
		if n.op == nil || p.e.constants[slot] != nil {
			return nil
		}
		var err error
		p.e.constants[slot], err = p.backend.Backend.BufferFromFlatData(0, n.op.flat, n.shape)
		return err
	}
	o := n.op
	if _, ok := p.level[o]; ok {
		return nil
	}
	if err := p.program(o); err != nil {
		return err
	}
	var err error
	level := 0
	o.reads(func(n *node) {
		if err == nil {
			err = p.visit(n)
		}
		if source(n) {
			return
		}
		l := p.level[n.op]
		if n.op.task != nil && o.task == nil {
			l++
		}
		level = max(level, l)
	})
	p.level[o] = level
	p.ops = append(p.ops, o)
	return err
}

// program has a task's program made, unless one serves already. What matladder turns out not
// to have is left to the Go backend.
func (p *planning) program(o *op) error {
	if o.task == nil || p.e.programs[o.task.key] != nil {
		return nil
	}
	program, err := o.task.compile(context.Background(), p.backend.options)
	switch {
	case err == nil:
		p.e.programs[o.task.key] = program
	case !stderrors.Is(err, matladder.ErrUnsupported):
		return errors.WithStack(err)
	case o.kind == compute.OpTypeFusedScaledDotProductAttention:
		return unsupported("%v", err)
	default:
		o.task = nil
	}
	return nil
}

// segment has the Go backend compile operations as a graph of their own.
func (p *planning) segment(ops []*op) error {
	if len(ops) == 0 {
		return nil
	}
	b := p.backend.Backend.Builder(p.Name())
	part, s := &function{}, &step{}
	inside := map[*op]bool{}
	for _, o := range ops {
		inside[o] = true
	}
	seen := map[*node]bool{}
	for _, o := range ops {
		o.needs(func(n *node) {
			if seen[n] || !source(n) && inside[n.op] {
				return
			}
			seen[n] = true
			part.names, part.inputs = append(part.names, fmt.Sprint("x", len(part.inputs))), append(part.inputs, n)
			s.in = append(s.in, p.slot(n))
		})
		for _, n := range o.outputs {
			if n.op == o && p.crosses[n] {
				part.outputs = append(part.outputs, n)
				s.out = append(s.out, p.slot(n))
			}
		}
	}
	w := writer{builder: b, to: b.Main(), values: map[*node]compute.Value{}, named: map[*function]compute.Function{}}
	err := w.all(part, ops)
	if err != nil {
		return err
	}
	if s.segment, err = b.Compile(); err != nil {
		return err
	}
	p.e.steps = append(p.e.steps, s)
	return nil
}

// launch adds a program's launch.
func (p *planning) launch(o *op) {
	t := o.task
	s := &step{program: p.e.programs[t.key], shape: o.outputs[0].shape, out: []int{p.slot(o.outputs[0])}}
	for _, in := range s.program.Inputs() {
		v := t.args[slices.IndexFunc(t.args, func(v view) bool { return v.name == in.Name })]
		s.views, s.in = append(s.views, v), append(s.in, p.slot(v.node))
	}
	s.views = append(s.views, t.out)
	p.e.steps = append(p.e.steps, s)
}
