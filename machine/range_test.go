package machine

import "testing"

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
		{"peak of bfloat16", slow.Peak["bfloat16"].Value, d.Peak["bfloat16"].Value, fast.Peak["bfloat16"].Value, 996e12, 1153.5e12, 1155e12},
		{"clock", slow.ClockHertz.Value, d.ClockHertz.Value, fast.ClockHertz.Value, 1.9e9, 1.9e9, 2.2e9},
		{"peak of int8", slow.Peak["int8"].Value, d.Peak["int8"].Value, fast.Peak["int8"].Value, 0, 0, 0},
		{"step", -slow.StepOverheadSeconds.Value, -d.StepOverheadSeconds.Value, -fast.StepOverheadSeconds.Value, -360e-9, -240e-9, -120e-9},
	} {
		if test.slow != test.least || test.mid != test.mid2 || test.fast != test.top {
			t.Errorf("%s: %g, %g, %g, want %g, %g, %g", test.name, test.slow, test.mid, test.fast, test.least, test.mid2, test.top)
		}
	}
	if slow.AttainedBytesPerSecond.Value != d.AttainedBytesPerSecond.Value || fast.AttainedBytesPerSecond.Known() {
		t.Errorf("attained bandwidth %v and %v", slow.AttainedBytesPerSecond, fast.AttainedBytesPerSecond)
	}
}
