package cpu

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestProbes_Kept: what was measured is read again, with its date; what was measured on
// a slower machine, by an older version or for others is not; and measuring anew forgets.
func TestProbes_Kept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	open := func() *Backend {
		b, err := Open(Options{Threads: 1, ISA: "generic", passes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := open()
	peak := first.Device().Peak["float32"]
	if age := time.Since(peak.At); !(peak.Value > 0) || age < -time.Minute || age > time.Hour {
		t.Fatalf("%+v", peak)
	}
	file := first.ProbeFile()
	if rel, err := filepath.Rel(dir, file); err != nil || rel[0] == '.' {
		t.Fatalf("%s is not in %s", file, dir)
	}
	kept, ok := readMeasurements(file, first.unmeasured())
	if !ok || !(kept.ControlCompute > 0 && kept.ControlMemory > 0) {
		t.Fatalf("%v %+v", ok, kept)
	}
	day := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	rewritten := func(change func(m *measurements)) float64 {
		m := kept
		m.Peak = map[string]float64{"float32": 1e14, "bfloat16": 1, "int8": 1}
		m.At, m.ControlCompute, m.ControlMemory = day, 1e-12, 1e-12 // faster than the machine ever is
		change(&m)
		m.write(file)
		return open().Device().Peak["float32"].Value
	}
	if v := rewritten(func(*measurements) {}); v != 1e14 {
		t.Errorf("what is kept is not read: %v", v)
	}
	if at := open().Device().Peak["float32"].At; !at.Equal(day) {
		t.Errorf("measured on %v, want %v", at, day)
	}
	if v := rewritten(func(m *measurements) { m.ControlCompute = 10 }); v == 1e14 {
		t.Error("what was measured while cores were slow is read")
	}
	if v := rewritten(func(m *measurements) { m.ControlMemory = 10 }); v == 1e14 {
		t.Error("what was measured while memory was slow is read")
	}
	if v := rewritten(func(m *measurements) {
		cores := *m.Cores
		m.Cores, cores.Launch = &cores, 0.01
	}); v == 1e14 {
		t.Error("what was measured while others had the cores is read")
	}
	if v := rewritten(func(m *measurements) { m.Threads = 2 }); v == 1e14 {
		t.Error("what was measured on two threads is read for one")
	}
	rewritten(func(*measurements) {})
	if v := open().ProbeAnew(context.Background()).Peak["float32"].Value; v == 1e14 {
		t.Error("what was kept outlives a new measurement")
	}
	if kept, ok := readMeasurements(file, first.unmeasured()); !ok || kept.Peak["float32"] == 1e14 {
		t.Errorf("%v %+v: the new measurement is not kept", ok, kept)
	}
	if err := os.WriteFile(file, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if v := open().Device().Peak["float32"].Value; !(v > 0 && v < 1e14) {
		t.Errorf("a broken file: %v", v)
	}
}
