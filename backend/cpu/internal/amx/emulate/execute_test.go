//go:build linux && amd64

package emulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// tiles is the state that LDTILECFG makes and TILERELEASE ends.
type tiles struct {
	configured bool
	tile       [8]tile
}

type tile struct {
	rows, bytes int // bytes of a row
	data        [16][64]byte
}

// execute does what Intel's manual says (SDM 2, under each name), and returns
// an error where it lists an exception.
func (t *thread) execute(i instruction) error {
	s := &t.tiles
	switch i.name {
	case "TILERELEASE":
		*s = tiles{}
		return nil
	case "LDTILECFG":
		var config [64]byte
		if t.read(config[:], i.at) < len(config) {
			return errors.New("no memory to read the shapes from")
		}
		return s.configure(config)
	}
	c, err := s.used(i.c)
	if err != nil {
		return err
	}
	switch i.name {
	case "TILEZERO":
		c.data = [16][64]byte{}
		return nil
	case "TILELOADD", "TILELOADDT1":
		c.data = [16][64]byte{}
		return t.move(c, i, unix.ProcessVMReadv)
	case "TILESTORED":
		return t.move(c, i, unix.ProcessVMWritev)
	}
	a, err := s.used(i.a)
	if err != nil {
		return err
	}
	b, err := s.used(i.b)
	switch {
	case err != nil:
		return err
	case i.a == i.b || i.a == i.c || i.b == i.c:
		return errors.New("one tile twice")
	case c.rows != a.rows || c.bytes != b.bytes || a.bytes != 4*b.rows:
		return fmt.Errorf("sums of %d×%d bytes from %d×%d and %d×%d", c.rows, c.bytes, a.rows, a.bytes, b.rows, b.bytes)
	}
	if i.name == "TDPBF16PS" {
		multiplyBFloat16(c, a, b)
	} else {
		multiplyInt8(c, a, b)
	}
	return nil
}

// configure sets the shapes and clears all tiles.
func (s *tiles) configure(config [64]byte) error {
	for _, reserved := range [][2]int{{1, 16}, {32, 48}, {56, 64}} {
		for at := reserved[0]; at < reserved[1]; at++ {
			if config[at] != 0 {
				return fmt.Errorf("byte %d is %d", at, config[at])
			}
		}
	}
	if config[0] != 1 {
		return fmt.Errorf("palette %d", config[0])
	}
	*s = tiles{configured: true}
	for i := range s.tile {
		x := &s.tile[i]
		x.rows, x.bytes = int(config[48+i]), int(binary.LittleEndian.Uint16(config[16+2*i:]))
		if x.rows > 16 || x.bytes > 64 || (x.rows == 0) != (x.bytes == 0) {
			return fmt.Errorf("tile %d has %d rows of %d bytes", i, x.rows, x.bytes)
		}
	}
	return nil
}

// used is a tile that has a shape.
func (s *tiles) used(i int) (*tile, error) {
	switch x := &s.tile[i]; {
	case !s.configured:
		return nil, errors.New("the tiles have no shapes")
	case x.rows == 0 || x.bytes%4 != 0:
		return nil, fmt.Errorf("tile %d has %d rows of %d bytes", i, x.rows, x.bytes)
	default:
		return x, nil
	}
}

// move copies the rows of a tile from memory, or to it.
func (t *thread) move(c *tile, i instruction, copy func(int, []unix.Iovec, []unix.RemoteIovec, uint) (int, error)) error {
	local, remote := make([]unix.Iovec, c.rows), make([]unix.RemoteIovec, c.rows)
	for row := range c.rows {
		local[row] = unix.Iovec{Base: &c.data[row][0], Len: uint64(c.bytes)}
		remote[row] = unix.RemoteIovec{Base: uintptr(i.at + uint64(row)*i.rowStride), Len: c.bytes}
	}
	if n, err := copy(t.id, local, remote, 0); err != nil || n != c.rows*c.bytes {
		return fmt.Errorf("%d of %d rows of %d bytes, %d apart, at %#x: %v", n/c.bytes, c.rows, c.bytes, int64(i.rowStride), i.at, err)
	}
	return nil
}

// multiplyBFloat16 sums products of even and of odd elements apart, from zero,
// and then adds both to c.
func multiplyBFloat16(c, a, b *tile) {
	for row := range c.rows {
		for col := range c.bytes / 4 {
			var sums [2]float32
			for k := range b.rows {
				for half := range sums {
					x, y := bfloat16(a.data[row][4*k+2*half:]), bfloat16(b.data[k][4*col+2*half:])
					sums[half] = multiplyAdd(x, y, sums[half])
				}
			}
			word := c.data[row][4*col:]
			s := flushed(math.Float32frombits(binary.LittleEndian.Uint32(word)))
			binary.LittleEndian.PutUint32(word, math.Float32bits(flushed(s+flushed(sums[0]+sums[1]))))
		}
	}
}

func bfloat16(b []byte) float32 {
	return flushed(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
}

// multiplyAdd is x·y + s, rounded once: the product of two bfloat16 is exact
// in float64, and their sum is rounded to odd before the rounding that counts.
func multiplyAdd(x, y, s float32) float32 {
	product, sum := float64(x)*float64(y), float64(s)
	total := product + sum
	// What the addition lost (Knuth, TAOCP 2, 4.2.2, theorem B).
	part := total - product
	lost := (product - (total - part)) + (sum - part)
	if bits := math.Float64bits(total); lost != 0 && !math.IsNaN(lost) && bits&1 == 0 {
		if (lost > 0) == (total > 0) {
			bits++
		} else {
			bits--
		}
		total = math.Float64frombits(bits)
	}
	return flushed(float32(total))
}

// flushed turns denormal numbers into zero.
func flushed(x float32) float32 {
	if x > -0x1p-126 && x < 0x1p-126 {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

func multiplyInt8(c, a, b *tile) {
	for row := range c.rows {
		for col := range c.bytes / 4 {
			word := c.data[row][4*col:]
			s := binary.LittleEndian.Uint32(word)
			for k := range b.rows {
				for u := range 4 {
					s += uint32(int32(int8(a.data[row][4*k+u])) * int32(int8(b.data[k][4*col+u])))
				}
			}
			binary.LittleEndian.PutUint32(word, s)
		}
	}
}
