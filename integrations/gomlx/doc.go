// Package gomlx is matladder as a backend of gomlx/compute:
//
//	import _ "matladder/integrations/gomlx"
//	…
//	b, err := compute.NewWithConfig("matladder") // or GOMLX_BACKEND=matladder
//
// Every graph that gomlx's own Go backend runs, runs here. A graph is recorded and cut:
//
//	Builder ─► record, with shapes by the Go backend ─► Compile: segments and programs ─► Execute: one after the other
//
// Programs are matladder's: products with axes in any order, dense layers with an activation,
// attention, softmax and layer norm, and what models write out in small operations: RMS norm,
// rotary positions, the gated half of an MLP. Segments are all else, graphs of the Go backend.
// Small arrays stay in their segment, as do functions that graphs call, and graphs with sizes
// that are not known.
//
// Buffers are the Go backend's, and shared: their slices are what kernels read and write.
package gomlx
