package hlo

import (
	"errors"
	"fmt"

	"matladder/internal/each"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDevices bounds what groups of devices may be written out to.
const maxDevices = 1 << 20

var errGroups = errors.New("groups of devices that do not add up")

// fields calls each for every field of a message: value holds numbers, data what has a length.
func fields(message []byte, each func(number int, value int64, data []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var value uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := each(int(number), int64(value), data); err != nil {
			return err
		}
	}
	return nil
}

// first is the first field of a number that has a length.
func first(message []byte, want int) (found []byte, err error) {
	err = fields(message, func(number int, _ int64, data []byte) error {
		if number == want && found == nil {
			found = data
		}
		return nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("the message has no field %d", want)
	}
	return found, err
}

// numbers appends a repeated number: packed, or one of many fields.
func numbers(to []int64, value int64, data []byte) ([]int64, error) {
	if data == nil {
		return append(to, value), nil
	}
	for len(data) > 0 {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		to, data = append(to, int64(v)), data[n:]
	}
	return to, nil
}

// fieldsOf says, by the numbers of hlo.proto and xla_data.proto, where the fields of a message go
// in a T. Others are passed over.
type fieldsOf[T any] []fieldOf[T]

type fieldOf[T any] func(x *T, value int64, data []byte) error

func (f fieldsOf[T]) read(x *T, message []byte) error {
	return fields(message, func(number int, value int64, data []byte) error {
		if number < len(f) && f[number] != nil {
			return f[number](x, value, data)
		}
		return nil
	})
}

func text[T any](at func(x *T) *string) fieldOf[T] {
	return func(x *T, _ int64, data []byte) error {
		*at(x) = string(data)
		return nil
	}
}

func number[T any](at func(x *T) *int64) fieldOf[T] {
	return func(x *T, value int64, _ []byte) error {
		*at(x) = value
		return nil
	}
}

// list is a repeated number.
func list[T any](at func(x *T) *[]int64) fieldOf[T] {
	return func(x *T, value int64, data []byte) (err error) {
		to := at(x)
		*to, err = numbers(*to, value, data)
		return err
	}
}

// part is a message that is part of a T, or whose fields are its own.
func part[T, P any](at func(x *T) *P, of fieldsOf[P]) fieldOf[T] {
	return func(x *T, _ int64, data []byte) error { return of.read(at(x), data) }
}

// parts is a repeated message.
func parts[T, P any](at func(x *T) *[]P, read func(message []byte) (P, error)) fieldOf[T] {
	return func(x *T, _ int64, data []byte) error {
		one, err := read(data)
		*at(x) = append(*at(x), one)
		return err
	}
}

// own is the T whose fields a message inside it has.
func own[T any](x *T) *T { return x }

func readModule(message []byte) (*Module, error) {
	type module struct {
		Module
		entry int64
	}
	m := module{entry: -1}
	err := fieldsOf[module]{
		1: text(func(m *module) *string { return &m.Name }),
		3: parts(func(m *module) *[]*Computation { return &m.Computations }, readComputation),
		6: number(func(m *module) *int64 { return &m.entry }),
	}.read(&m, message)
	if err != nil {
		return nil, err
	}
	if m.Entry = m.computation(m.entry); m.Entry == nil {
		return nil, errors.New("the module has no entry")
	}
	return &m.Module, nil
}

func (m *Module) computation(id int64) *Computation {
	for _, c := range m.Computations {
		if c.id == id {
			return c
		}
	}
	return nil
}

var computationFields = fieldsOf[Computation]{
	1: text(func(c *Computation) *string { return &c.Name }),
	2: parts(func(c *Computation) *[]*Instruction { return &c.Instructions }, readInstruction),
	4: part(own, fieldsOf[Computation]{
		1: parts(func(c *Computation) *[]Shape { return &c.Parameters }, readShape),
		2: part(func(c *Computation) *Shape { return &c.Result }, shapeFields),
	}),
	5: number(func(c *Computation) *int64 { return &c.id }),
}

func readComputation(message []byte) (*Computation, error) {
	c := &Computation{}
	if err := computationFields.read(c, message); err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, i := range c.Instructions {
		names[i.id] = i.Name
	}
	for _, i := range c.Instructions {
		i.Operands = each.Of(i.operands, func(id int64) string { return names[id] })
	}
	return c, nil
}

var instructionFields = fieldsOf[Instruction]{
	1: text(func(i *Instruction) *string { return &i.Name }),
	2: text(func(i *Instruction) *string { return &i.Opcode }),
	3: part(func(i *Instruction) *Shape { return &i.Shape }, shapeFields),
	9: number(func(i *Instruction) *int64 { return &i.parameter }),
	15: part(own, fieldsOf[Instruction]{
		1: parts(func(i *Instruction) *[]window { return &i.dims.window }, readWindow),
	}),
	16: part(own, fieldsOf[Instruction]{ // of a convolution
		3:  number(func(i *Instruction) *int64 { return &i.dims.kernelFeature }),
		9:  number(func(i *Instruction) *int64 { return &i.dims.outBatch }),
		10: number(func(i *Instruction) *int64 { return &i.dims.outFeature }),
		11: list(func(i *Instruction) *[]int64 { return &i.dims.inSpatial }),
		12: list(func(i *Instruction) *[]int64 { return &i.dims.outSpatial }),
	}),
	28: text(func(i *Instruction) *string { return &i.Target }),
	30: part(own, fieldsOf[Instruction]{1: list(func(i *Instruction) *[]int64 { return &i.dims.contracted })}),
	35: number(func(i *Instruction) *int64 { return &i.id }),
	36: list(func(i *Instruction) *[]int64 { return &i.operands }),
	38: list(func(i *Instruction) *[]int64 { return &i.computations }),
	43: text(func(i *Instruction) *string { return &i.Config }),
	49: parts(func(i *Instruction) *[][]int64 { return &i.Groups }, readGroup),
	79: text(func(i *Instruction) *string { return &i.Thread }),
	80: func(i *Instruction, _ int64, _ []byte) error {
		i.prefetch = true
		return nil
	},
	87: func(i *Instruction, _ int64, data []byte) error {
		groups, err := readDeviceList(data)
		if len(i.Groups) == 0 { // else they are written out too
			i.Groups = groups
		}
		return err
	},
	92: groups(readIota),
	93: groups(readMesh),
}

// groups are those of a collective, as read reads them.
func groups(read func(message []byte) ([][]int64, error)) fieldOf[Instruction] {
	return func(i *Instruction, _ int64, data []byte) (err error) {
		i.Groups, err = read(data)
		return err
	}
}

func readInstruction(message []byte) (*Instruction, error) {
	i := &Instruction{}
	return i, instructionFields.read(i, message)
}

var shapeFields = fieldsOf[Shape]{
	2: number(func(s *Shape) *int64 { return &s.Element }),
	3: list(func(s *Shape) *[]int64 { return &s.Dimensions }),
	4: nil, // a tuple's
	5: part(own, fieldsOf[Shape]{8: number(func(s *Shape) *int64 { return &s.Space })}),
}

func init() { shapeFields[4] = parts(func(s *Shape) *[]Shape { return &s.Tuple }, readShape) }

func readShape(message []byte) (s Shape, err error) {
	err = shapeFields.read(&s, message)
	return s, err
}
