// Package thoroughtest says how many of its cases a test runs. By default it runs some, spread
// over all of them, so that go test ./... takes a few minutes. With MATLADDER_TESTS=all, as
// .ci/full cases sets it, it runs every one; with MATLADDER_TESTS=full, as .ci/full does for
// single tests, those too that take hours. The race detector, which is slow, gets fewer.
package thoroughtest

import "os"

// Variable names the environment variable.
const Variable = "MATLADDER_TESTS"

// All reports whether tests run every case, and Full whether those too that take hours. They
// panic where the variable has another word: a mistyped one would leave cases out in silence.
func All() bool { return word() != "" && !Raced }

// Full is said at All.
func Full() bool { return word() == "full" && !Raced }

func word() string {
	switch w := os.Getenv(Variable); w {
	case "", "all", "full":
		return w
	default:
		panic(Variable + "=" + w + ": want all, full, or nothing")
	}
}

// OneIn returns of how many cases a test runs one: all of them is 1, where the project's
// whole tests run; some by default; raced under the race detector.
//
// Cases come in nested loops of a few values each: a prime meets every value of each.
func OneIn(all, some, raced int) int {
	switch {
	case Raced:
		return raced
	case All():
		return all
	}
	return some
}

// LeftOut is why a case was skipped that Choose left out.
const LeftOut = "left out: it runs with " + Variable + "=all"

// Choose returns a function that says of one case after another whether a test runs it: of
// one in OneIn(all, some, raced).
func Choose(all, some, raced int) func() bool {
	n, oneIn := 0, OneIn(all, some, raced)
	return func() bool {
		n++
		return n%oneIn == 0
	}
}
