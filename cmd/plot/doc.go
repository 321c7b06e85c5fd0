// Plot draws the results that cmd/bench wrote, or writes them as a table.
//
// Usage:
//
//	go run ./cmd/plot [flags]
//
// Without flags it draws every kernel and dtype in out/, each from the newest
// file that has it, one picture each:
//
//	$ go run ./cmd/plot --analyze=5 --dtype=bfloat16
//	out/performance_kernel_5_bfloat16.png
//
// # Pictures
//
// --kind chooses what to draw, several kinds separated by commas:
//
//   - size, the default: one kernel and dtype, the rate against the size with a
//     line for each block shape, one for the baseline (xla) and one for the peak.
//   - kernels: all kernels of a dtype, each with its fastest blocks at each size.
//   - ladder: the same as bars: % of peak, with the baseline as a line, and how
//     many times each kernel is as fast as the rung below.
//   - roofline: the same against arithmetic intensity (FLOPs over the bytes moved
//     after tiling), under the roofs of memory and peak, with arrows from rung to
//     rung. The peaks of other dtypes are drawn thin.
//   - peers: the fastest kernel and the libraries that cmd/peers measured, one
//     picture for each number of threads. No other kind shows libraries.
//
// For example:
//
//	$ go run ./cmd/plot --kind=ladder --dtype=float32,int8
//	out/performance_ladder_float32.png
//	out/performance_ladder_int8.png
//
//	$ go run ./cmd/plot --kind=roofline --dtype=float32 --format=svg
//	out/performance_roofline_float32.svg
//
// --analyze takes the kernels of size pictures, by number or name; 0 is the
// baseline. A kernel that was run on square problems and on others has two
// pictures, the second with _shapes in its name. Measurements of several chips
// are never put in one picture; each chip's name is then in the file name.
//
// A line is a median and its band the interval of the median. A cross on the
// axis is a point without a figure; the word under it is its status and the
// name beside that its line. Predictions are dashed.
//
// # Input
//
// --input takes a results file or a quoted glob and may be given more than
// once. All rows of the named files are then drawn together: measurements and
// predictions, or several runs. Where two runs hold the same point the newer
// one is shown.
//
//	$ go run ./cmd/plot --input=out/20261120-101500.csv --input='tpu/*.csv' --analyze=4 --dtype=bfloat16 --output=pictures
//	pictures/performance_kernel_4_bfloat16_example-cpu.png
//	pictures/performance_kernel_4_bfloat16_v5e.png
//	pictures/performance_kernel_4_bfloat16_shapes_v5e.png
//
// Without --output the pictures are put beside the newest file drawn from.
//
// # Tables
//
// --table writes a table to standard output and draws nothing. text and md
// have the fastest blocks of each kernel, or all blocks of the kernels named by
// --analyze. csv and json have a record for each point, at full precision, and
// benchstat has the samples, for golang.org/x/perf/cmd/benchstat.
//
// --readme FILE replaces what stands between the lines
//
//	<!-- ladder:begin -->
//	<!-- ladder:end -->
//
// of FILE by the md table, and draws nothing.
//
// # Exit status
//
// 0 if everything asked for was written, 1 if something could not be (there
// are no results, a file cannot be read or written), 2 if the command line is
// wrong.
package main
