// Package report writes results as one page to explore them: charts, the ladder's table, the
// traversal player, where the figures come from, and the raw rows to take along.
//
//  1. Write picks what the page needs of each summary and lays it out in
//     columns, as points in sections: one for each problem family (dtypes,
//     quantization, epilogue) and machine.
//  2. The rows are written as CSV and compressed; the page unpacks them for the
//     download.
//  3. Both go into one HTML file with its style, its scripts (page/) and the
//     chart library (echarts/), so that it needs no network, now or later.
//  4. In the browser, filter.js decides which points are shown; rate.js,
//     roofline.js and table.js show them.
//
// Colours and rules are those of package plots: a kernel has one colour, predictions are dashed
// and hollow and never joined with measurements, what is not to be relied on is hollow too and
// has † before its figures, and a point without a figure is a cross that says why. Figures come
// from package results; the page rounds them and does nothing else to them.
//
// The page is a function of its input: it holds no time of its own and no
// path. Texts from rows reach it as JSON data and are only ever set as text.
//
// The charts are made by Apache ECharts itself and not through go-echarts,
// which fixes the series of a chart when the page is written and has browsers
// load the library from the network: here filters choose the series.
package report
