package interp

import (
	"fmt"

	"matladder/tile"
	"matladder/tile/tiletest"
)

// CheckMasks returns options under which every Dot is checked: the coordinates
// that are padding, element by element, must be those that tile's analysis of
// PartialTiles names. Differences go to report.
func CheckMasks(report func(string)) Options {
	infos := map[*tile.Program]*tile.PartialTiles{}
	return Options{watchDot: func(m *machine, dot *tile.Expr, a, b block) {
		info := infos[m.program]
		if info == nil {
			info = m.program.PartialTiles()
			infos[m.program] = info
		}
		depth := dot.Args[0].Shape[1]
		if dot.TransA {
			depth = dot.Args[0].Shape[0]
		}
		want := make([]bool, depth)
		for _, edge := range info.Contraction(dot) {
			from, to := tiletest.Padding(edge, m)
			for k := from; k < to; k++ {
				want[k] = true
			}
		}
		have := make([]bool, depth)
		for arg, operand := range []block{a, b} {
			bit := contraction(dot, arg)
			shape := dot.Args[arg].Shape
			padded := make([]int, depth)
			for i := range operand.val {
				k := i / shape[1]
				if bit == padBit(1, 2) {
					k = i % shape[1]
				}
				if operand.at(i)&bit != 0 {
					padded[k]++
				}
			}
			for k, n := range padded {
				if n != 0 && n != len(operand.val)/depth {
					report(fmt.Sprintf("%s: coordinate %d%s of operand %d is padding in part", dot.Pos, k, m.where(), arg))
				}
				have[k] = have[k] || n > 0
			}
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			report(fmt.Sprintf("%s%s: padding along the contraction is %v, by the analysis %v", dot.Pos, m.where(), have, want))
		}
	}}
}
