package harness

import (
	"path/filepath"
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
	"matladder/backend/cpu"
	"matladder/results"
)

// TestRun_Inputs: each point is measured with each kind of inputs, which are points of their
// own to go on with, and what writes nothing is wrong even where zeros were right.
func TestRun_Inputs(t *testing.T) {
	be, err := cpu.Open(cpu.Options{Threads: 2, NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer be.Close()
	const text = "sizes: [16x24x40]\ndtypes: [float32, int8]\nkernels: [3]\nblocks: 16x16x16\nrounds: {min: 1, max: 1}\n"
	sweep := func(inputs string) Sweep {
		c, err := Parse("inputs.yaml", []byte(text+inputs))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Plan(t.Context(), c, be.Device(), backend.Params{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	out := filepath.Join(t.TempDir(), "rows.csv")
	run := func(be backend.Backend, out, inputs string, resume bool) []results.Record {
		o, err := Run(t.Context(), sweep(inputs), Options{Backend: be, Out: out, Resume: resume, Provenance: Provenance{RunID: "test"}})
		if err != nil {
			t.Fatal(err)
		}
		return o.Rows
	}
	run(be, out, "dist: uniform\n", false)
	const all = "inputs: [zeros, ones, sparse:50, bits:4, integers, uniform]\n"
	rows := run(be, out, all, true)
	points := map[results.PointKey]int{}
	for _, r := range rows {
		points[r.Point()]++
		want := results.OK
		if r.DtypeA == "int8" && r.Dist == "bits:4" {
			want = results.Unsupported
		}
		if r.Status != want {
			t.Errorf("%s %s %s: %s: %s", r.Kernel, r.DtypeA, r.Dist, r.Status, r.Reason)
		}
	}
	for _, r := range run(be, out, all, true) { // those that others disturbed are measured again
		if points[r.Point()] == 0 || len(points) != 2*6 {
			t.Errorf("%s %s %s: another point than the %d before", r.Kernel, r.DtypeA, r.Dist, len(points))
		}
	}
	idle := backendtest.Broken(be, func(n int) string {
		if n > 1 {
			return backendtest.Idle
		}
		return ""
	})
	for _, r := range run(idle, out+"2", "inputs: zeros\n", false) {
		if r.Status != results.Wrong {
			t.Errorf("%s %s writes nothing: %s", r.Kernel, r.DtypeA, r.Status)
		}
	}
}
