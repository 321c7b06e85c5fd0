package asmgen

// peak writes a loop of nothing but products between registers, enough of
// them independent to hide their latency: the rate no kernel exceeds.
func peak(v Vector, p Product) func(*Asm) {
	return func(a *Asm) {
		wordsA, wordsB := v.reg(v.Registers-1), v.reg(v.Registers-2)
		scratch := []string{v.reg(v.Registers - 3), v.reg(v.Registers - 4)}
		turn := 0
		temp := func() string {
			turn++
			return scratch[turn%len(scratch)]
		}
		a.Func("peak"+p.Name+v.Suffix, "turns", rCount)
		a.EOL("about 0.5 as float32 and twice as bfloat16")
		a.Op("MOVL", imm(0x3f013f02), "AX")
		a.Op("VMOVD", "AX", "X0")
		a.Op("VPBROADCASTD", "X0", wordsA)
		a.Op("VPBROADCASTD", "X0", wordsB)
		for i := range peakSums(v) {
			v.zero(a, v.reg(i))
		}
		a.CountDown(rCount, func() {
			for i := range peakSums(v) {
				p.multiplyAdd(a, wordsA, wordsB, v.reg(i), temp)
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
	a.Func("peakTiles"+t.Name+"AMX", "config, data, turns", config, data, rCount)
	a.ConfigureTiles(config)
	a.Op("MOVQ", imm(tileLine), stride)
	for i, tile := range []string{aTiles[0], aTiles[1], bTiles[0], bTiles[1]} {
		a.MoveTile("TILELOADD", i*tileRows*tileLine, data, stride, tile)
	}
	each := func(do func(i, j int)) {
		for i := range 2 {
			for j := range 2 {
				do(i, j)
			}
		}
	}
	each(func(i, j int) { a.ZeroTile(sumTiles[i][j]) })
	a.CountDown(rCount, func() {
		each(func(i, j int) { a.MultiplyTiles(t.Multiply, bTiles[j], aTiles[i], sumTiles[i][j]) })
	})
	a.ReleaseTiles()
	a.Op("RET")
}
