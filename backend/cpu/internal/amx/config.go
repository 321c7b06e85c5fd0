package amx

import "encoding/binary"

// Tiles of the only palette there is.
const (
	Tiles = 8
	Rows  = 16 // at most, of a tile
	Line  = 64 // bytes of a row, at most
	Size  = Rows * Line
)

// Config is the operand of LDTILECFG (Intel SDM 1, 18.2): the number of the
// palette, then the bytes of a row and the rows of each tile.
type Config [64]byte

// Grid returns the shapes for the sums of rows×cols elements of 32 bits, at most 32×32, in up to
// 2×2 tiles: 0 and 1 are the upper sums, 2 and 3 the lower, 4 and 5 the upper and the lower rows
// of a, 6 and 7 the left and the right columns of b. Tiles that hold nothing have no shape, and
// no instruction may name them.
func Grid(rows, cols int) Config {
	var c Config
	c[0] = 1
	for i := range 2 {
		r := min(max(rows-i*Rows, 0), Rows)
		c.shape(4+i, r, Line)
		for j := range 2 {
			c.shape(2*i+j, r, 4*min(max(cols-j*Rows, 0), Rows))
		}
		c.shape(6+i, Rows, 4*min(max(cols-i*Rows, 0), Rows))
	}
	return c
}

func (c *Config) shape(tile, rows, bytes int) {
	if rows == 0 || bytes == 0 {
		return
	}
	binary.LittleEndian.PutUint16(c[16+2*tile:], uint16(bytes))
	c[48+tile] = byte(rows)
}
