// Package stats computes, from raw rows, every figure that is shown anywhere, once.
//
//  1. Disturbances tell quiet rows from disturbed ones (disturbances.go has the rules,
//     remarks.go what is said of it under a table).
//  2. Summarize, or a Summarizer that keeps no rows, turns rows into a Summary per
//     point: device time and dispatch with intervals, rates, percentages and ratios
//     paired by round. Disturbed rows are left out.
//  3. Best and Newest select; NewLadder, WriteTable, WriteLayers and WriteContests show.
//  4. Pair holds one run against another, point by point, with verdicts.
//
// The package refuses to report a point whose output was ever found wrong. It reads no
// clock and, but for Summarizer.AddFile, no file.
package stats
