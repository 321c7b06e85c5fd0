package counters

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// machine writes files under a root of their own.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// common is what both versions of control groups have beside them. Figures and layout
// are those of proc(5), psi.rst and cpufreq/user-guide.rst.
var common = map[string]string{
	"proc/self/task/1/schedstat":                                       "5000 7000 3\n",
	"proc/self/task/1/children":                                        "4194305 \n", // no process of this machine has it: numbers end below
	"proc/self/task/2/schedstat":                                       "100 200 1\n",
	"proc/4194305/task/4194305/schedstat":                              "10 20 1\n",
	"proc/stat":                                                        "cpu  10 20 30 40 50 60 70 85 90 100\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
	"proc/loadavg":                                                     "3.25 1.00 0.50 2/345 6789\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":             "2000000\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq":             "3000000\n",
	"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "12\n",
}

func with(files map[string]string) map[string]string {
	for name, text := range common {
		files[name] = text
	}
	return files
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		files     map[string]string
		throttled time.Duration
	}{
		"version 2": {with(map[string]string{
			"proc/self/cgroup":                         "0::/system.slice/job\n",
			"sys/fs/cgroup/cpu.stat":                   "usage_usec 5\nuser_usec 3\n", // the root has no quota
			"sys/fs/cgroup/system.slice/cpu.stat":      "nr_periods 9\nthrottled_usec 1000\n",
			"sys/fs/cgroup/system.slice/job/cpu.stat":  "nr_periods 9\nnr_throttled 3\nthrottled_usec 250000\nnr_bursts 0\n",
			"sys/fs/cgroup/system.slice/next/cpu.stat": "throttled_usec 77\n",
		}), 251 * time.Millisecond},
		"version 1": {with(map[string]string{
			"proc/self/cgroup":                              "4:memory:/x\n3:cpu,cpuacct:/docker/abc\n0::/\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat":            "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
			"sys/fs/cgroup/cpu/docker/abc/cpu.stat":         "throttled_time 5\n", // the same by another name
			"sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.stat": "nr_periods 8\nnr_throttled 2\nthrottled_time 5000000\n",
		}), 5 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(machine(t, c.files))
			defer r.Close()
			r.uptime = func() time.Duration { return time.Hour }
			got := r.Read()
			want := Reading{Steal: 850 * time.Millisecond, Throttled: c.throttled,
				Thermal: 12, Load: 3.25, Hertz: 2.5e9, Known: Waited | Others | Steal | Throttled | Switches | Thermal | Load | Hertz}
			// one processor: an hour, less 40 and 50 hundredths idle and 85 stolen
			if worked := time.Hour - 1750*time.Millisecond - got.Others; worked <= 0 || worked > time.Minute {
				t.Errorf("others worked for %v: this process for %v", got.Others, worked)
			}
			got.Switches, got.Others = 0, 0 // of this process
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// TestRead_Nothing: what a system does not tell is not known.
func TestRead_Nothing(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no files": {},
		"broken": {"proc/self/task/1/schedstat": "some 3", "proc/stat": "cpu 1 2", "proc/loadavg": "", "proc/self/cgroup": "0::\n1\n",
			"sys/fs/cgroup/cpu.stat": "throttled_usec many\n", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "<unknown>\n"},
	} {
		r := newReader(machine(t, files))
		if got := r.Read(); got.Known != Switches {
			t.Errorf("%s: %+v", name, got)
		}
		r.Close()
	}
}

// TestRead_Machine: sums do not fall on the machine at hand.
func TestRead_Machine(t *testing.T) {
	r := New()
	defer r.Close()
	a := r.Read()
	b := r.Read()
	t.Logf("%+v", b)
	if b.Waited < a.Waited || b.Steal < a.Steal || b.Throttled < a.Throttled || b.Switches < a.Switches || b.Thermal < a.Thermal || a.Known != b.Known {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestWaited: threads of a child count too, those that have hardly run by what they ran,
// new ones from when they are seen, and ended ones no longer.
func TestWaited(t *testing.T) {
	root := machine(t, with(map[string]string{}))
	set := func(file, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r := newReader(root)
	defer r.Close()
	r.Read()
	set("proc/self/task/1/schedstat", "905000 307000 9\n")      // ran 900 µs, waited 300
	set("proc/self/task/2/schedstat", "1100 5000200 2\n")       // ran 1 µs, waited 5 ms
	set("proc/4194305/task/4194305/schedstat", "2010 1020 2\n") // ran 2 µs, waited 1
	set("proc/self/task/3/schedstat", "7000 7000 1\n")          // is new
	if got, want := r.Glance().Waited, 302*time.Microsecond; got != want {
		t.Errorf("waited %v, want %v", got, want)
	}
	if err := os.RemoveAll(filepath.Join(root, "proc/4194305")); err != nil {
		t.Fatal(err)
	}
	r.threads.listed = time.Time{}
	r.Read()
	set("proc/self/task/3/schedstat", "8000 9000 1\n") // ran 1 µs, waited 2
	if got, want := r.Read().Waited, 303*time.Microsecond; got != want || len(r.threads.open) != 3 {
		t.Errorf("waited %v of %d threads, want %v", got, len(r.threads.open), want)
	}
}
