package main

import (
	"errors"
	"strings"

	"matladder/backend"
	"matladder/backend/xla/aot"
)

// Outcome is what became of a compilation.
type Outcome string

// The outcomes.
const (
	Fits        Outcome = "fits"
	TooBig      Outcome = "too_big"
	Unsupported Outcome = "unsupported"
	Failed      Outcome = "error"
	Timeout     Outcome = "timeout"
	NotRun      Outcome = "not_run" // exceeds the memory by our count: the compiler was not asked
)

// Result is an outcome, with the reason if it is not Fits and the cycles of one
// grid step if it is.
type Result struct {
	Outcome Outcome
	Reason  string
	Cycles  float64 // 0 if unknown
}

// resultOf is what an error of package aot says.
func resultOf(err error) Result {
	var big *backend.TooBigError
	var crash *aot.CrashError
	if err == nil {
		return Result{Outcome: Fits}
	}
	r := Result{Outcome: Failed, Reason: shorten(err.Error())}
	switch {
	case errors.As(err, &big):
		r.Outcome, r.Reason = TooBig, big.Error() // need and limit say all
	case errors.Is(err, backend.ErrUnsupported):
		r.Outcome = Unsupported
	case errors.As(err, &crash) && strings.Contains(crash.Reason, "no answer within"):
		r.Outcome = Timeout
	}
	return r
}

// longest is how much of a reason the table keeps.
const longest = 160

func shorten(reason string) string {
	reason = strings.Join(strings.Fields(reason), " ")
	if r := []rune(reason); len(r) > longest {
		return string(r[:longest]) + " …"
	}
	return reason
}
