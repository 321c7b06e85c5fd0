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
