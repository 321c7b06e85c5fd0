//go:build linux && cgo

package pjrt

import (
	"testing"

	"matladder/backend"
	"matladder/backend/backendtest"
)

// TestConformance compares what tile programs mean as StableHLO, run by XLA,
// with package interp.
func TestConformance(t *testing.T) {
	backendtest.Run(t, func() backend.Backend { return openCPU(t, Options{}) }, backendtest.Options{Seeded: true})
}
