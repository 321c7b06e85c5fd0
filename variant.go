package matladder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"matladder/backend"
	"matladder/backend/timeline"
)

// A variant is a program compiled for arrays that lie in one way: the first that are seen
// so have it compiled.
type variant struct {
	kind
	callable backend.Callable
	used     atomic.Bool // since one was closed to make room
}

// kind is how the arrays of a variant lie.
type kind struct {
	rows      [mostArguments]*[MaxRank]int // of inputs whose rows lie apart: their strides
	outRows   [mostArguments]*[MaxRank]int
	unaligned bool
	packed    uint64 // the inputs that are packed beforehand
}

// mostVariants bounds the memory of a program: beyond it, the oldest that was not used for a
// while is closed.
const mostVariants = 8

// line is where outputs begin that may be written in whole lines of the caches.
const line = 64

// matches reports whether these arrays lie so.
func (v *kind) matches(out, in []Tensor, w wanted) bool {
	if v.packed != w.packed || v.unaligned != w.unaligned {
		return false
	}
	return sameRows(&v.rows, in, w.apart) && sameRows(&v.outRows, out, w.outApart)
}

func sameRows(rows *[mostArguments]*[MaxRank]int, list []Tensor, apart uint64) bool {
	for i := range list {
		switch is := apart&(1<<i) != 0; {
		case is != (rows[i] != nil):
			return false
		case is && *rows[i] != list[i].normal():
			return false
		}
	}
	return true
}

// normal returns the strides, with those of dimensions of size 1 as if the tensor were dense.
func (t *Tensor) normal() [MaxRank]int {
	s, n := t.strides, 1
	for i := t.rank - 1; i >= 0; i-- {
		if t.shape[i] == 1 {
			s[i] = n
		}
		n = s[i] * t.shape[i]
	}
	return s
}

// wanted is what a variant is looked up by, beside strides.
type wanted struct {
	apart, outApart uint64 // arguments whose rows lie apart
	copied, outs    uint64 // arguments that are copied for the launch, and are without gaps then
	packed          uint64
	unaligned       bool
}

// want says how the arguments lie.
func (p *Program) want(out, in []Tensor) wanted {
	var w wanted
	direct := p.device.calls() != nil
	for i := range in {
		if in[i].packed != nil {
			w.packed |= 1 << i
			continue
		}
		switch in[i].lies() {
		case scattered:
			w.copied |= 1 << i
		case rowStrided:
			w.apart |= 1 << i
		}
	}
	for i := range out {
		switch out[i].lies() {
		case scattered:
			w.outs |= 1 << i
		case rowStrided:
			w.outApart |= 1 << i
		}
		if uintptr(unsafe.Pointer(unsafe.SliceData(out[i].data)))%line != 0 && w.outs&(1<<i) == 0 {
			w.unaligned = true
		}
	}
	if w.packed != 0 || !direct { // what was packed is for one variant, and others have none
		w.copied, w.outs = w.copied|w.apart, w.outs|w.outApart
		w.apart, w.outApart = 0, 0
		w.unaligned = w.packed != 0
	}
	return w
}

// calls is the device's backend, if it computes on arrays where they lie.
func (d *device) calls() backend.Caller {
	c, _ := d.backend.(backend.Caller)
	return c
}

// find returns the variant for arguments, compiling it if they are the first of their kind.
func (p *Program) find(ctx context.Context, out, in []Tensor, w wanted) (*variant, error) {
	for _, v := range *p.variants.Load() {
		if v.matches(out, in, w) {
			return v, nil
		}
	}
	return p.add(ctx, out, in, w, kind{apart(in, w.apart), apart(out, w.outApart), w.unaligned, w.packed})
}

// apart are the strides of those of list whose rows lie apart.
func apart(list []Tensor, which uint64) (rows [mostArguments]*[MaxRank]int) {
	for i := range list {
		if which&(1<<i) != 0 {
			rows[i] = new(list[i].normal())
		}
	}
	return rows
}

// add compiles a variant, unless another call just did.
func (p *Program) add(ctx context.Context, out, in []Tensor, w wanted, n kind) (*variant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, list, err := p.findOrCompile(ctx, n, func(v *variant) bool { return v.matches(out, in, w) })
	if err != nil || list == nil {
		return v, err
	}
	var old *variant
	if len(list) > mostVariants {
		list, old = without(list)
	}
	p.variants.Store(&list)
	if old != nil {
		return v, old.callable.Close()
	}
	return v, nil
}

