package amx

import (
	"encoding/binary"
	"testing"
)

// TestGrid wants shapes that products accept: those of sums, a and b agree,
// and a tile has rows if and only if it has columns.
func TestGrid(t *testing.T) {
	for rows := 1; rows <= 2*Rows; rows++ {
		for cols := 1; cols <= 2*Rows; cols++ {
			c := Grid(rows, cols)
			height := func(tile int) int { return int(c[48+tile]) }
			width := func(tile int) int { return int(binary.LittleEndian.Uint16(c[16+2*tile:])) }
			if c[0] != 1 {
				t.Fatalf("palette %d", c[0])
			}
			sums := 0
			for i := range 2 {
				for j := range 2 {
					sum, a, b := 2*i+j, 4+i, 6+j
					sums += height(sum) * width(sum) / 4
					if width(sum) == 0 {
						continue
					}
					if height(sum) != height(a) || width(sum) != width(b) || width(a) != 4*height(b) {
						t.Errorf("%d×%d: sums of %d×%d bytes by %d×%d and %d×%d", rows, cols,
							height(sum), width(sum), height(a), width(a), height(b), width(b))
					}
				}
			}
			if sums != rows*cols {
				t.Errorf("%d×%d: tiles hold %d sums", rows, cols, sums)
			}
			for tile := range Tiles {
				if (height(tile) == 0) != (width(tile) == 0) {
					t.Errorf("%d×%d: tile %d has %d rows of %d bytes", rows, cols, tile, height(tile), width(tile))
				}
			}
			for _, at := range [][2]int{{1, 16}, {32, 48}, {56, 64}} {
				for i := at[0]; i < at[1]; i++ {
					if c[i] != 0 {
						t.Errorf("%d×%d: byte %d is %d and must be zero", rows, cols, i, c[i])
					}
				}
			}
		}
	}
}

// TestMissing runs the questions, wherever the answers lead.
func TestMissing(t *testing.T) { t.Logf("lacks %q", Missing()) }
