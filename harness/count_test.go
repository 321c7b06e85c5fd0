package harness

import (
	"testing"

	"matladder/kernels"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
)

// TestCount_OneLeast: bytes_min is the problem's, also where programs know arrays alone and
// where they cannot be counted.
func TestCount_OneLeast(t *testing.T) {
	f := problem.AttentionFamily
	asked, err := f.Parse("bfloat16:causal+end+lengths+rope")
	if err != nil {
		t.Fatal(err)
	}
	p := f.Make(problem.Sizes{64, 128, 2, 1, 16, 4}, asked)
	for _, k := range kernels.Ladder(f) {
		programs, err := k.Build(p, "", problem.Clip(p, tile.Blocks{M: 32, K: 64}))
		if err != nil {
			t.Fatal(err)
		}
		r := results.Record{BytesMin: p.Bytes()}
		if count(&r, programs); r.BytesMin != p.Bytes() || k.Number() <= 3 && (r.BytesMoved <= r.BytesMin || r.FLOPsComputed == 0) {
			t.Errorf("%s: %d bytes at least of %d, %d moved", k.Name(), r.BytesMin, p.Bytes(), r.BytesMoved)
		}
	}
}
