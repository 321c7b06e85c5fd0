// Package results is the one boundary on disk: what was measured or predicted
// goes into a CSV as raw rows, and every figure shown anywhere is computed
// from those rows here, once.
//
//  1. A Record is one row: one repetition of one point. FORMAT.md is the
//     specification of its columns.
//  2. A Journal appends the rows of a round and syncs them. After a kill at
//     any byte, Resume gives back exactly the rounds that were synced.
//  3. A Reader maps columns by name, one row at a time. One bad row is a
//     *SyntaxError that names its place; the others are still read.
//  4. Summarize, or a Summarizer that keeps no rows, turns rows into a Summary per
//     point: device time and dispatch with intervals, rates, percentages and ratios paired by round.
//     What Disturbances call disturbed is left out of them (disturbances.go has the rules,
//     remarks.go what is said of it under a table).
//  5. Pair holds one run against another, point by point, with verdicts.
//  6. Best and Newest select; NewLadder and WriteTable show.
//
// The package refuses to divide, average or round anything before it is
// written, to invent a number that was not measured (a missing one is an
// empty cell), and to report a point whose output was ever found wrong.
package results
