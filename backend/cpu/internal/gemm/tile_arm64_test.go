package gemm

import (
	"testing"

	"golang.org/x/sys/cpu"
)

func TestTile_NEON(t *testing.T) {
	testTile(t, twins[float32]{"float32", NEON, neonMR, neonNR, tileFloat32OnNEON, tileFloat32(neonMR, neonNR), smallFloat})
	if !cpu.ARM64.HasASIMDDP {
		t.Skip("this machine lacks asimddp")
	}
	testTile(t, twins[int32]{"quads", NEON, neonMR, neonNR, tileQuadsOnNEON, tileSignedQuads(neonMR, neonNR), anyBits})
}

// TestAssembly_NEON: what multiplies has its text and its machine code, which inspect shows.
func TestAssembly_NEON(t *testing.T) {
	for _, f := range []any{tileFloat32OnNEON, tileQuadsOnNEON, stridedFloat32NEON, stridedRowFloat32NEON} {
		name := nameOf(f)
		if file, text := Assembly(name); file == "" || text == "" || len(Code(name)) == 0 {
			t.Errorf("%s: file %q, %d characters, %d bytes", name, file, len(text), len(Code(name)))
		}
	}
}
