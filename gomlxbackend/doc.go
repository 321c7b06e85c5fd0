// Package gomlxbackend is matladder as a backend of gomlx/compute:
//
//	import _ "matladder/gomlxbackend"
//	…
//	b, err := compute.NewWithConfig("matladder") // or GOMLX_BACKEND=matladder
//
// It has what matladder has kernels for, fused attention, fused dense layers and products
// of two matrices, of float32 and bfloat16, between parameters and constants; whatever else
// a graph asks for is compute.ErrNotImplemented. The interface has a backend run a whole
// graph: there is no way from outside to hand single operations of gomlx's own Go backend to
// another, so a graph of other operations is for that one.
//
// Buffers are shared: their slices are what kernels read and write.
package gomlxbackend
