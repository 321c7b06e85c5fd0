//go:build linux && amd64

// Package emulate is a test whose binary runs another program, whose AMX instructions
// this processor lacks. Each of them ends in an illegal-instruction signal, which emulate,
// as the program's tracer, answers by doing what Intel's manual says and moving on.
// Everything else runs at full speed. With it the tests of tiles run on any
// amd64 Linux with AVX-512:
//
//	go test -c -o /tmp/emulate ./backend/cpu/internal/amx/emulate
//	go test -tags amxemulated -exec /tmp/emulate ./backend/cpu/internal/gemm
//	go test -tags amxemulated -exec /tmp/emulate -run TestConformance/amx -timeout 30m ./backend/cpu
//
// The tag amxemulated lets package amx find nothing missing. What a program
// does wrong ends it with a message: tiles used without a shape or of shapes
// that do not match, reserved bits, memory it must not touch.
//
// Emulate knows the instructions that asmgen writes and no others. It says
// nothing of speed, and nothing of whether a kernel of the system saves tiles.
package emulate

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain runs the program that the arguments name, or else the tests of what it would
// be emulated by.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-") {
		m.Run()
		return
	}
	status, err := trace(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
		os.Exit(1)
	}
	os.Exit(status)
}
