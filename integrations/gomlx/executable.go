package gomlx

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/shapes"
	"github.com/pkg/errors"

	"matladder"
)

// executable is a graph that is cut at matladder's operations: segments of the Go backend and
// launches of programs, one after the other, on slots.
type executable struct {
	backend   *Backend
	name      string
	names     []string
	inputs    []shapes.Shape // in the first slots
	constants map[int]compute.Buffer
	slots     int
	steps     []*step
	outputs   []int // slots
	results   []shapes.Shape
	programs  map[string]*matladder.Program

	frame  []shapes.Shape // of buffers that launches write and no output is in
	frames sync.Pool      // of []compute.Buffer, of one call
}

// step is a segment or a launch.
type step struct {
	in, out []int
	segment compute.Executable

	program *matladder.Program
	views   []view // of the inputs, in order, and of the output
	shape   shapes.Shape
	frame   int // the buffer of the frame that the output is in; -1 for a new one

	last   []bool // inputs that nothing reads later
	donate []bool // those of them that a segment made
}

// arrange finds what is read last where, and shares the buffers of a frame.
func (e *executable) arrange() {
	later := map[int]bool{}
	for _, slot := range e.outputs {
		later[slot] = true
	}
	made := map[int]*step{}
	for _, s := range slices.Backward(e.steps) {
		s.last = make([]bool, len(s.in))
		for i, slot := range s.in {
			s.last[i], later[slot] = !later[slot], true
		}
		for _, slot := range s.out {
			made[slot] = s
		}
	}
	var free []int
	for _, s := range e.steps {
		if s.program != nil {
			s.frame = e.room(s, &free)
		}
		s.donate = make([]bool, len(s.in))
		for i, slot := range s.in {
			switch maker := made[slot]; {
			case !s.last[i] || maker == nil:
			case maker.program == nil:
				s.donate[i] = true
			case maker.frame >= 0:
				free = append(free, maker.frame)
			}
		}
	}
}

// room is the number of a buffer for what a launch writes.
func (e *executable) room(s *step, free *[]int) int {
	if slices.Contains(e.outputs, s.out[0]) {
		return -1
	}
	if i := slices.IndexFunc(*free, func(b int) bool { return e.frame[b].Equal(s.shape) }); i >= 0 {
		b := (*free)[i]
		*free = slices.Delete(*free, i, i+1)
		return b
	}
	e.frame = append(e.frame, s.shape)
	return len(e.frame) - 1
}

// Finalize frees what was compiled.
func (e *executable) Finalize() {
	for _, s := range e.steps {
		if s.segment != nil {
			s.segment.Finalize()
		}
	}
	for _, p := range e.programs {
		p.Close()
	}
	e.steps, e.programs = nil, nil
}

func (e *executable) Inputs() ([]string, []shapes.Shape) { return e.names, e.inputs }
func (e *executable) Outputs() []shapes.Shape            { return e.results }

// Execute runs the steps in their order.
func (e *executable) Execute(inputs []compute.Buffer, donate []bool, _ compute.DeviceNum) ([]compute.Buffer, error) {
	switch {
	case e.programs == nil:
		return nil, errors.Errorf("matladder: graph %q was finalized", e.name)
	case len(inputs) != len(e.inputs):
		return nil, errors.Errorf("matladder: graph %q has %d inputs, not %d", e.name, len(e.inputs), len(inputs))
	case len(donate) != 0 && len(donate) != len(inputs):
		return nil, errors.Errorf("matladder: graph %q: donate is of %d inputs, want %d", e.name, len(donate), len(inputs))
	}
	slots := make([]compute.Buffer, e.slots)
	for i, in := range inputs {
		x, ok := in.(*buffer)
		if !ok || x.backend != e.backend || x.donated {
			return nil, errors.Errorf("matladder: graph %q, input %d (%s): no buffer of this backend, or one that was donated", e.name, i, e.names[i])
		}
		s, err := x.Shape()
		if want := e.inputs[i]; err != nil || s.DType != want.DType || s.Rank() != want.Rank() || !want.IsDynamic() && !s.EqualDimensions(want) {
			return nil, errors.Errorf("matladder: graph %q, input %d (%s): have %s, want %s", e.name, i, e.names[i], s, want)
		}
		slots[i] = x.Buffer
	}
	for slot, b := range e.constants {
		slots[slot] = b
	}
	frame, ok := e.frames.Get().([]compute.Buffer)
	if !ok {
		frame = make([]compute.Buffer, len(e.frame))
	}
	defer e.frames.Put(frame)
	for _, s := range e.steps {
		var err error
		if s.segment != nil {
			err = e.run(s, slots, inputs, donate)
		} else {
			err = e.launch(s, slots, frame)
		}
		if err != nil {
			return nil, err
		}
	}
	out := make([]compute.Buffer, len(e.outputs))
	for i, slot := range e.outputs {
		x := &buffer{Buffer: slots[slot], backend: e.backend}
		out[i] = x
		if _, constant := e.constants[slot]; constant || slot < len(inputs) || slices.Contains(e.outputs[:i], slot) {
			var err error
			if out[i], err = x.CopyToDevice(0); err != nil { // it stays its owner's
				return nil, err
			}
		}
	}
	return out, nil
}

// run has the Go backend compute a segment. What nothing reads later it may write on.
func (e *executable) run(s *step, slots, inputs []compute.Buffer, donate []bool) error {
	in, own := make([]compute.Buffer, len(s.in)), slices.Clone(s.donate)
	for i, slot := range s.in {
		in[i] = slots[slot]
		if s.last[i] && slot < len(donate) && donate[slot] {
			own[i] = true
			inputs[slot].(*buffer).donated = true
		}
	}
	out, err := s.segment.Execute(in, own, 0)
	if err != nil {
		return err
	}
	for i, slot := range s.out {
		slots[slot] = out[i]
	}
	return nil
}

// launch runs a program.
func (e *executable) launch(s *step, slots, frame []compute.Buffer) error {
	var out compute.Buffer
	if s.frame >= 0 {
		out = frame[s.frame]
	}
	if out == nil {
		var err error
		if out, _, err = e.backend.Backend.NewSharedBuffer(0, s.shape); err != nil {
			return err
		}
		if s.frame >= 0 {
			frame[s.frame] = out
		}
	}
	slots[s.out[0]] = out
	tensors := make([]matladder.Tensor, len(s.views))
	for i, v := range s.views {
		b := out
		if i < len(s.in) {
			b = slots[s.in[i]]
		}
		flat, err := b.Data()
		if err != nil {
			return err
		}
		tensors[i] = tensor(flat, v)
	}
	n := len(s.in)
	return errors.WithStack(s.program.Run(context.Background(), tensors[n], tensors[:n]...))
}

// tensor is a flat slice as a program wants it. bfloat16 numbers of gomlx and of matladder
// are both the upper half of a float32.
func tensor(flat any, v view) matladder.Tensor {
	switch x := flat.(type) {
	case []float32:
		return matladder.Strided(x, v.dims, v.strides)
	case []bfloat16.BFloat16:
		return matladder.Strided(unsafe.Slice((*matladder.BFloat16)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), v.dims, v.strides)
	case []int8:
		return matladder.Strided(x, v.dims, v.strides)
	case []int32:
		return matladder.Strided(x, v.dims, v.strides)
	}
	return matladder.Tensor{}
}
