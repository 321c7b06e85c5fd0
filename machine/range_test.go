package machine

import (
	"math"
	"strings"
	"testing"
)

// TestInPState: a v7x reaches its published peak in its fastest state alone, 996 of 1153 TFLOP/s
// in the default one, as libtpu's cost model has it; other chips have no states.
func TestInPState(t *testing.T) {
	d, err := Find("v7x")
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[int]float64{3: 996e12, 7: 1153.5e12} {
		in, err := d.InPState(state)
		if got := in.PacedPeak("bfloat16", "").Value; err != nil || math.Abs(got/want-1) > 1e-3 || in.Peak["bfloat16"].Value != 1153.5e12 {
			t.Errorf("state %d: %g FLOP/s, want %g (%v)", state, got, want, err)
		}
		if slow, fast := in.Extremes(); slow.ClockHertz.Value != in.ClockHertz.Value || fast.ClockHertz.Value != in.ClockHertz.Value {
			t.Errorf("state %d is known, and its clock from %g to %g", state, slow.ClockHertz.Value, fast.ClockHertz.Value)
		}
	}
	if three, _ := d.InPState(3); three.ClockHertz.Value != d.ClockHertz.Value {
		t.Errorf("the default clock is %g, that of state 3 is %g", d.ClockHertz.Value, three.ClockHertz.Value)
	}
	if _, err := d.InPState(9); err == nil || !strings.Contains(err.Error(), "[3 5 7]") {
		t.Errorf("state 9: %v", err)
	}
	v6e, _ := Find("v6e")
	if _, err := v6e.InPState(3); err == nil || v6e.PacedPeak("bfloat16", "").Value != v6e.Peak["bfloat16"].Value {
		t.Errorf("v6e has states: %v", err)
	}
}

// TestExtremes: each figure that sources disagree on is at one end on the slowest device
// and at the other on the fastest, and others stay as they are.
func TestExtremes(t *testing.T) {
	d, err := Find("v7x")
	if err != nil {
		t.Fatal(err)
	}
	slow, fast := d.Extremes()
	for _, test := range []struct {
		name             string
		slow, mid, fast  float64
		least, mid2, top float64
	}{
		{"peak of bfloat16", slow.Peak["bfloat16"].Value, d.Peak["bfloat16"].Value, fast.Peak["bfloat16"].Value, 1153.5e12, 1153.5e12, 1155e12},
		{"peak of bfloat16 at the clock", slow.PacedPeak("bfloat16", "").Value, d.PacedPeak("bfloat16", "").Value, fast.PacedPeak("bfloat16", "").Value, 1153.5e12 * 19 / 22, 1153.5e12 * 19 / 22, 1155e12},
		{"clock", slow.ClockHertz.Value, d.ClockHertz.Value, fast.ClockHertz.Value, 1.9e9, 1.9e9, 2.2e9},
		{"peak of int8", slow.Peak["int8"].Value, d.Peak["int8"].Value, fast.Peak["int8"].Value, 0, 0, 0},
		{"step", -slow.StepOverheadSeconds.Value, -d.StepOverheadSeconds.Value, -fast.StepOverheadSeconds.Value, -360e-9, -240e-9, -120e-9},
	} {
		if near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }; !near(test.slow, test.least) || !near(test.mid, test.mid2) || !near(test.fast, test.top) {
			t.Errorf("%s: %g, %g, %g, want %g, %g, %g", test.name, test.slow, test.mid, test.fast, test.least, test.mid2, test.top)
		}
	}
	if slow.AttainedBytesPerSecond.Value != d.AttainedBytesPerSecond.Value || fast.AttainedBytesPerSecond.Known() {
		t.Errorf("attained bandwidth %v and %v", slow.AttainedBytesPerSecond, fast.AttainedBytesPerSecond)
	}
}
