package asmgen

import "testing"

// TestTileOpcodes compares with what GNU as (binutils 2.40) makes of the same
// instructions, with registers that use each bit of the prefix and addresses
// of each form.
func TestTileOpcodes(t *testing.T) {
	for _, x := range []struct {
		write         func(*Asm)
		want, comment string
	}{
		{func(a *Asm) { a.ConfigureTiles("AX") }, "c4 e2 78 49 00", "LDTILECFG (AX)"},
		{func(a *Asm) { a.ConfigureTiles("R14") }, "c4 c2 78 49 06", "LDTILECFG (R14)"},
		{func(a *Asm) { a.ReleaseTiles() }, "c4 e2 78 49 c0", "TILERELEASE"},
		{func(a *Asm) { a.ZeroTile("T0") }, "c4 e2 7b 49 c0", "TILEZERO T0"},
		{func(a *Asm) { a.ZeroTile("T7") }, "c4 e2 7b 49 f8", "TILEZERO T7"},
		{func(a *Asm) { a.MoveTile("TILELOADD", 0, "DX", "R11", "T0") }, "c4 a2 7b 4b 04 1a", "TILELOADD (DX)(R11*1), T0"},
		{func(a *Asm) { a.MoveTile("TILELOADD", 64, "R13", "R10", "T7") }, "c4 82 7b 4b 7c 15 40", "TILELOADD 64(R13)(R10*1), T7"},
		{func(a *Asm) { a.MoveTile("TILELOADD", 0, "R13", "R10", "T6") }, "c4 82 7b 4b 74 15 00", "TILELOADD (R13)(R10*1), T6"},
		{func(a *Asm) { a.MoveTile("TILELOADD", 0, "BP", "AX", "T1") }, "c4 e2 7b 4b 4c 05 00", "TILELOADD (BP)(AX*1), T1"},
		{func(a *Asm) { a.MoveTile("TILELOADDT1", 1024, "SI", "R9", "T5") }, "c4 a2 79 4b ac 0e 00 04 00 00", "TILELOADDT1 1024(SI)(R9*1), T5"},
		{func(a *Asm) { a.MoveTile("TILELOADDT1", 0, "R12", "CX", "T3") }, "c4 c2 79 4b 1c 0c", "TILELOADDT1 (R12)(CX*1), T3"},
		{func(a *Asm) { a.MoveTile("TILESTORED", 0, "AX", "R11", "T2") }, "c4 a2 7a 4b 14 18", "TILESTORED T2, (AX)(R11*1)"},
		{func(a *Asm) { a.MoveTile("TILESTORED", -128, "R15", "DI", "T3") }, "c4 c2 7a 4b 5c 3f 80", "TILESTORED T3, -128(R15)(DI*1)"},
		{func(a *Asm) { a.MoveTile("TILESTORED", -129, "R8", "DI", "T4") }, "c4 c2 7a 4b a4 38 7f ff ff ff", "TILESTORED T4, -129(R8)(DI*1)"},
		{func(a *Asm) { a.MultiplyTiles("TDPBF16PS", "T6", "T4", "T0") }, "c4 e2 4a 5c c4", "TDPBF16PS T6, T4, T0"},
		{func(a *Asm) { a.MultiplyTiles("TDPBF16PS", "T1", "T2", "T7") }, "c4 e2 72 5c fa", "TDPBF16PS T1, T2, T7"},
		{func(a *Asm) { a.MultiplyTiles("TDPBSSD", "T7", "T5", "T3") }, "c4 e2 43 5e dd", "TDPBSSD T7, T5, T3"},
		{func(a *Asm) { a.MultiplyTiles("TDPBSSD", "T0", "T3", "T6") }, "c4 e2 7b 5e f3", "TDPBSSD T0, T3, T6"},
	} {
		a := &Asm{}
		x.write(a)
		if code, comment := encodedLine(string(a.Bytes())); code != x.want || comment != x.comment {
			t.Errorf("%s is %s, want %s for %s", comment, code, x.want, x.comment)
		}
	}
}
