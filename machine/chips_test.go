package machine

import (
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	whole := device(t, "tpu_v4")
	core := whole.Split()
	if core.Cores != 1 || core.Parallel != 1 || core.DevicesPerChip != 2 {
		t.Errorf("core: %d cores, %d parallel, %d devices a chip", core.Cores, core.Parallel, core.DevicesPerChip)
	}
	if got := core.Peak["bfloat16"].Value; got != 137.5e12 {
		t.Errorf("core peak %g, want 137.5e12", got)
	}
	if got := core.BandwidthBytesPerSecond; got.Value != 600e9 || got.Others[0].Value != 615e9 {
		t.Errorf("core bandwidth %+v, want 600e9, or 615e9", got)
	}
	if core.FastBytes.Value != whole.FastBytes.Value {
		t.Error("fast memory is per core already")
	}
	if again := device(t, "tpu_v4"); !reflect.DeepEqual(again, whole) {
		t.Error("Split changed the device it was called on")
	}
	for _, key := range []string{"tpu_v5e", "tpu_v7x", "nvidia_h200"} {
		if d := device(t, key); !reflect.DeepEqual(d.Split(), d) {
			t.Errorf("%s is no megacore, yet Split changes it", key)
		}
	}
}

func TestPeakAt(t *testing.T) {
	tpu := device(t, "tpu_v5e")
	host := Device{Kind: CPU, Peak: map[string]Figure{"float32": {Value: 4e11, Source: "probe", Measured: true}}}
	for _, c := range []struct {
		d                Device
		dtype, precision string
		want             float64
	}{
		{tpu, "float32", "", 197e12},
		{tpu, "float32", PrecisionDefault, 197e12},
		{tpu, "float32", PrecisionHighest, 32.83e12},
		{tpu, "bfloat16", PrecisionHighest, 197e12},
		{tpu, "float8_e5m2", "", 0},
		{device(t, "tpu_8i"), "float32", PrecisionHighest, 0},
		{host, "float32", PrecisionHighest, 4e11},
		{host, "int8", "", 0},
		{Device{}, "float32", "", 0},
	} {
		f := c.d.PeakAt(c.dtype, c.precision)
		if f.Value != c.want || f.Known() != (c.want > 0) {
			t.Errorf("%s %s %s: %g, want %g", c.d.Key, c.dtype, c.precision, f.Value, c.want)
		}
	}
}

func TestCallerOwnsItsCopy(t *testing.T) {
	want := device(t, "tpu_v5p")
	for _, spoil := range []Device{device(t, "tpu_v5p"), All()[4]} {
		if spoil.Key != want.Key {
			t.Fatalf("table order changed: %s", spoil.Key)
		}
		spoil.Names[0] = "?"
		spoil.BandwidthBytesPerSecond.Others[0].Value = 1
		spoil.Peak["bfloat16"].Others[0].Value = 1
		spoil.Peak["bfloat16"] = Figure{}
		spoil.Align["int8"] = [2]int{1, 1}
	}
	if got := device(t, "tpu_v5p"); !reflect.DeepEqual(got, want) {
		t.Errorf("a caller changed the table:\n%+v\n%+v", got, want)
	}
}

func TestDtypes(t *testing.T) {
	want := []string{"bfloat16", "float32", Float32Highest, "int4", "int8"}
	if got := device(t, "tpu_v5e").Dtypes(); !reflect.DeepEqual(got, want) {
		t.Errorf("dtypes %v, want %v", got, want)
	}
}
