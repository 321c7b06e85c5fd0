package asmgen

import (
	"strings"
	"testing"
)

// TestOpcodes compares with what GNU as (binutils 2.40) makes of the same
// instructions, with registers that use each bit of the prefixes.
func TestOpcodes(t *testing.T) {
	for _, x := range []struct{ mnemonic, src2, src1, dst, want string }{
		{"VDPBF16PS", "Z25", "Z30", "Z23", "62 82 0e 40 52 f9"},
		{"VCVTNE2PS2BF16", "Z0", "Z1", "Z0", "62 f2 77 48 72 c0"},
		{"VDPBF16PS", "Z1", "Z2", "Z3", "62 f2 6e 48 52 d9"},
		{"VDPBF16PS", "Z24", "Z7", "Z0", "62 92 46 48 52 c0"},
		{"VPDPBUSD.VEX", "Y12", "Y15", "Y11", "c4 42 05 50 dc"},
		{"VPDPBUSD.VEX", "Y1", "Y2", "Y3", "c4 e2 6d 50 d9"},
		{"VPDPWSSD.VEX", "Y13", "Y14", "Y0", "c4 c2 0d 52 c5"},
		{"VPDPWSSD.VEX", "Y2", "Y9", "Y8", "c4 62 35 52 c2"},
	} {
		a := &Asm{}
		a.Encoded(x.mnemonic, x.src2, x.src1, x.dst)
		code, comment, _ := strings.Cut(string(a.Bytes()), " // ")
		got := strings.TrimSpace(strings.NewReplacer("BYTE $0x", "", ";", "").Replace(code))
		if got != x.want {
			t.Errorf("%s %s, %s, %s is %s, want %s", x.mnemonic, x.src2, x.src1, x.dst, got, x.want)
		}
		if want := strings.TrimSuffix(x.mnemonic, ".VEX") + " " + x.src2 + ", " + x.src1 + ", " + x.dst + "\n"; comment != want {
			t.Errorf("comment %q, want %q", comment, want)
		}
	}
}
