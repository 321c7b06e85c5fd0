// Package model says what a tile program costs before it runs: counts that
// follow from the grid and the index maps alone.
//
//  1. Count returns FLOPs, bytes at least, bytes moved after tiling, fast memory
//     and grid steps.
//
//  2. Counts give arithmetic intensity; At puts it under the roofline of a
//     device: what the device can reach, and whether memory or arithmetic is
//     the limit.
//
//  3. WorkOf and On are the step model: how long a launch takes on a TPU, from
//     the cycles of a grid step that a compiler tells. docs/prediction.md holds
//     it against measurements. FootprintOf and VMEM say how much fast memory
//     programs take, and how much they request of the compiler.
//
//  4. Place lays a mesh of devices into a slice of a pod, and Collective says how
//     long an exchange along one of its axes takes on the wire, by an alpha-beta
//     model of rings and lines. No measurement has been held against it yet.
//
// Package blocking ranks block shapes by the step model, and by one of cores with
// caches. Neither measures. A figure that the device does not publish stays unknown.
package model
