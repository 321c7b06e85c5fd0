package harness

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"matladder/stats"

	"matladder/machine"
	"matladder/results"
)

// prober answers with a figure each time it is asked, the last one again and again.
type prober struct {
	*fake
	asked   int
	float32 []float64 // FLOP/s
}

func (p *prober) Probe(context.Context) machine.Device {
	d := p.device.Remeasured(machine.Device{})
	d.Peak["float32"] = machine.Figure{Value: p.float32[min(p.asked, len(p.float32)-1)], Source: "a probe", Measured: true}
	p.asked++
	return d
}

// TestRun_Probes: a peak that was measured while the machine was busy condemns
// nothing: it is measured once more, and rows say what it is then.
func TestRun_Probes(t *testing.T) {
	for _, c := range []struct {
		name   string
		before float64   // FLOP/s; kernels reach 5e9
		probes []float64 // what later ones find
		asked  int
		status results.Status
	}{
		{"above all", 6e9, []float64{7e9}, 0, results.OK},
		{"found too low", 1e9, []float64{6e9}, 1, results.OK},
		{"found too low twice", 1e9, []float64{2e9, 6e9}, 2, results.OK},
		{"within the margin for good", 4.8e9, []float64{4.8e9}, 3, results.OK},
		{"below all for good", 1e9, []float64{1e9}, 3, results.Impossible},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			f.device.Peak["float32"] = machine.Figure{Value: c.before, Source: "a probe", Measured: true}
			f.device.BandwidthBytesPerSecond = machine.Figure{}
			p := &prober{fake: f, float32: c.probes}
			cfg := small(t, "kernels: 3\n")
			cfg.Asked = cfg.Asked[:1] // float32
			path := filepath.Join(t.TempDir(), "rows.csv")
			opt := options(f, path)
			opt.Prober = p
			out, err := start(context.Background(), plan(t, cfg, f), opt, f.now)
			if err != nil {
				t.Fatal(err)
			}
			if p.asked != c.asked {
				t.Errorf("%d probes, want %d", p.asked, c.asked)
			}
			want := c.before
			if c.asked > 0 {
				want = c.probes[len(c.probes)-1]
			}
			last := out.Rows[len(out.Rows)-1]
			if last.Status != c.status || last.PeakFLOPs != want || last.PeakSource != "a probe" {
				t.Errorf("%s %q of a peak of %g (%s), want %s of %g", last.Status, last.Reason, last.PeakFLOPs, last.PeakSource, c.status, want)
			}
			for _, s := range stats.Summarize(out.Rows) {
				if s.Status != c.status {
					t.Errorf("%s: %s", s.Kernel, s.Status)
				}
			}
			if c.status == results.Impossible && !strings.Contains(last.Reason, "above the float32 peak of 1e+09 (a probe)") {
				t.Errorf("reason %q", last.Reason)
			}
		})
	}
}
