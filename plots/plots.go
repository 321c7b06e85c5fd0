// Package plots turns rows of results into pictures.
//
//  1. Pictures picks the summaries that answer a Request and hands them to the
//     maker of its kind, a row in the table of kinds.
//  2. A maker sorts them into curves: points of one kernel that agree in all but
//     size. Whatever else differs between two curves is named in their labels;
//     whatever is the same, in the subtitle.
//  3. It returns figure.Picture, the page as data, which package figure lays out, draws
//     and saves: how a page looks is decided there, what it shows here.
//
// A kernel has one colour in every kind of picture. Predictions are never joined with measurements.
//
// The package refuses to compute: times, rates, intervals and the choice of
// the best blocks come from package stats. It does not read files, and it
// drops no point silently: one without a rate is marked with its status.
package plots
