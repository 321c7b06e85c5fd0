// Package dynlib loads shared libraries without cgo.
package dynlib
