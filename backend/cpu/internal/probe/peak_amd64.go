package probe

import (
	"math/rand/v2"
	"unsafe"

	"golang.org/x/sys/cpu"

	"matladder/backend/cpu/internal/amx"
)

func has(isa string) bool {
	x := &cpu.X86
	switch isa {
	case "avx2":
		return x.HasAVX2 && x.HasFMA
	case "avx512":
		return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
	case "amx", onTiles:
		return len(amx.Missing()) == 0
	}
	return false
}

// onTiles names the loops of AMX without those of AVX-512, which processors with it have.
const onTiles = "tiles"

// ownLoops are written by tools/asmgen: 24 (AVX-512) or 12 (AVX2)
// independent multiply-adds on registers a turn, or four products of 16×64 by 64×16 bytes,
// on two tiles of each side that data holds.
func ownLoops() []loopsOf {
	const (
		ymm = 12 * 8 * 2 // operations a turn with one element in each 32 bits
		zmm = 24 * 16 * 2
	)
	x := &cpu.X86
	return []loopsOf{
		{"avx2", "float32 bfloat16", true, []loop{{peakFloat32AVX2, ymm}}},
		{"avx2", "int8", true, []loop{{peakPairsAVX2, 2 * ymm}}},
		{"avx2", "int8", x.HasAVXVNNI, []loop{{peakQuadsAVX2, 4 * ymm}}},
		{"avx512 amx", "float32 bfloat16", true, []loop{{peakFloat32AVX512, zmm}}},
		{"avx512 amx", "bfloat16", x.HasAVX512BF16, []loop{{peakBFloat16AVX512, 2 * zmm}}},
		{"avx512 amx", "int8", true, []loop{{peakPairsAVX512, 2 * zmm}}},
		{"avx512 amx", "int8", x.HasAVX512VNNI, []loop{{peakQuadsAVX512, 4 * zmm}}},
		{onTiles + " amx", "bfloat16", true, []loop{{tilesBFloat16, tileTurn * 2}}},
		{onTiles + " amx", "int8", true, []loop{{tilesInt8, tileTurn * 4}}},
	}
}

// tileTurn is the operations of a turn, for each element in 32 bits.
const tileTurn = 4 * 16 * 16 * 16 * 2

func tilesBFloat16(turns int) {
	config := amx.Grid(2*amx.Rows, 2*amx.Rows)
	peakTilesBFloat16AMX(unsafe.Pointer(&config), unsafe.Pointer(&tileHalves), turns)
}

func tilesInt8(turns int) {
	config := amx.Grid(2*amx.Rows, 2*amx.Rows)
	peakTilesInt8AMX(unsafe.Pointer(&config), unsafe.Pointer(&tileBytes), turns)
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
