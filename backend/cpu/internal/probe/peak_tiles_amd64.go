package probe

import (
	"math/rand/v2"
	"unsafe"

	"matladder/backend/cpu/internal/amx"
)

// Each of these runs four independent products of 16×64 by 64×16 bytes a turn,
// on two tiles of each side that data holds; they are written by package asmgen
// beside package gemm, and configure and release the tiles.

//go:noescape
func peakTilesBFloat16AMX(config *amx.Config, data *byte, turns int)

//go:noescape
func peakTilesInt8AMX(config *amx.Config, data *byte, turns int)

// tileTurn is the operations of a turn, for each element in 32 bits.
const tileTurn = 4 * 16 * 16 * 16 * 2

// tileLoops are the loops of AMX, nil where this process may not use it.
func tileLoops(dtype string) []loop {
	if len(amx.Missing()) > 0 {
		return nil
	}
	switch dtype {
	case "float32":
		return []loop{}
	case "bfloat16":
		return []loop{{tilesBFloat16, tileTurn * 2}}
	case "int8":
		return []loop{{tilesInt8, tileTurn * 4}}
	}
	return nil
}

func tilesBFloat16(turns int) {
	config := amx.Grid(2*amx.Rows, 2*amx.Rows)
	peakTilesBFloat16AMX(&config, (*byte)(unsafe.Pointer(&tileHalves)), turns)
}

func tilesInt8(turns int) {
	config := amx.Grid(2*amx.Rows, 2*amx.Rows)
	peakTilesInt8AMX(&config, &tileBytes[0], turns)
}

// Four tiles of random factors: zeros multiply up to a quarter faster.
var (
	tileHalves = func() (h [4 * amx.Size / 2]uint16) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range h { // ±2^-3 … 2
			h[i] = uint16(r.IntN(2)<<15 | (124+r.IntN(4))<<7 | r.IntN(128))
		}
		return h
	}()
	tileBytes = func() (b [4 * amx.Size]byte) {
		r := rand.New(rand.NewPCG(3, 4))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}()
)
