package counters

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const rapl = "sys/class/powercap/"

// TestEnergy reads counters of made-up machines: of each the sum over its packages.
func TestEnergy(t *testing.T) {
	packages := map[string]string{
		rapl + "intel-rapl:0/name": "package-0\n", rapl + "intel-rapl:0/energy_uj": "1000000\n", rapl + "intel-rapl:0/max_energy_range_uj": "262143328850\n",
		rapl + "intel-rapl:0:0/name": "core\n", rapl + "intel-rapl:0:0/energy_uj": "77\n",
		rapl + "intel-rapl:1/name": "package-1\n", rapl + "intel-rapl:1/energy_uj": "262143000000\n", rapl + "intel-rapl:1/max_energy_range_uj": "262143328850\n",
		rapl + "intel-rapl-mmio:0/name": "package-0\n", rapl + "intel-rapl-mmio:0/energy_uj": "5\n", // the same by another way
		rapl + "intel-rapl:2/name": "psys\n", rapl + "intel-rapl:2/energy_uj": "9\n",
	}
	sockets := map[string]string{
		"sys/class/hwmon/hwmon1/energy1_label": "Ecore000\n", "sys/class/hwmon/hwmon1/energy1_input": "1\n",
		"sys/class/hwmon/hwmon1/energy9_label": "Esocket0\n", "sys/class/hwmon/hwmon1/energy9_input": "500000\n",
	}
	type step struct {
		after  time.Duration
		write  map[string]string
		joules float64 // since the reading before; NaN if that is not known
	}
	a, b := rapl+"intel-rapl:0/energy_uj", rapl+"intel-rapl:1/energy_uj"
	unknown := math.NaN()
	for name, c := range map[string]struct {
		files  map[string]string
		source string
		steps  []step
	}{
		"rapl": {packages, "rapl", []step{
			{time.Second, map[string]string{a: "41000000", b: "262143100000"}, 40.1},
			{time.Second, map[string]string{b: "671150"}, 0.9},       // one wraps
			{time.Second, map[string]string{a: "40000000"}, unknown}, // one goes back
			{time.Second, map[string]string{a: "90000000"}, 50},
			{time.Millisecond, map[string]string{a: "98000000"}, 8},             // two steps of a counter in a millisecond
			{time.Second, map[string]string{a: "12098000000"}, unknown},         // 12 kW
			{time.Second, map[string]string{a: "remove"}, unknown},              // it vanishes
			{time.Second, map[string]string{a: "12099000000"}, unknown},         // and comes again
			{time.Second, map[string]string{a: "12100000000"}, 1},               // to go on
			{time.Second, map[string]string{a: "no number"}, unknown},           //
			{time.Hour, map[string]string{a: "12101000000"}, unknown},           //
			{time.Hour, map[string]string{a: "12102000000"}, unknown},           // it may have wrapped, who knows how often
			{time.Second, map[string]string{a: "12102000000"}, 0},               // nothing, which is for others to judge
			{time.Second, map[string]string{a: "12103000000", b: "0"}, unknown}, // a counter that was reset is as one that goes back: 262 kJ in a second
		}},
		"hwmon": {sockets, "hwmon", []step{
			{time.Second, map[string]string{"sys/class/hwmon/hwmon1/energy9_input": "3000000"}, 2.5},
			{time.Second, map[string]string{"sys/class/hwmon/hwmon1/energy9_input": "1000000"}, unknown},
		}},
	} {
		root := machine(t, c.files)
		r := newReader(root)
		clock := time.Duration(0)
		r.uptime = func() time.Duration { return clock }
		if source, err := r.Energy(); source != c.source || err != nil {
			t.Fatalf("%s: %q, %v", name, source, err)
		}
		last := r.Glance()
		for i, s := range c.steps {
			clock += s.after
			for file, text := range s.write {
				if text == "remove" {
					text = ""
				}
				if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			now := r.Glance()
			got, ok := JoulesBetween(last, now)
			if ok == math.IsNaN(s.joules) || ok && math.Abs(got-s.joules) > 1e-9 {
				t.Errorf("%s, step %d: %g J, %v; want %g", name, i, got, ok, s.joules)
			}
			last = now
		}
		r.Close()
		if _, ok := JoulesBetween(last, r.Glance()); ok {
			t.Errorf("%s: closed, and still counts", name)
		}
	}
}

// TestEnergy_None: what a machine does not tell is said in a line.
func TestEnergy_None(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a virtual machine": {map[string]string{}, "no counter of energy"},
		"cores alone":       {map[string]string{rapl + "intel-rapl:0:0/name": "core\n", rapl + "intel-rapl:0:0/energy_uj": "77\n"}, "no counter of energy"},
		"one of two packages": {map[string]string{
			rapl + "intel-rapl:0/name": "package-0\n", rapl + "intel-rapl:0/energy_uj": "77\n", rapl + "intel-rapl:1/name": "package-1\n",
		}, "intel-rapl:1/energy_uj"},
	} {
		r := newReader(machine(t, c.files))
		_, err := r.Energy()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || r.Glance().Known.Has(Energy) {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
	if os.Getuid() == 0 { // to whom every file is open
		return
	}
	root := machine(t, map[string]string{rapl + "intel-rapl:0/name": "package-0\n", rapl + "intel-rapl:0/energy_uj": "77\n"})
	if err := os.Chmod(filepath.Join(root, rapl, "intel-rapl:0/energy_uj"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := newReader(root).Energy(); err == nil || !strings.Contains(err.Error(), "root alone") {
		t.Error(err)
	}
}
