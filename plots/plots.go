// Package plots turns rows of results into pictures.
//
//  1. Pictures picks the summaries that answer a Request and hands them to the
//     maker of its kind, a row in the table of kinds.
//  2. A maker sorts them into curves: points of one kernel that agree in all but
//     size. Whatever else differs between two curves is named in their labels;
//     whatever is the same, in the subtitle.
//  3. A Picture (a Chart of lines, Bars …) is the page as data: axes, series with
//     intervals and failures, roofs. It can be tested and printed without drawing.
//  4. Draw lays it out and draws it with gonum/plot. Names of curves stand at
//     their right end; words for points that failed stand under the axis. No text
//     lies on a curve.
//  5. Save writes a PNG or SVG file, whole or not at all.
//
// A kernel has one colour in every kind of picture. Predictions are dashed,
// with hollow markers, and never joined with measurements.
//
// The package refuses to compute: times, rates, intervals and the choice of
// the best blocks come from package results. It does not read files, and it
// drops no point silently: one without a rate is marked with its status.
package plots
