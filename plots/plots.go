// Package plots turns rows of results into pictures.
//
//  1. Charts picks the rows that answer a Request, has package results
//     summarize them, and sorts the summaries into curves: points of one
//     kernel that agree in all but size. Whatever else differs between two
//     curves is named in their labels; whatever is the same, in the subtitle.
//  2. A Chart is the picture as data: axes, series with intervals and
//     failures, roofs. It can be tested and printed without drawing.
//  3. Draw lays a Chart out and draws it with gonum/plot. Names stand at the
//     right end of the curves; words for points that failed stand under the
//     axis. No text lies on a curve.
//  4. Save writes a PNG or SVG file, whole or not at all.
//
// A kernel has one colour in every kind of picture. Predictions are dashed,
// with hollow markers, and never joined with measurements.
//
// The package refuses to compute: times, rates, intervals and the choice of
// the best blocks come from package results. It does not read files, and it
// drops no point silently: one without a rate is marked with its status.
package plots
