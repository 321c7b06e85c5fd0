package machine

import (
	"math"
	"reflect"
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

// figures of d by a name to print.
func figures(d Device) map[string]Figure {
	all := map[string]Figure{
		"bandwidth": d.BandwidthBytesPerSecond, "memory": d.MemoryBytes, "fast": d.FastBytes,
		"fast default": d.FastDefaultBytes, "last-level cache": d.LastLevelCacheBytes,
		"clock": d.ClockHertz, "step overhead": d.StepOverheadSeconds, "overlap exponent": d.OverlapExponent,
		"dispatch": d.DispatchSeconds,
	}
	for dtype, f := range d.Peak {
		all["peak "+dtype] = f
	}
	return all
}

func TestEmbeddedTableParses(t *testing.T) {
	if _, err := parse("chips.yaml", embedded); err != nil {
		t.Fatal(err)
	}
}

func TestEveryFigureHasASource(t *testing.T) {
	for _, d := range All() {
		for name, f := range figures(d) {
			switch {
			case f.Known() && f.Source == "":
				t.Errorf("%s: %s has no source", d.Key, name)
			case f.Measured:
				t.Errorf("%s: %s is published, not measured", d.Key, name)
			case !f.Known() && !reflect.DeepEqual(f, Figure{}) && f.Why == "":
				t.Errorf("%s: %s is unknown without a reason", d.Key, name)
			case len(f.Others) > 0 && f.Why == "":
				t.Errorf("%s: %s was chosen without a reason", d.Key, name)
			}
			for _, o := range f.Others {
				if o.Source == "" || !o.Known() && o.Why == "" {
					t.Errorf("%s: %s: incomplete disagreement %+v", d.Key, name, o)
				}
				// A slip of a factor of ten, or of chip and device, shows here.
				if ratio := o.Value / f.Value; f.Known() && o.Known() && (ratio < 0.49 || ratio > 2.05) {
					t.Errorf("%s: %s: %g and %g differ too much to be one figure", d.Key, name, f.Value, o.Value)
				}
			}
		}
		for _, f := range []Figure{d.Peak["bfloat16"], d.Peak["float32"], d.BandwidthBytesPerSecond, d.MemoryBytes, d.FastBytes} {
			if !f.Known() {
				t.Errorf("%s: lacks a figure every device has", d.Key)
			}
		}
		if d.FastDefaultBytes.Value > d.FastBytes.Value {
			t.Errorf("%s: the default of fast memory is more than there is", d.Key)
		}
		if (d.AlignSource == "") != (len(d.Align) == 0) {
			t.Errorf("%s: alignment and its source go together", d.Key)
		}
	}
}

// TestRidge compares with ridges worked out by hand from published figures, in
// FLOPs per byte. They do not depend on how a chip is cut into devices.
func TestRidge(t *testing.T) {
	want := map[string]float64{
		"tpu_v2": 64, "tpu_v3": 137, "tpu_v4": 229, "tpu_v5e": 241, "tpu_v5p": 166,
		"tpu_v6e": 560, "tpu_v7x": 313, "tpu_8i": 128, "tpu_8t": 156,
		"nvidia_h100_sxm": 295, "nvidia_h200": 206, "nvidia_a100_80gb": 153,
		"amd_mi300x": 247, "amd_mi325x": 218, "amd_mi350x": 288, "amd_mi355x": 315,
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

// TestImpliedClock divides each TPU's bfloat16 peak by the multiply-adds of its
// matrix units. Up to v5p that is the chip's clock; from v6e on it is known to
// be more than any clock, which is why peaks are a table.
func TestImpliedClock(t *testing.T) {
	want := map[string]float64{
		"tpu_v2": 0.70e9, "tpu_v3": 0.94e9, "tpu_v4": 1.05e9, "tpu_v5e": 1.50e9, "tpu_v5p": 1.75e9,
		"tpu_v6e": 3.50e9, "tpu_v7x": 4.40e9,
	}
	for key, w := range want {
		d := device(t, key)
		got := d.Peak["bfloat16"].Value / float64(2*d.Cores*d.MXUs*d.MXUSide*d.MXUSide)
		if math.Abs(got/w-1) > 0.01 {
			t.Errorf("%s: implied clock %.3g GHz, want %.3g", key, got/1e9, w/1e9)
		}
	}
}

// TestTensorCoreRate works NVIDIA peaks out from multiprocessors × four tensor
// cores × multiply-adds a clock × boost clock (rates of XLA's target configs;
// Ampere and Ada from NVIDIA's architecture papers).
func TestTensorCoreRate(t *testing.T) {
	for _, c := range []struct {
		key  string
		bf16 float64 // multiply-adds of one tensor core in one clock
		hz   float64
	}{
		{"nvidia_l4", 128, 2.04e9},
		{"nvidia_a100_40gb", 256, 1.41e9},
		{"nvidia_a100_80gb", 256, 1.41e9},
		{"nvidia_h100_sxm", 512, 1.8295201e9},
		{"nvidia_h100_pcie", 512, 1.62162e9},
		{"nvidia_h200", 512, 1.8295201e9},
	} {
		d := device(t, c.key)
		want := float64(d.Cores) * 4 * c.bf16 * 2 * c.hz
		for dtype, times := range map[string]float64{"bfloat16": 1, "float32": 0.5, "int8": 2} {
			if got := d.Peak[dtype].Value; math.Abs(got/(want*times)-1) > 0.015 {
				t.Errorf("%s: %s peak %.4g, its units make %.4g", c.key, dtype, got, want*times)
			}
		}
	}
}

// TestMatrixCoreRate works AMD peaks out from compute units × multiply-adds a clock × peak
// clock (Table 1 of AMD's CDNA 4 white paper).
func TestMatrixCoreRate(t *testing.T) {
	for key, bf16 := range map[string]float64{"amd_mi300x": 1024, "amd_mi325x": 1024, "amd_mi350x": 2048, "amd_mi355x": 2048} {
		d := device(t, key)
		want := float64(d.Cores) * bf16 * 2 * d.ClockHertz.Value
		for dtype, times := range map[string]float64{"bfloat16": 1, "float8_e4m3fn": 2, "int8": 2, Float32Highest: 128 / bf16} {
			if got := d.Peak[dtype].Value; math.Abs(got/(want*times)-1) > 0.001 {
				t.Errorf("%s: %s peak %.4g, its units make %.4g", key, dtype, got, want*times)
			}
		}
	}
}

// TestPeaksAgree checks relations that hold on every device of the table.
func TestPeaksAgree(t *testing.T) {
	for _, d := range All() {
		bf16 := d.Peak["bfloat16"].Value
		if f, ok := d.Peak[Float32Highest]; ok && d.Kind == TPU && math.Abs(6*f.Value/bf16-1) > 0.001 {
			t.Errorf("%s: highest precision is six bfloat16 passes: %g against %g", d.Key, f.Value, bf16)
		}
		if f, highest := d.Peak["float32"].Value, d.Peak[Float32Highest].Value; f > bf16 || f < highest || f == highest && d.Vendor != "AMD" {
			t.Errorf("%s: float32 peak %g is not between highest precision's and bfloat16's", d.Key, f)
		}
		for _, narrow := range []string{"int8", "float8_e4m3fn", "float8_e5m2"} {
			if f := d.Peak[narrow]; f.Known() && f.Value < bf16 {
				t.Errorf("%s: %s peak is below bfloat16's", d.Key, narrow)
			}
		}
	}
}

// TestChipAndDevice spells out what a device is where a chip is not one.
func TestChipAndDevice(t *testing.T) {
	for _, c := range []struct {
		key                       string
		cores, perChip, parallel  int
		peak, bandwidth, fastByte float64
	}{
		{"tpu_v3", 1, 2, 1, 61.5e12, 450e9, 16 << 20},
		{"tpu_v4", 2, 1, 2, 275e12, 1200e9, 16 << 20},
		{"tpu_v5e", 1, 1, 1, 197e12, 819e9, 128 << 20},
		{"tpu_v5p", 2, 1, 2, 459e12, 2765e9, 64 << 20},
		{"tpu_v6e", 1, 1, 1, 918e12, 1638e9, 128 << 20},
		{"tpu_v7x", 1, 2, 1, 1153.5e12, 3690e9, 64 << 20},
	} {
		d := device(t, c.key)
		if d.Cores != c.cores || d.DevicesPerChip != c.perChip || d.Parallel != c.parallel {
			t.Errorf("%s: cores %d, devices per chip %d, parallel %d", c.key, d.Cores, d.DevicesPerChip, d.Parallel)
		}
		if d.Peak["bfloat16"].Value != c.peak || d.BandwidthBytesPerSecond.Value != c.bandwidth || d.FastBytes.Value != c.fastByte {
			t.Errorf("%s: peak %g, bandwidth %g, fast %g", c.key, d.Peak["bfloat16"].Value, d.BandwidthBytesPerSecond.Value, d.FastBytes.Value)
		}
	}
	// libtpu's own figures are per core already and must not be shared out.
	for _, o := range device(t, "tpu_v7x").Peak["bfloat16"].Others {
		if o.Value != 1155e12 && o.Value != 996e12 {
			t.Errorf("tpu_v7x: disagreement %g", o.Value)
		}
	}
}
