package machine

import "testing"

func TestCommonName(t *testing.T) {
	for name, want := range map[string]string{
		"TPU v5 lite": "TPU v5e", "v5e:2x2": "TPU v5e", "TPU v6 lite": "TPU v6e", "TPU v5": "TPU v5p", "TPU7x": "TPU v7x", "TPU v4": "TPU v4",
		"NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB HBM3", "AMD EPYC": "AMD EPYC", "": "",
	} {
		if got := CommonName(name); got != want {
			t.Errorf("%q is known as %q, want %q", name, got, want)
		}
	}
}
