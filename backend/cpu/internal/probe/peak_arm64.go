package probe

import "golang.org/x/sys/cpu"

func has(isa string) bool { return isa == "neon" }

// ownLoops are written by tools/asmgen: 24 independent multiply-adds on registers a turn.
func ownLoops() []loopsOf {
	const ops = 24 * 4 * 2 // a turn, of one element in each 32 bits
	dots := cpu.ARM64.HasASIMDDP
	return []loopsOf{
		{"neon", "float32 bfloat16", true, []loop{{peakFloat32NEON, ops}}},
		{"neon", "int8", dots, []loop{{peakQuadsNEON, 4 * ops}}},
		{"neon", "int8", !dots, genericInts},
	}
}
