package hlo

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields, as XLA's hlo.proto and xla_data.proto have them.
const (
	configModule = 1

	moduleName, moduleComputations, moduleEntry = 1, 3, 6

	computationName, computationInstructions, computationShape, computationID = 1, 2, 4, 5

	programParameters, programResult = 1, 2

	instructionName, instructionOpcode, instructionShape                    = 1, 2, 3
	instructionTarget, instructionID, instructionOperands, instructionCalls = 28, 35, 36, 38

	instructionGroups, instructionConfig, instructionDeviceList, instructionIota = 49, 43, 87, 92
	instructionMesh, instructionThread                                           = 93, 79

	meshDevices, meshAlong = 1, 2
	meshAxis               = 1
	axisSize, axisIndex    = 2, 1

	instructionParameter, instructionPrefetch                 = 9, 80
	instructionWindow, instructionConvolution, instructionDot = 15, 16, 30

	groupIDs = 1

	deviceListGroups, deviceListIota = 1, 2
	iotaGroups, iotaSize             = 1, 2
	iotaDims, iotaPerm               = 3, 4

	shapeElement, shapeDimensions, shapeTuple, shapeLayout = 2, 3, 4, 5

	layoutSpace = 8
)

// maxDevices bounds what groups of devices may be written out to.
const maxDevices = 1 << 20

var errGroups = errors.New("groups of devices that do not add up")

// fields calls each for every field of a message: value holds numbers, data what
// has a length.
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

// more appends to a list what is read of a message.
func more[T any](list []T, read func([]byte) (T, error), message []byte) ([]T, error) {
	x, err := read(message)
	return append(list, x), err
}

func readModule(message []byte) (*Module, error) {
	m := &Module{}
	entry := int64(-1)
	err := fields(message, func(number int, value int64, data []byte) (err error) {
		switch number {
		case moduleName:
			m.Name = string(data)
		case moduleEntry:
			entry = value
		case moduleComputations:
			m.Computations, err = more(m.Computations, readComputation, data)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.Entry = m.computation(entry); m.Entry == nil {
		return nil, errors.New("the module has no entry")
	}
	return m, nil
}

func (m *Module) computation(id int64) *Computation {
	for _, c := range m.Computations {
		if c.id == id {
			return c
		}
	}
	return nil
}

func readComputation(message []byte) (*Computation, error) {
	c := &Computation{}
	err := fields(message, func(number int, value int64, data []byte) (err error) {
		switch number {
		case computationName:
			c.Name = string(data)
		case computationID:
			c.id = value
		case computationInstructions:
			c.Instructions, err = more(c.Instructions, readInstruction, data)
		case computationShape:
			err = fields(data, func(number int, _ int64, data []byte) (err error) {
				switch number {
				case programParameters:
					c.Parameters, err = more(c.Parameters, readShape, data)
				case programResult:
					c.Result, err = readShape(data)
				}
				return err
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, i := range c.Instructions {
		names[i.id] = i.Name
	}
	for _, i := range c.Instructions {
		for _, id := range i.operands {
			i.Operands = append(i.Operands, names[id])
		}
	}
	return c, nil
}

func readInstruction(message []byte) (*Instruction, error) {
	i := &Instruction{}
	err := fields(message, func(number int, value int64, data []byte) (err error) {
		switch number {
		case instructionName:
			i.Name = string(data)
		case instructionOpcode:
			i.Opcode = string(data)
		case instructionTarget:
			i.Target = string(data)
		case instructionID:
			i.id = value
		case instructionShape:
			i.Shape, err = readShape(data)
		case instructionOperands:
			i.operands, err = numbers(i.operands, value, data)
		case instructionGroups:
			i.Groups, err = more(i.Groups, readGroup, data)
		case instructionDeviceList:
			var groups [][]int64
			if groups, err = readDeviceList(data); len(i.Groups) == 0 {
				i.Groups = groups
			}
		case instructionIota:
			i.Groups, err = readIota(data)
		case instructionMesh:
			i.Groups, err = readMesh(data)
		case instructionThread:
			i.Thread = string(data)
		case instructionParameter:
			i.parameter = value
		case instructionPrefetch:
			i.prefetch = true
		case instructionWindow, instructionConvolution, instructionDot:
			err = i.dims.read(number, data)
		case instructionConfig:
			i.Config = string(data)
		case instructionCalls:
			i.computations, err = numbers(i.computations, value, data)
		}
		return err
	})
	return i, err
}

func readShape(message []byte) (Shape, error) {
	var s Shape
	err := fields(message, func(number int, value int64, data []byte) (err error) {
		switch number {
		case shapeElement:
			s.Element = value
		case shapeDimensions:
			s.Dimensions, err = numbers(s.Dimensions, value, data)
		case shapeTuple:
			s.Tuple, err = more(s.Tuple, readShape, data)
		case shapeLayout:
			err = fields(data, func(number int, value int64, _ []byte) error {
				if number == layoutSpace {
					s.Space = value
				}
				return nil
			})
		}
		return err
	})
	return s, err
}
