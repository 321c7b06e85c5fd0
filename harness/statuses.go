package harness

import (
	"context"
	"errors"

	"matladder/backend"
	"matladder/harness/measure"
	"matladder/results"
)

// classify says what an error makes of a point.
func classify(err error) results.Status {
	var big *backend.TooBigError
	var crashed *measure.PanicError
	var gone *backend.CrashError
	var wrong *wrongError
	switch {
	case errors.As(err, &big):
		return results.TooBig
	case errors.Is(err, backend.ErrUnsupported):
		return results.Unsupported
	case errors.Is(err, context.DeadlineExceeded):
		return results.Timeout
	case errors.As(err, &wrong):
		return results.Wrong
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
