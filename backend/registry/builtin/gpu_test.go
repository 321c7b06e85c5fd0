package builtin

import (
	"testing"

	"matladder/backend"
)

// TestFilled: what other processes hold of a GPU is told where it is much.
func TestFilled(t *testing.T) {
	for _, test := range []struct {
		g    backend.Gauge
		want string
	}{
		{backend.Gauge{}, ""},
		{backend.Gauge{MemoryBytes: 80 << 30, UsedBytes: 600 << 20}, ""}, // the driver's own
		{backend.Gauge{MemoryBytes: 80 << 30, UsedBytes: 71 << 30}, "other processes hold 71.0 GiB of the GPU's 80.0 GiB: nvidia-smi lists them"},
	} {
		if got := filled(test.g); got != test.want {
			t.Errorf("%+v: %q, want %q", test.g, got, test.want)
		}
	}
}
