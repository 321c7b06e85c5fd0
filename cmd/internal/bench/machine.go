package bench

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"matladder/backend"
	"matladder/machine"
)

// printMachine writes what is known of a device: each figure with its source and, where
// it was measured, its age.
func printMachine(w io.Writer, d *device, now time.Time) {
	m := d.Device()
	fmt.Fprintf(w, "%s\n", d.Summary)
	line := func(name, value string, f machine.Figure) {
		if !f.Known() {
			value = "not known"
		}
		source := cmp.Or(f.Source, f.Why)
		if f.Measured && !f.At.IsZero() {
			source += ", " + ago(now.Sub(f.At)) + " (" + f.At.Format(time.DateOnly) + ")"
		}
		fmt.Fprintf(w, "  %-24s %-14s %s\n", name, value, source)
	}
	fmt.Fprintf(w, "  %-24s %s\n", "chip", m.Key)
	if m.Cores > 0 {
		fmt.Fprintf(w, "  %-24s %d\n", "cores", m.Cores)
	}
	for _, dtype := range m.Dtypes() {
		f := m.Peak[dtype]
		unit := "TFLOP/s"
		if strings.HasPrefix(dtype, "int") {
			unit = "TOP/s"
		}
		line("peak, "+dtype, fmt.Sprintf("%.3g %s", f.Value/1e12, unit), f)
	}
	f := m.BandwidthBytesPerSecond
	line("bandwidth of memory", fmt.Sprintf("%.3g GB/s", f.Value/1e9), f)
	for _, b := range []struct {
		name string
		f    machine.Figure
	}{{"memory", m.MemoryBytes}, {"last-level cache", m.LastLevelCacheBytes}, {"fast memory", m.FastBytes}} {
		line(b.name, backend.FormatBytes(int64(b.f.Value)), b.f)
	}
	if d.ProbeFile != "" {
		fmt.Fprintf(w, "measured figures are kept in %s; --probe measures them again\n", d.ProbeFile)
	}
}

// ago says in words how long something is past.
func ago(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(d / u.size); n > 1 {
			return fmt.Sprintf("%d %ss ago", n, u.name)
		} else if n == 1 {
			return fmt.Sprintf("1 %s ago", u.name)
		}
	}
	return "just now"
}
