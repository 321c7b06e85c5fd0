package classroom

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"matladder/internal/cgroup"
	"matladder/internal/counters"
	"matladder/internal/deadline"
	"matladder/plugins"
)

// A Level says what a finding means.
type Level string

// The levels.
const (
	Fine    Level = "ok"
	Note    Level = "note"    // good to know
	Spoils  Level = "spoils"  // figures would not be those of a quiet machine
	Missing Level = "missing" // the workshop does not run
)

// A Finding is one thing that was looked at.
type Finding struct {
	Level      Level
	What, Text string
}

const (
	leastDisk   = 500e6 // bytes: the build of the commands and the modules
	roomyDisk   = 2e9
	leastMemory = 1 << 30
)

// lookFor is how long Ready watches who has the processors.
const lookFor = time.Second

// Ready looks at this machine and at folder, the repository's top, for about a second.
func Ready(ctx context.Context, folder string) []Finding {
	var list []Finding
	add := func(level Level, what, format string, args ...any) {
		list = append(list, Finding{level, what, fmt.Sprintf(format, args...)})
	}
	if path, err := exec.LookPath("go"); err != nil {
		add(Missing, "Go", "no command go: exercises are compiled with it; https://go.dev/dl has %s or later", runtime.Version())
	} else {
		add(Fine, "Go", "%s (%s)", runtime.Version(), path)
	}
	if _, err := os.Stat(filepath.Join(folder, "workshop", "exercises")); err != nil {
		add(Missing, "folder", "no workshop/exercises here: run this from the repository's top folder")
	}
	return slices.Concat(list, cores(), load(ctx), []Finding{memory(), disk(folder)}, power(), []Finding{plugin()})
}

func cores() []Finding {
	n := runtime.NumCPU()
	list := []Finding{{Fine, "cores", fmt.Sprintf("%d, %s/%s", n, runtime.GOOS, runtime.GOARCH)}}
	if n == 1 {
		list[0] = Finding{Note, "cores", "1: v2 cannot be faster than v1 here, lesson 2 is read instead"}
	}
	if allowed, ok := cgroup.Cores(); ok && allowed < float64(n) {
		list = append(list, Finding{Spoils, "quota", fmt.Sprintf("a control group allows %.1f of %d cores: figures are of those, and a quota stops threads in the middle of a launch", allowed, n)})
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		list = append(list, Finding{Note, "vectors", "kernels run in plain Go on " + runtime.GOARCH + ": rates are low, and their ratios those of the lessons"})
	}
	return list
}

// load watches who else has the processors. What the system does not tell is left out.
func load(ctx context.Context) []Finding {
	r := counters.New()
	defer r.Close()
	before, began := r.Read(), time.Now()
	if deadline.Sleep(ctx, lookFor) != nil {
		return nil
	}
	now, span := r.Read(), time.Since(began).Seconds()
	n := float64(runtime.NumCPU())
	f := Finding{Note, "load", "this system does not tell: look at the task manager before a run"}
	if now.Known.Has(counters.Others) {
		others := max(0, (now.Others-before.Others).Seconds()/span)
		f = Finding{Fine, "load", fmt.Sprintf("other programs take %.1f of %.0f cores", others, n)}
		if others > max(0.1, 0.03*n) {
			f = Finding{Spoils, "load", f.Text + ": end them, the browser first; top or the task manager says which they are"}
		}
	} else if now.Known.Has(counters.Load) {
		f = Finding{Fine, "load", fmt.Sprintf("%.1f on average over the last minute, of %.0f cores", now.Load, n)}
		if now.Load > max(0.5, 0.25*n) {
			f = Finding{Spoils, "load", f.Text + ": end other programs, the browser first, and wait a minute"}
		}
	}
	list := []Finding{f}
	if steal := (now.Steal - before.Steal).Seconds() / span; now.Known.Has(counters.Steal) && steal > 0.02*n {
		list = append(list, Finding{Spoils, "host", fmt.Sprintf("this is a virtual machine whose host gives %.1f of its cores to others: figures will jump", steal)})
	}
	return list
}

func memory() Finding {
	free, ok := cgroup.Memory()
	switch {
	case !ok:
		return Finding{Fine, "memory", "no control group limits it"}
	case free < leastMemory:
		return Finding{Note, "memory", fmt.Sprintf("%.1f GiB free: sizes above 1024 may not fit", float64(free)/(1<<30))}
	}
	return Finding{Fine, "memory", fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))}
}

func disk(folder string) Finding {
	free, err := plugins.FreeBytes(folder)
	text := fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	switch {
	case err != nil:
		return Finding{Note, "disk", "not told: " + err.Error()}
	case free < leastDisk:
		return Finding{Missing, "disk", text + ": the commands and their modules need 0.5 GB"}
	case free < roomyDisk:
		return Finding{Note, "disk", text + ": the plugin of lesson 6 takes 0.7 GB more while it is installed"}
	}
	return Finding{Fine, "disk", text}
}

func plugin() Finding {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Finding{Note, "plugin", "libtpu is for Linux on amd64: lesson 6 is read instead"}
	}
	if found, err := plugins.Find("tpu"); err == nil {
		return Finding{Fine, "plugin", "tpu " + found.Version + ", for lesson 6"}
	}
	return Finding{Note, "plugin", "tpu is not installed: go run ./cmd/plugin install tpu (200 MB), or lesson 6 is read instead"}
}

// A supply says what a machine runs on.
type supply struct {
	known, battery bool
	saving         string // why processors are kept slow; "" if they are not
}

func power() []Finding {
	s := readPower()
	var list []Finding
	switch {
	case s.battery:
		list = append(list, Finding{Spoils, "power", "on battery: plug in the mains"})
	case s.known:
		list = append(list, Finding{Fine, "power", "on mains"})
	}
	if s.saving != "" {
		list = append(list, Finding{Spoils, "clock", s.saving})
	}
	return list
}

// oneLine is a text of the system without what would break a line.
func oneLine(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }
