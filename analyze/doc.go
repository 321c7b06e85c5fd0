// Package analyze says what a tile program costs before it runs: counts that
// follow from the grid and the index maps alone.
//
//  1. Count returns FLOPs, bytes at least, bytes moved after tiling, fast memory
//     and grid steps.
//  2. Counts give arithmetic intensity; At puts it under the roofline of a
//     device: what the device can reach, and whether memory or arithmetic is
//     the limit.
//
// It knows no clock. A figure that the device does not publish stays unknown.
package analyze
