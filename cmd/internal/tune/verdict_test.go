package tune

import (
	"bytes"
	"testing"

	"matladder/harness/tune"
	"matladder/harness/tuned"
	"matladder/internal/goldentest"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// TestShow: rows as --list prints them: confirmed, kept, with nothing to confirm and of
// before searches were counted, predicted, without and with adjustments that are faster;
// and the last as it is told when it is found.
func TestShow(t *testing.T) {
	chosen, rival, next := tile.Blocks{M: 64, K: 256, N: 512}, tile.Blocks{M: 256, K: 256, N: 256}, tile.Blocks{M: 512, K: 64, N: 128}
	confirmation := tuned.Confirmation{Rival: rival, Ratio: 1.05, Low: 1.02, High: 1.1, Rounds: 6}
	tried := map[tile.Blocks]float64{chosen: 1, next: 1.01, rival: 1.05, first: 1.5}
	e := tuned.Evidence{Mode: tuned.Measured, Seconds: 2e-3, Low: 1e-3, High: 3e-3, Samples: 9, RunnerUp: next, Behind: 0.01,
		Tried: tried, Confirmed: confirmation, Candidates: 125, Launched: 30, Ended: tuned.ByEvidence, Versions: "matladder 1, avx2", Date: "2026-11-22"}
	kept, alone, predicted := e, e, e
	kept.Confirmed.Low, kept.RunnerUp, kept.Launched, kept.Ended = 0.99, rival, 14, tuned.ByBudget
	alone.Confirmed, alone.Tried, alone.RunnerUp, alone.Ended = tuned.Confirmation{}, map[tile.Blocks]float64{chosen: 1}, tile.Blocks{}, ""
	predicted.Mode, predicted.Confirmed = tuned.Predicted, tuned.Confirmation{}
	var text bytes.Buffer
	r := tuned.Row{Key: tuned.KeyOf("v4_optblock", "", problem.New(512, 512, 512, tile.Float32)), Blocks: chosen}
	for _, r.Evidence = range []tuned.Evidence{e, kept, alone, predicted} {
		showRow(&text, r)
	}
	r.Evidence = e
	r.Evidence.Adjusted.Tried = 7
	showRow(&text, r)
	r.Params, r.Evidence.Adjusted = "b=pieces run=256", tuned.Adjustment{Tried: 7, Gain: 1.083, Low: 1.05, High: 1.1, Rounds: 12}
	showRow(&text, r)
	job := tune.Job{Kernel: kernels.All[3], Problem: problem.New(512, 512, 512, tile.Float32)}
	text.WriteString(verdict(job, r, problem.Machine{}) + "\n")
	goldentest.Assert(t, "testdata/show.golden", text.Bytes())
}
