package backend

import (
	"context"
	"encoding/binary"
	"errors"

	"matladder/tile"
)

// Changing is implemented by executables of functions that others wrote. Such a function may
// remember what it computed; of inputs that change before each launch that is wrong.
type Changing interface {
	Executable
	// RunChanged is Run of a launch for each of each, which is made ahead of that launch and
	// not timed where that costs less than it takes. Those of ahead are made before.
	RunChanged(ctx context.Context, ahead, each Changes) (Sample, error)
}

// ErrOutside is the answer of a function that wrote outside of its outputs.
var ErrOutside = errors.New("it wrote outside of its output")

// Changes are elements of inputs that get other values, in order: records of changeBytes bytes,
// as package process sends them to programs in other languages. A record is the byte in the array
// where it begins (8 bytes), its bits (4), which input (2) and how many bytes (2).
type Changes []byte

const changeBytes = 16

// Len is how many there are.
func (c Changes) Len() int { return len(c) / changeBytes }

// Add adds a change of size bytes at a byte of an input: 1, 2 or 4.
func (c *Changes) Add(input, at, size int, bits uint32) {
	*c = binary.LittleEndian.AppendUint64(*c, uint64(at))
	*c = binary.LittleEndian.AppendUint32(*c, bits)
	*c = binary.LittleEndian.AppendUint16(*c, uint16(input))
	*c = binary.LittleEndian.AppendUint16(*c, uint16(size))
}

// Make makes change i.
func (c Changes) Make(i int, in []tile.Tensor) {
	r := c[i*changeBytes:][:changeBytes]
	to := in[binary.LittleEndian.Uint16(r[12:])].Data[binary.LittleEndian.Uint64(r):]
	switch bits := binary.LittleEndian.Uint32(r[8:]); r[14] {
	case 1:
		to[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(to, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(to, bits)
	}
}

// MakeAll makes all.
func (c Changes) MakeAll(in []tile.Tensor) {
	for i := range c.Len() {
		c.Make(i, in)
	}
}
