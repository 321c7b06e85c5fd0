package chips

import (
	"math"
	"strings"
	"testing"
)

func device(t *testing.T, key string) Device {
	t.Helper()
	d, ok := Lookup(key)
	if !ok {
		t.Fatalf("no device %q", key)
	}
	return d
}

func TestEmbeddedTableParses(t *testing.T) {
	if _, err := parse("chips.yaml", embedded); err != nil {
		t.Fatal(err)
	}
}

// TestRidge compares with ridges worked out by hand from published figures, in
// FLOPs per byte. They do not depend on how a chip is cut into devices.
func TestRidge(t *testing.T) {
	want := map[string]float64{
		"tpu_v2": 64, "tpu_v3": 137, "tpu_v4": 229, "tpu_v5e": 241, "tpu_v5p": 166,
		"tpu_v6e": 560, "tpu_v7x": 313, "tpu_8i": 128, "tpu_8t": 156,
		"nvidia_h100_sxm": 295, "nvidia_h200": 206, "nvidia_a100_80gb": 153,
	}
	for key, w := range want {
		if got, ok := device(t, key).Ridge("bfloat16"); !ok || math.Round(got) != w {
			t.Errorf("%s: ridge %.1f, %v; want %v", key, got, ok, w)
		}
	}
	if r, ok := device(t, "tpu_v7x").Ridge("int8"); ok {
		t.Errorf("tpu_v7x: int8 ridge %v though its peak is unknown", r)
	}
	if r, ok := (Device{Peak: map[string]Figure{"float32": {Value: 1e9}}}).Ridge("float32"); ok {
		t.Errorf("ridge %v without a bandwidth", r)
	}
}

func TestFindRefusesAmbiguousAndUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"v5":      `device "v5" may be tpu_v5e or tpu_v5p: name one`,
		"V5:2x2":  "may be tpu_v5e or tpu_v5p",
		"A100":    "may be nvidia_a100_40gb or nvidia_a100_80gb",
		"TPU v9":  `device "TPU v9" is unknown: known are nvidia_a100_40gb, `,
		"":        `device "" is unknown`,
		"v5e:":    "is unknown",
		"v5e:2xx": "is unknown",
		"v5e-0":   "is unknown",
		"TPU":     "is unknown",
	} {
		if d, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q) = %q, %v; want error with %q", name, d.Key, err, want)
		}
		if d, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %s; want none", name, d.Key)
		}
	}
}
