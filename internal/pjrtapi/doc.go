// Package pjrtapi calls a PJRT plugin through its table of functions, whose layout follows
// pjrt_c_api.h of XLA: it only ever grows, and every argument struct begins with its size and
// a pointer to extensions.
//
//  1. Open loads a library; its Table is what the one function that it exports returns.
//  2. Call calls a function of the table by its place, on an argument struct of args.go.
//
// It is for Linux on amd64 and arm64, with or without cgo.
package pjrtapi
