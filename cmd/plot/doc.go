// Plot draws the results that cmd/bench wrote, or writes them as a page to explore
// or as a table.
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
//     bold line of its fastest block shape at each size, one for the baseline (xla)
//     and one for the peak. Other shapes are faint; --blocks all names each. A sweep
//     of few fixed shapes has a line for each, at most six.
//   - kernels: all kernels of a dtype, each with its fastest blocks at each size.
//   - ladder: bars at the largest size that most kernels ran at: % of peak, with the
//     baseline as a line, and how many times each kernel is as fast as the rung
//     below. Rows of several machines make one ladder by machine instead: % of each
//     machine's own peak.
//   - roofline: a point for each kernel at that size, by its arithmetic intensity
//     (FLOPs over the bytes moved after tiling), under the roofs of memory and peak;
//     thin, the peak of one thread. Rows with counters (bench --counters) have marks
//     L2 and L3, the intensity by the bytes that missed this cache, as counted.
//   - blocks: every block shape of a kernel at every size, the darker the faster;
//     what is too big is hatched, with what it needs and what there is.
//   - waterfall: one grid step of each kernel: overhead, copy and compute by the
//     step model, and the measured time beside it. A device whose overhead of a
//     step is not known, such as a CPU, has the limits of memory and peak alone.
//   - dispatch: the device time of a launch beside the dispatch of a call. Only
//     method loop tells them apart; on a CPU the kernels have method direct, which
//     has no dispatch, and the baseline alone shows some.
//   - compare: two results files, the old one first, point by point: the ratio of
//     rates with its interval and FASTER, SLOWER, SAME or UNSURE, as cmd/compare
//     has them.
//   - error: rel_err by K, in the dtype that rounds most.
//   - peers: the fastest kernel and the libraries that cmd/peers measured, one
//     picture for each number of threads. No other kind shows libraries.
//   - accuracy: error against rate, a point for each quantization of one shape: the
//     shape measured in most ways. Quantized products are compared with float64 on
//     the operands before they were quantized.
//   - scaling: products on a mesh of devices (bench --mesh): % of the peak of all
//     devices by how many they are, a line for each way to spread the product;
//     strong scaling beside weak. docs/scaling.md reads one.
//   - work: the rate of what is asked beside that of all that the kernels compute for
//     it, by size: attention that computes scores which causality or a window then
//     hides does more than is asked. A row of panels for each way of asking that
//     differs.
//   - layers: of a sweep of layers of models (bench --config transformer), where the
//     time of each layer goes: a bar for each part at its fastest kernel, with what its
//     roof would take filled, two layers a picture. docs/transformer.md reads one.
//
// Some examples:
//
//	$ go run ./cmd/plot --kind=kernels,ladder --dtype=float32
//	out/performance_kernels_float32.png
//	out/performance_ladder_float32.png
//
//	$ go run ./cmd/plot --kind=roofline --dtype=float32 --format=svg
//	out/performance_roofline_float32.svg
//
//	$ go run ./cmd/plot --kind=blocks,waterfall,dispatch,error --dtype=int8 --analyze=4
//	out/performance_blocks_4_int8.png
//	out/performance_waterfall_int8.png
//	out/performance_dispatch_int8.png
//	out/performance_error.png
//
// A picture is of one family of problems: --family picks it, or all families that rows
// have are drawn.
//
// --analyze takes the kernels of size and block pictures, by number or name (those of
// another family than matmul as softmax/2, or beside --family); 0 is the
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
// Rows by --fault are left out, with a line that says so. Lines name each file whose sweep
// has not ended, and, without --input, each that is of another machine than this one; with
// it, the machines that are shown together. A picture of several files, or of a partial one,
// names it above.
//
// The files of a class, one a student, make one ladder by machine:
//
//	go run ./cmd/plot --input='class/*.csv' --kind=ladder --dtype=float32
//
// Without --output the pictures are put beside the newest file drawn from, or in the
// working folder where that is a pipe.
//
// # Report
//
// --html writes one page instead of pictures:
//
//	$ go run ./cmd/plot --html=report.html
//	report.html
//
// It shows rate against size, the roofline and the ladder's table, filtered by
// dtype, kernel, size and, where there are several, mode and machine; with all
// block shapes if asked. A player steps through the grids of one problem: the
// largest whose every step fits, of those that most kernels have. Below stand
// the runs, machines and seeds that the rows name. The rows can be taken from
// the page as CSV. It holds all it needs and loads nothing from the network.
//
// # Tables
//
// --table writes a table to standard output and draws nothing. text and md
// have the fastest blocks of each kernel, or all blocks of the kernels named by
// --analyze. csv and json have a record for each point, at full precision, and
// benchstat has the samples, for golang.org/x/perf/cmd/benchstat.
//
// --table-columns adds columns to text and md: min, p20 and p80 (the least time of a launch,
// and those below which lie 20 and 80 % of the samples), n (samples), disturbed (rows that
// are left out); of rows with counters, cycles, ipc (instructions a cycle), l2_misses, l3_misses
// and dtlb_misses of a launch, over all threads.
//
//	go run ./cmd/plot --table=text --dtype=float32 --table-columns=min,p20,p80,n
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
// are no results of it, a file cannot be written), 2 if the command line is wrong or
// a file that it names cannot be read, 130 after Ctrl-C.
package main
