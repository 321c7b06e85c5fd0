package asmgen

// column writes the micro-kernel for whole tiles of one panel of b: what a tile does,
// for one panel of a after another.
func (t Tile) column(a *Asm) {
	t.columnOf(a, "column", "ldc, steps int, a, b *uint32, bias *C, next, end uintptr, panels, panel int")
}

// columnRows writes it for rows of an a that is not packed.
func (t Tile) columnRows(a *Asm) {
	t.rows = t.rowsFrom(rAcc)
	t.columnOf(a, "columnRows", "ldc, steps int, a *uint32, lda int, b *uint32, bias *C, next, end uintptr, panels int")
}

func (t Tile) columnOf(a *Asm, name, args string) {
	const panels, panel = rRows, rCols // left, and where the next one begins
	load := func(name, reg string) { a.Op("MOVQ", a.arg(name), reg) }
	a.Func(name+t.Name+t.Suffix, t.summing(args), rC, rLDC)
	a.Op("SHLQ", imm(2), rLDC)
	load("a", panel)
	load("panels", panels)
	load("next", rNext)
	top, more := a.NewLabel("panel"), a.NewLabel("more")
	a.Place(top)
	a.Op("MOVQ", panel, rA)
	load("b", rB)
	load("steps", rSteps)
	load("bias", rBias)
	t.start(a, rBias, a.arg("bias"))
	if t.rows != nil {
		load("lda", rLDA)
		t.rows.start(a)
		for range t.MR {
			a.Op("ADDQ", rLDA, panel)
		}
	}
	t.loop(a, t.MR, t.Vectors, true)

	a.Op("MOVBLZX", a.arg("accumulate"), rAcc)
	stores := a.NewLabel("store")
	a.JumpIf(rAcc, "JEQ", 0, stores)
	a.Op("MOVQ", rC, rRow)
	for r := range t.MR {
		for v := range t.Vectors {
			t.addVector(a, r, v, false)
		}
		a.Op("ADDQ", rLDC, rRow)
	}
	a.Place(stores)
	for r := range t.MR {
		for v := range t.Vectors {
			t.storeVector(a, r, v, false)
		}
		a.Op("ADDQ", rLDC, rC)
	}
	if t.rows == nil {
		load("panel", rRow)
		a.Op("LEAQ", indexed(at(panel, 0), rRow, 4), panel)
	}
	a.Op("CMPQ", rNext, a.arg("end"))
	a.Op("JLT", string(more))
	load("next", rNext)
	a.Place(more)
	a.Op("DECQ", panels)
	a.Op("JNE", string(top))
	a.Return()
}
