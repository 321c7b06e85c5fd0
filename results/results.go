// Package results is the boundary on disk: what was measured or predicted goes into a CSV
// as raw rows, and comes back as it was. Package stats computes every figure from them.
//
//  1. A Record is one row: one repetition of one point. FORMAT.md is the
//     specification of its columns.
//  2. A Journal appends the rows of a round and syncs them. After a kill at
//     any byte, Resume gives back exactly the rounds that were synced.
//  3. A Reader maps columns by name, one row at a time. One bad row is a
//     *SyntaxError that names its place; the others are still read.
//
// The package refuses to divide, average or round anything before it is written, and to invent a
// number that was not measured: a missing one is an empty cell.
package results
