package cpu

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matladder/internal/files/filestest"
	"matladder/internal/thoroughtest"
	"matladder/machine"
	"matladder/tile"
)

// TestMeasurements_Refused: a file that block shapes could not be ranked by is not read,
// whichever figure in it is none.
func TestMeasurements_Refused(t *testing.T) {
	b, err := Open(Options{Threads: 2, ISA: "generic", NoProbe: true})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.json")
	isRead := func(change func(m *measurements, r *machine.ProductRate)) bool {
		m := b.unmeasured()
		m.Peak["float32"], m.Bandwidth = 1e11, 1e10
		m.Cores = someCores()
		r := m.Cores.Rates[tile.Float32]
		change(&m, &r)
		for d := range m.Cores.Rates {
			m.Cores.Rates[d] = r
		}
		m.write(file)
		_, ok := readMeasurements(file, b.unmeasured())
		return ok
	}
	if !isRead(func(*measurements, *machine.ProductRate) {}) {
		t.Error("whole: not read")
	}
	if !isRead(func(m *measurements, _ *machine.ProductRate) { m.Cores.CoreToCore = machine.CoreToCore{} }) {
		t.Error("without sharing, as of one thread: not read")
	}
	for name, figure := range map[string]func(m *measurements, r *machine.ProductRate) *float64{
		"bandwidth":    func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Bandwidth },
		"shared":       func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Shared },
		"memory":       func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Memory },
		"launch":       func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Launch },
		"pair":         func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Pair },
		"task":         func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Task },
		"line":         func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.Line },
		"read others":  func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.ReadOthers },
		"write others": func(m *measurements, _ *machine.ProductRate) *float64 { return &m.Cores.WriteOthers },
		"flops":        func(_ *measurements, r *machine.ProductRate) *float64 { return &r.FLOPs },
		"fetch":        func(_ *measurements, r *machine.ProductRate) *float64 { return &r.Fetch },
		"pack a":       func(_ *measurements, r *machine.ProductRate) *float64 { return &r.PackA },
		"pack b":       func(_ *measurements, r *machine.ProductRate) *float64 { return &r.PackB },
	} {
		for _, v := range []float64{0, -1, 1e300} {
			if isRead(func(m *measurements, r *machine.ProductRate) { *figure(m, r) = v }) {
				t.Errorf("%s of %v is read", name, v)
			}
		}
	}
	for _, n := range []int{0, -1, 1 << 50} {
		for name, change := range map[string]func(m *measurements, r *machine.ProductRate){
			"L2":      func(m *measurements, _ *machine.ProductRate) { m.Cores.L2 = int64(n) },
			"L3":      func(m *measurements, _ *machine.ProductRate) { m.Cores.L3 = int64(n) },
			"rows":    func(_ *measurements, r *machine.ProductRate) { r.Rows = n },
			"columns": func(_ *measurements, r *machine.ProductRate) { r.Columns = n },
			"depth":   func(_ *measurements, r *machine.ProductRate) { r.Depth = n },
		} {
			if unknown := name == "L3" && n == 0; isRead(change) != unknown {
				t.Errorf("%s of %d: read is %v", name, n, !unknown)
			}
		}
	}
}

// TestProbes_Unwritable: who cannot keep what was measured is told why, and has it.
func TestProbes_Unwritable(t *testing.T) {
	dir := filestest.ReadOnly(t)
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	var told error
	o := Options{Threads: 1, ISA: "generic", brief: true, Probing: func(_ string, unwritable error) { told = unwritable }}
	if !thoroughtest.All() {
		o.measured = func(m measurements) measurements {
			m.Peak["float32"] = 1e10
			return m
		}
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if peak := b.Device().Peak["float32"]; told == nil || !strings.Contains(told.Error(), dir) || !(peak.Value > 0) {
		t.Errorf("%v; peak %+v", told, peak)
	}
}

// TestProbes_Kept: what was measured is read again, with its date; what was measured on
// a slower machine, by an older version or for others is not; and measuring anew forgets.
func TestProbes_Kept(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	times := 0
	made := func(m measurements) measurements {
		times++
		m.Peak = map[string]float64{"float32": 1e10, "bfloat16": 1e10, "int8": 1e10}
		m.Bandwidth, m.Cores, m.At, m.ControlCompute, m.ControlMemory = 1e10, someCores(), time.Now(), 1, 1
		return m
	}
	open := func() *Backend {
		b, err := Open(Options{Threads: 1, ISA: "generic", measured: made})
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
	if times != 7 { // the first time, four that are not read, anew, and of a broken file
		t.Errorf("measured %d times, want 7", times)
	}
}
