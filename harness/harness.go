// Package harness measures: it turns a sweep, written in YAML, into rows of a results file.
//
//  1. Parse reads a Config; Plan multiplies it out into groups of points, with
//     what each needs in memory and time, before anything is started.
//  2. Run opens the journal, tests the check with injected faults, and takes the
//     groups in turn.
//  3. A group is one problem, or all of one size. Its points are compiled, proved on
//     small integers, of which each element of the output must be exact (package
//     check), and warmed up; then they take turns: one round is one pass over all of them, in an order
//     reshuffled from the seed, so that drift of the machine touches all alike.
//     The baseline and peers, other libraries' products, take their turns among
//     them. Short launches are timed behind untimed ones, which wake threads and
//     fill caches after somebody else's turn.
//  4. The output is overwritten before a repetition and verified beside the device
//     after it, or after one launch more on an output overwritten again, after
//     zero to three launches, chosen at random. Only then are the rows of the round appended
//     and synced, together.
//  5. Ahead of a round and behind it a control is timed, a fixed piece of work; rows
//     hold it, with what the system tells of the machine meanwhile. What that shows to
//     be disturbed does not count, and is repeated while there is time.
//  6. A point sits rounds out once the interval of its median is narrow; the baseline,
//     which others are held against, goes on with them. Rounds end when all intervals are
//     narrow, or there were as many as the sweep allows, or the group has spent its share
//     of the time budget. What is left of that in the end goes to groups whose intervals
//     are still wide.
//
// A point that cannot be measured becomes a row that says why; it never ends the
// sweep. The package divides and averages nothing that it writes: rows are raw.
// It refuses to write the time of an output that is not verified, to go on when the
// check itself is broken, and to write over results that exist.
package harness

import "matladder/internal/yamldoc"

// A ConfigError is a mistake in a sweep, at its place in the file.
type ConfigError = yamldoc.Error
