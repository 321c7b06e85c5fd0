package asmgen

// Registers of an edge routine besides those of a tile.
const (
	rPanel = rAcc // a's next panel is so many bytes on
	rGroup = rCols
)

// rPanels go along the panels of a group.
var rPanels = []string{rA, rBias, rRow, rSteps}

// edgeCols is the most columns of an edge routine.
const edgeCols = 4

// edge writes the routine for the few columns of the last panel of b. Lanes of its
// sums are rows: each step loads the words of a for all rows of a panel and meets them
// with one broadcast word of b for each column. What lanes beyond the rows hold, the
// next step, is dropped. Several panels of a take their steps together, so that enough
// sums are under way.
func (t Tile) edge(a *Asm) {
	a.FuncFrame("edge"+t.Name+t.Suffix, edgeFrame, t.summing("ldc int, next uintptr, rows, cols int, a *uint32, panel, steps int, b *uint32"), rC, rLDC, rNext, rRows, rCols)
	a.Op("SHLQ", imm(2), rLDC)
	if t.Masks {
		firstLanes(a, t.MR, rCount, edgeMask)
	}
	for cols := 1; cols <= edgeCols; cols++ {
		more := a.NewLabel("more")
		if cols < edgeCols {
			a.JumpIf(rCols, "JNE", cols, more)
		}
		t.edgeGroups(a, cols)
		if cols < edgeCols {
			a.Place(more)
		}
	}
}

// edgePanels is how many panels go together: their sums and words of a have the
// registers that the sums of a tile have, words of b and products the rest.
func (t Tile) edgePanels(cols int) int {
	panels := min(len(rPanels), t.MR*t.Vectors/(cols+1))
	for cols*t.edgeColumn(panels) > edgeFrame {
		panels--
	}
	return panels
}

// edgeFrame is the bytes of the sums of a group, column after column: a routine that
// checks no stack has not many more.
const edgeFrame = 640

// edgeColumn is the bytes of a column in the frame, where the last panel takes a
// whole vector.
func (t Tile) edgeColumn(panels int) int { return ((panels-1)*t.MR + t.Lanes) * 4 }

// edgeGroups goes through the panels of a, some at a time. Where fewer are left the
// last one counts again.
func (t Tile) edgeGroups(a *Asm, cols int) {
	panels := t.edgePanels(cols)
	group := a.NewLabel("group")
	a.Op("MOVQ", a.arg("a"), rGroup)
	a.Place(group)
	a.Op("MOVQ", a.arg("panel"), rPanel)
	a.Op("SHLQ", imm(2), rPanel)
	a.Op("MOVQ", rGroup, rPanels[0])
	for p := 1; p < panels; p++ {
		a.Op("LEAQ", indexed(at(rPanels[p-1], 0), rPanel, 1), rPanels[p])
		a.Op("CMPQ", rRows, imm(p*t.MR))
		a.Op("CMOVQLE", rPanels[p-1], rPanels[p])
	}
	for range panels {
		a.Op("ADDQ", rPanel, rGroup)
	}
	sums := t.edgeSums(a, cols, panels)
	for i, sum := range sums {
		a.Op("VMOVUPS", sum, at("SP", i/panels*t.edgeColumn(panels)+i%panels*t.MR*4))
	}
	t.edgeStore(a, cols, panels)
	a.Op("SUBQ", imm(panels*t.MR), rRows)
	a.Op("JGT", string(group))
	a.Return()
}

// edgeSums multiplies a group by all steps of b. Of its sums, the panels of the first
// column come first.
func (t Tile) edgeSums(a *Asm, cols, panels int) []string {
	sums := t.regs(0, cols*panels)
	t.zero(a, sums...)
	parts := t.apart(a, sums)
	free := t.regs(len(parts)*len(sums), t.Registers)
	b, temp := free[:cols], inTurn(free[cols:])
	step := func(s int, sums []string, load func(panel, words string)) {
		for j := range b {
			a.Op(t.Broadcast, at(rB, (s*t.Vectors*t.Lanes+j)*4), b[j])
		}
		for p, panel := range rPanels[:panels] {
			words := temp()
			load(panel, words)
			for j := range b {
				t.multiplyAdd(a, b[j], words, sums[j*panels+p], temp)
			}
		}
	}

	a.Op("MOVQ", a.arg("b"), rB)
	a.Op("MOVQ", a.arg("steps"), rPanel)
	a.EOL("the last step loads nothing behind it")
	a.Op("DECQ", rPanel)
	a.Align()
	a.Unrolled(rPanel, rCount, unroll, func(steps int) {
		t.prefetchB(a, steps)
		for s := range steps {
			step(s, parts[s%len(parts)], func(panel, words string) { a.Op("VMOVUPS", at(panel, s*t.MR*4), words) })
		}
		a.advance(steps*t.MR*4, rPanels[:panels]...)
		a.Op("ADDQ", imm(steps*t.Vectors*t.bytes()), rB)
	})
	step(0, sums, func(panel, words string) {
		if t.Masks {
			a.Op("VMOVUPS.Z", at(panel, 0), edgeMask, words)
			return
		}
		a.Op("VBROADCASTSD", at(panel, 16), words)
		a.Op("VINSERTF128", imm(0), at(panel, 0), words, words)
	})
	t.together(a, parts)
	return sums
}

// edgeStore writes the rows of a group to c, which it leaves behind them.
func (t Tile) edgeStore(a *Asm, cols, panels int) {
	const from, count = rA, rCount
	a.Op("MOVQ", "SP", from)
	a.Op("MOVQ", imm(panels*t.MR), count)
	a.Op("CMPQ", rRows, count)
	a.Op("CMOVQLT", rRows, count)
	a.Op("MOVBLZX", a.arg("accumulate"), rPanel)
	a.addOrNot(rPanel, func(add bool) {
		a.CountDown(count, func() {
			for j := range cols {
				sum, held := xmm(t.reg(2*j)), xmm(t.reg(2*j+1))
				a.Op("VMOVSS", at(from, j*t.edgeColumn(panels)), sum)
				if add {
					a.Op("VMOVSS", at(rC, 4*j), held)
					a.Op(t.Add, held, sum, sum)
				}
				a.Op("VMOVSS", sum, at(rC, 4*j))
			}
			a.Op("ADDQ", imm(4), from)
			a.Op("ADDQ", rLDC, rC)
		})
	})
}

const edgeMask = "K1" // lanes that are rows of a panel
