package aot

import (
	"errors"
	"math"
	"testing"

	"matladder/backend"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// TestPublished: a plain product has a time, a band around it and a source, and so has one of float8 with
// a scale for each array; nothing else has.
func TestPublished(t *testing.T) {
	d, err := machine.Find("nvidia_h100_sxm")
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenPublished(d)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	plain := problem.New(3000, 4096, 5000, tile.BFloat16)
	got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: plain})
	if rate := float64(plain.FLOPs()) / got.Elapsed.Seconds(); err != nil || got.Method != "published" || got.Low >= got.Elapsed || got.High <= got.Elapsed || rate < 4e14 || rate > d.PeakAt("bfloat16", "").Value {
		t.Errorf("%+v, %v", got, err)
	}
	half := problem.New(4096, 4096, 4096, tile.Float8E4M3FN)
	half.Quant, half.Out = problem.PerTensor, tile.BFloat16
	if got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: half}); err != nil || float64(half.FLOPs())/got.Elapsed.Seconds() < 8e14 {
		t.Errorf("%+v, %v", got, err)
	}
	half.M++
	scaled, wide, batch := plain, plain, plain
	scaled.Quant, wide.N, batch.Batch = problem.Quant("per_channel"), 1<<20, 2
	for _, p := range []problem.Problem{problem.New(512, 512, 512, tile.Float32), scaled, wide, batch, half} {
		if got, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: p}); !errors.Is(err, backend.ErrUnsupported) {
			t.Errorf("%v: %v, %v", p, got, err)
		}
	}
	large, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: problem.New(8, 8192, 8192, tile.BFloat16)})
	if err != nil {
		t.Fatal(err)
	}
	small, err := b.PredictBaseline(t.Context(), backend.ProblemSpec{Problem: problem.New(8, 2048, 2048, tile.BFloat16)}) // six weights fit the cache
	read := 2 * 2048 * 2048 / d.BandwidthBytesPerSecond.Value
	most := large.High.Seconds() / large.Elapsed.Seconds()
	if err != nil || math.Abs(small.High.Seconds()-small.Elapsed.Seconds()*most-read) > .01*read {
		t.Errorf("weights that stayed in the L2 cache: %+v, %v; a read of them takes %g s", small, err, read)
	}
	if l4, err := machine.Find("nvidia_l4"); err != nil {
		t.Fatal(err)
	} else if _, err := OpenPublished(l4); err == nil {
		t.Error("a baseline that nobody measured")
	}
}
