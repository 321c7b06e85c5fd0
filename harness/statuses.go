package harness

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"matladder/backend"
	"matladder/chips"
	"matladder/problem"
	"matladder/results"
)

// crash is a panic inside a backend.
type crash struct {
	value any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("panic: %v", c.value) }

// guard calls f and turns a panic into a *crash.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &crash{v, debug.Stack()}
		}
	}()
	return f()
}

// classify says what an error makes of a point.
func classify(err error) results.Status {
	var big *backend.TooBigError
	var crashed *crash
	var gone *backend.CrashError
	switch {
	case errors.As(err, &big):
		return results.TooBig
	case errors.Is(err, backend.ErrUnsupported):
		return results.Unsupported
	case errors.Is(err, context.DeadlineExceeded):
		return results.Timeout
	case errors.As(err, &crashed), errors.As(err, &gone):
		return results.Crashed
	}
	return results.Failed
}

// Bad reports whether a status makes an execution fail: something went wrong,
// where too_big, unsupported and skipped are answers.
func Bad(s results.Status) bool {
	switch s {
	case results.OK, results.TooBig, results.Unsupported, results.Skipped:
		return false
	}
	return true
}

// measuredMargin is how far a figure may lie above one that was itself measured.
const measuredMargin = 1.15

func margin(f chips.Figure) float64 {
	if f.Measured {
		return measuredMargin
	}
	return 1
}

// impossible returns why a launch of p cannot have taken seconds on d, "" if it
// can.
func impossible(d chips.Device, p problem.Matmul, seconds float64) string {
	if !(seconds > 0) {
		return "took no time: the launch was not waited for, or the clock stands still"
	}
	factor, _ := p.Factors()
	if peak := d.PeakAt(factor.String(), p.Precision.String()); peak.Known() {
		if rate := float64(p.FLOPs()) / seconds; rate > peak.Value*margin(peak) {
			return fmt.Sprintf("%.4g FLOP/s is above the %s peak of %.4g (%s): the launch was not waited for, or the peak is not this device's",
				rate, factor, peak.Value, peak.Source)
		}
	}
	bandwidth := d.BandwidthBytesPerSecond
	bytes := beyondCache(d, p.Bytes())
	if !bandwidth.Known() || !d.LastLevelCacheBytes.Known() || bytes == 0 {
		return ""
	}
	if rate := float64(bytes) / seconds; rate > bandwidth.Value*margin(bandwidth) {
		return fmt.Sprintf("%.4g bytes/s beyond the last-level cache is above the bandwidth of %.4g (%s): the launch was not waited for, or operands were not read",
			rate, bandwidth.Value, bandwidth.Source)
	}
	return ""
}
