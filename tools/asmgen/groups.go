package asmgen

import "fmt"

// groups writes the micro-kernel of groups of k that have scales. Ahead of the words of a group, panels
// have the scales of its lanes, and those of an a whose b is offset then what its sums start from.
//
// A group is summed in registers. Its sums then become float32, are multiplied by both scales, and are
// added to others in registers. So a tile has half the rows of a panel at most.
func (t Tile) groups(a *Asm) {
	const rTurns = rBias
	a.Func("groups"+t.Name+t.Suffix, "(c *float32, ldc, groups int, a, b *uint32, next uintptr, rows, turns int, accumulate bool)",
		rC, rLDC, rSteps, rA, rB, rNext, rRows, rTurns, rAcc)
	a.Op("SHLQ", imm(2), rLDC)
	t.prefetchC(a)
	var labels []Label
	for rows := t.MR / 2; rows > 0; rows-- {
		labels = append(labels, a.NewLabel(fmt.Sprintf("rows%d_", rows)))
		a.JumpIf(rRows, "JEQ", rows, labels[len(labels)-1])
	}
	a.Return()
	for i, label := range labels {
		a.Place(label)
		t.groupsOf(a, t.MR/2-i, rTurns)
		a.Return()
	}
}

func (t Tile) groupsOf(a *Asm, rows int, rTurns string) {
	const rHeadA, rHeadB = "R14", "R15"
	all := t.MR / 2 * t.Vectors
	b, others := t.regs(2*all, 2*all+t.Vectors), t.regs(2*all+t.Vectors, t.Registers)
	codes, sums := t.corner(rows, t.Vectors), t.regs(all, all+rows*t.Vectors)
	t.zero(a, sums...)
	var scalesB []string
	if len(others) > 2*t.Vectors {
		scalesB = others[:t.Vectors]
	}
	// finish adds the scaled sums of a row, which were complete a few rows ago: what multiplies them
	// is between what sums the next ones, so that neither waits.
	finish := func(r int, scale string) {
		a.Op("VBROADCASTSS", at(rHeadA, r*4), scale)
		for v := range b {
			by, sum := at(rHeadB, v*t.bytes()), codes[r*t.Vectors+v]
			if scalesB != nil {
				by = scalesB[v]
			}
			a.Op("VCVTDQ2PS", sum, sum)
			a.Op("VMULPS", by, sum, sum)
			a.Op("VFMADD231PS", sum, scale, sums[r*t.Vectors+v])
		}
	}
	const behind = 3
	a.CountDown(rSteps, func() {
		a.Op("MOVQ", rA, rHeadA)
		a.Op("MOVQ", rB, rHeadB)
		head := t.MR * 4
		if t.offset {
			for r := range rows {
				a.Op(t.Broadcast, at(rHeadA, head+r*4), codes[r*t.Vectors])
				for v := 1; v < t.Vectors; v++ {
					a.Op("VMOVAPS", codes[r*t.Vectors], codes[r*t.Vectors+v])
				}
			}
			head *= 2
		} else {
			t.zero(a, codes...)
		}
		a.advance(head, rA)
		a.advance(t.Vectors*t.bytes(), rB)
		turn := func(last bool) {
			t.prefetchB(a, unroll)
			temp := inTurn(others[len(scalesB):])
			for s := range unroll {
				for v := range b {
					a.Op("VMOVUPS", at(rB, (s*t.Vectors+v)*t.bytes()), b[v])
				}
				for r := range rows {
					t.multiplyRow(a, s, r, b, codes[r*t.Vectors:], temp)
					if last && s == unroll-1 && r >= behind {
						finish(r-behind, temp())
					}
				}
				for r := max(0, rows-behind); last && s == unroll-1 && r < rows; r++ {
					finish(r, temp())
				}
			}
			t.advance(a, rows, unroll)
		}
		last := a.NewLabel("last")
		a.Op("MOVQ", rTurns, rCount)
		a.Op("DECQ", rCount)
		a.Op("JZ", string(last))
		a.CountDown(rCount, func() { turn(false) })
		a.Place(last)
		for v, scale := range scalesB {
			a.Op("VMOVUPS", at(rHeadB, v*t.bytes()), scale)
		}
		turn(true)
	})
	a.addOrNot(rAcc, func(add bool) {
		a.Op("MOVQ", rC, rRow)
		for r := range rows {
			for v := range t.Vectors {
				sum, to := sums[r*t.Vectors+v], at(rRow, v*t.bytes())
				if add {
					a.Op("VADDPS", to, sum, sum)
				}
				a.Op("VMOVUPS", sum, to)
			}
			if r < rows-1 {
				a.Op("ADDQ", rLDC, rRow)
			}
		}
	})
}