// without takes from a list the variant to close, nil if there is none: the first that no
// call used since one was last closed, or the first if all were, but not the last of the
// list, which is new, and none that something is packed for.
func without(list []*variant) ([]*variant, *variant) {
	at := -1
	for i, v := range list[:len(list)-1] {
		if v.packed != 0 {
			continue
		}
		if !v.used.Swap(false) {
			at = i
			break
		}
		if at < 0 {
			at = i
		}
	}
	if at < 0 {
		return list, nil
	}
	old := list[at]
	return slices.Delete(list, at, at+1), old
}

// findOrCompile returns the variant that is wanted, and where there was none the list with a
// new one at its end, which is to be stored. The caller holds mu.
func (p *Program) findOrCompile(ctx context.Context, n kind, wanted func(*variant) bool) (*variant, []*variant, error) {
	if p.closed {
		return nil, nil, errClosed
	}
	list := slices.Clone(*p.variants.Load())
	if i := slices.IndexFunc(list, wanted); i >= 0 {
		return list[i], nil, nil
	}
	v, err := p.compile(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	return v, append(list, v), nil
}

var errClosed = fmt.Errorf("matladder: the program is %w", ErrClosed)

// compile has the backend compile the program for a variant.
func (p *Program) compile(ctx context.Context, n kind) (*variant, error) {
	v := &variant{kind: n}
	caller := p.device.calls()
	if caller == nil {
		e, err := backend.Compile(ctx, p.device.backend, p.programs, p.params)
		if err != nil {
			return nil, fmt.Errorf("matladder: %w", err)
		}
		v.callable = newCopying(e, p)
		return v, nil
	}
	layout := backend.Layout{Unaligned: n.unaligned}
	strides := func(a argument, s *[MaxRank]int) {
		if s == nil {
			return
		}
		if layout.Strides == nil {
			layout.Strides = map[string][]int{}
		}
		layout.Strides[a.Name] = s[:a.rank]
	}
	for i, a := range p.inputs {
		strides(a, n.rows[i])
		if n.packed&(1<<i) != 0 {
			layout.Packed = append(layout.Packed, a.Name)
		}
	}
	for i, a := range p.outputs {
		strides(a, n.outRows[i])
	}
	var err error
	programs := p.programs
	if n.packed != 0 && p.packed != nil {
		programs = p.packed
	}
	if v.callable, err = caller.CompileCall(ctx, programs, p.params, layout); err != nil {
		return nil, fmt.Errorf("matladder: %w", err)
	}
	return v, nil
}

// Prepack lays an input out for the launches to come: what each would else do anew, the
// weights of a model many times. The result stands in the input's place in calls of this
// program; other inputs whose rows lie apart are copied in such calls. It copies: the
// tensor's memory is free again. Where a backend has no such form, it is the tensor itself.
//
// Where no blocks were asked for, launches of a packed b have those that are best for it.
//
// Only what is the second operand of products can be packed; other inputs are an error that
// wraps ErrUnsupported.
func (p *Program) Prepack(ctx context.Context, name string, t Tensor) (Tensor, error) {
	i := slices.IndexFunc(p.inputs, func(a argument) bool { return a.Name == name })
	switch {
	case i < 0:
		return Tensor{}, &ArgumentError{name, false, "is no input; the inputs are " + names(p.inputs)}
	case !p.inputs[i].fits(&t):
		return Tensor{}, p.inputs[i].complaint(&t)
	case t.packed != nil:
		return Tensor{}, &ArgumentError{name, false, "is packed already"}
	case p.device.calls() == nil:
		return t, nil
	}
	v, err := p.packing(ctx, i)
	if err != nil {
		return Tensor{}, err
	}
	data := t.data
	if t.lies() != dense {
		data = make([]byte, t.dtype.Bytes(t.elements()))
		gather(data, &t)
	}
	c, err := v.callable.Pack(ctx, name, data)
	if err != nil {
		return Tensor{}, fmt.Errorf("matladder: %w", err)
	}
	t.strides, t.data, t.packed = [MaxRank]int{}, nil, &packed{v, i, c}
	return t, nil
}

// packing finds or compiles the variant that has input i packed.
func (p *Program) packing(ctx context.Context, i int) (*variant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, list, err := p.findOrCompile(ctx, kind{packed: 1 << i, unaligned: true}, func(v *variant) bool { return v.packed == 1<<i })
	if err == nil && list != nil {
		p.variants.Store(&list)
	}
	return v, err
}

// call is what one call needs beside its arguments.
type call struct {
	p *Program

	// Arguments that were found to fit, and what was found for them: a call on the same
	// need not look again.
	seenOut, seenIn []Tensor
	wanted          wanted
	variant         *variant          // nil if none was found, or it may be closed
	on              backend.Arguments // what it computes on; those that are copied are others in each launch
	packed          []backend.Packed  // on.Packed, if any input is packed

	table  func(name string) []int32 // tableOf
	traced bool
	trace  *timeline.Timeline
}

func (p *Program) newCall() *call {
	c := &call{p: p, packed: make([]backend.Packed, len(p.inputs))}
	c.on.In, c.on.Out = make([][]byte, len(p.inputs)), make([][]byte, len(p.outputs))
	c.table = c.tableOf
	return c
}

// fit refuses arguments that do not fit, and says how the others lie.
func (c *call) fit(out, in []Tensor) error {
	if !sameTensors(out, c.seenOut) || !sameTensors(in, c.seenIn) {
		if err := c.p.check(out, in); err != nil {
			return err
		}
		c.seenOut, c.seenIn = append(c.seenOut[:0], out...), append(c.seenIn[:0], in...)
		c.wanted, c.variant = c.p.want(out, in), nil
	}
	return nil
}

// run computes.
func (c *call) run(ctx context.Context, out, in []Tensor) error {
	if err := c.fit(out, in); err != nil {
		return err
	}
	for {
		if c.variant == nil {
			v, err := c.p.find(ctx, out, in, c.wanted)
			if err != nil {
				return err
			}
			if err := c.place(v, out, in); err != nil {
				return err
			}
			c.variant = v
		}
		if !c.variant.used.Load() { // a line that all callers read is not written without need
			c.variant.used.Store(true)
		}
		err := c.launch(ctx, c.variant)
		if err == nil || !errors.Is(err, ErrClosed) {
			return err
		}
		c.variant = nil
		c.p.mu.Lock()
		closed := c.p.closed
		c.p.mu.Unlock()
		if closed {
			return errClosed
		}
	}
}

// place says where the arguments of a variant are.
func (c *call) place(v *variant, out, in []Tensor) error {
	c.on.Version++
	c.on.Packed = nil
	if c.wanted.packed != 0 {
		c.on.Packed = c.packed
	}
	for i := range in {
		c.on.In[i], c.packed[i] = in[i].data, nil
		if c.wanted.packed&(1<<i) == 0 {
			continue
		}
		if in[i].packed.variant != v || in[i].packed.input != i {
			return &ArgumentError{c.p.inputs[i].Name, false, "was packed for another program or input"}
		}
		c.packed[i] = in[i].packed.Packed
	}
	for i := range out {
		c.on.Out[i] = out[i].data
	}
	return nil
}

// launch computes by a variant, on the arguments or copies of them.
func (c *call) launch(ctx context.Context, v *variant) error {
	w := &c.wanted
	if w.copied != 0 {
		c.gather()
	}
	if err := c.checkTables(); err != nil {
		return err
	}
	if w.outs != 0 {
		c.on.Version++
		for i, t := range c.seenOut {
			if w.outs&(1<<i) != 0 {
				c.on.Out[i] = make([]byte, t.dtype.Bytes(t.elements()))
			}
		}
	}
	if err := c.call(ctx, v); err != nil {
		return err
	}
	for i := range c.seenOut {
		if w.outs&(1<<i) != 0 {
			scatter(&c.seenOut[i], c.on.Out[i])
		}
	}
	return nil
}

// gather copies the inputs that a launch does not read where they lie.
func (c *call) gather() {
	c.on.Version++
	for i := range c.seenIn {
		if c.wanted.copied&(1<<i) != 0 {
			t := &c.seenIn[i]
			c.on.In[i] = make([]byte, t.dtype.Bytes(t.elements()))
			gather(c.on.In[i], t)
		}
	}
}

// checkTables refuses elements of tables that the problem, or the grid, has no place for.
func (c *call) checkTables() error {
	if c.p.tabled != nil {
		if wrong := c.p.tabled.CheckTables(c.table); wrong != nil {
			return &ArgumentError{wrong.Table, false, wrong.Error()}
		}
	}
	for i := range c.p.bounds {
		b := &c.p.bounds[i]
		if err := b.check(c.on.In); err != nil {
			return &ArgumentError{c.p.inputs[b.input].Name, false, err.Error()}
		}
	}
	return nil
}

// tableOf is an input that is a table, without gaps.
func (c *call) tableOf(name string) []int32 {
	i := slices.IndexFunc(c.p.inputs, func(a argument) bool { return a.Name == name })
	data := c.on.In[i]
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/4)
}

// call calls the variant, and has it recorded if that was asked for.
func (c *call) call(ctx context.Context, v *variant) (err error) {
	if !c.traced {
		err = v.callable.Call(ctx, &c.on)
	} else if traced, ok := v.callable.(backend.TracedCallable); ok {
		c.trace, err = traced.CallTraced(ctx, &c.on)
	} else {
		err = fmt.Errorf("backend %s does not tell what happens in a launch: %w", c.p.device.key.name, ErrUnsupported)
	}
	if err != nil {
		return fmt.Errorf("matladder: %w", err)
	}
	return nil
}
