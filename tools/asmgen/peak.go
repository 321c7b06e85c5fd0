package asmgen

// peak writes a loop of nothing but products between registers, enough of
// them independent to hide their latency: the rate no kernel exceeds.
func peak(v Vector, p Product) func(*Asm) {
	return func(a *Asm) {
		wordsA, wordsB := v.reg(v.Registers-1), v.reg(v.Registers-2)
		temp := inTurn(v.regs(v.Registers-4, v.Registers-2))
		a.Func("peak"+p.Name+v.Suffix, "(turns int)", rCount)
		a.EOL("about 0.5 as float32 and twice as bfloat16")
		a.Op("MOVL", imm(0x3f013f02), "AX")
		a.Op("VMOVD", "AX", "X0")
		a.Op("VPBROADCASTD", "X0", wordsA)
		a.Op("VPBROADCASTD", "X0", wordsB)
		v.zero(a, v.regs(0, peakSums(v))...)
		a.CountDown(rCount, func() {
			for _, sum := range v.regs(0, peakSums(v)) {
				p.multiplyAdd(a, wordsA, wordsB, sum, temp)
			}
		})
		a.Return()
	}
}

// peakSums is the number of independent sums; package probe counts with it.
func peakSums(v Vector) int { return v.Registers - v.Registers/4 }

// peak writes a loop of nothing but products between tiles that hold the
// caller's data: with zeros or ones the multipliers run faster than with any
// matrix of interest.
func (t Tiles) peak(a *Asm) {
	const config, data, stride = "AX", "SI", "DX"
	a.Func("peakTiles"+t.Name+"AMX", "(config, data unsafe.Pointer, turns int)", config, data, rCount)
	a.ConfigureTiles(config)
	a.Op("MOVQ", imm(tileLine), stride)
	for i, tile := range []string{aTiles[0], aTiles[1], bTiles[0], bTiles[1]} {
		a.MoveTile("TILELOADD", i*tileRows*tileLine, data, stride, tile)
	}
	each := grid{t, 2, 2}.each
	each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
	a.CountDown(rCount, func() {
		each(func(i, j int) { a.MultiplyTiles(t.Multiply, bTiles[j], aTiles[i], sumTiles[i][j]) })
	})
	a.ReleaseTiles()
	a.Op("RET")
}
