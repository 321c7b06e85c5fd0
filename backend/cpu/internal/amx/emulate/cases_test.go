//go:build linux && amd64

package emulate

import (
	"encoding/hex"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDecode reads what GNU as (binutils 2.40) made of instructions.
func TestDecode(t *testing.T) {
	r := unix.PtraceRegs{Rax: 0x1000, Rdx: 0x2000, Rsi: 0x3000, Rdi: 0x7, R8: 0x4000, R9: 64, R10: 128, R11: 256, R12: 0x5000, R13: 0x6000, R15: 0x7000, Rcx: 3}
	for code, want := range map[string]instruction{
		"c4 e2 78 49 00":                {name: "LDTILECFG", length: 5, at: 0x1000},
		"c4 e2 78 49 c0":                {name: "TILERELEASE", length: 5},
		"c4 e2 7b 49 f8":                {name: "TILEZERO", length: 5, c: 7},
		"c4 a2 7b 4b 04 1a":             {name: "TILELOADD", length: 6, at: 0x2000, rowStride: 256},
		"c4 82 7b 4b 7c 15 40":          {name: "TILELOADD", length: 7, c: 7, at: 0x6040, rowStride: 128},
		"c4 82 7b 4b 74 15 00":          {name: "TILELOADD", length: 7, c: 6, at: 0x6000, rowStride: 128},
		"c4 a2 79 4b ac 0e 00 04 00 00": {name: "TILELOADDT1", length: 10, c: 5, at: 0x3400, rowStride: 64},
		"c4 c2 79 4b 1c 0c":             {name: "TILELOADDT1", length: 6, c: 3, at: 0x5000, rowStride: 3},
		"c4 c2 7a 4b a4 38 7f ff ff ff": {name: "TILESTORED", length: 10, c: 4, at: 0x4000 - 129, rowStride: 7},
		"c4 e2 4a 5c c4":                {name: "TDPBF16PS", length: 5, c: 0, a: 4, b: 6},
		"c4 e2 43 5e dd":                {name: "TDPBSSD", length: 5, c: 3, a: 5, b: 7},
		"c4 e2 6d 50 d9":                {}, // VPDPBUSD
		"0f 0b":                         {}, // UD2
	} {
		bytes, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := decode(append(bytes, make([]byte, 9)...), &r)
		if ok != (want.name != "") {
			t.Errorf("%s: decoded %v as %q", code, ok, got.name)
		}
		if !ok {
			continue
		}
		if !strings.HasPrefix(want.name, "TDP") {
			got.a, got.b = 0, 0 // mean nothing
		}
		if strings.HasPrefix(want.name, "LD") || want.name == "TILERELEASE" {
			got.c, got.rowStride = 0, 0
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", code, got, want)
		}
	}
}

// TestMultiplyAdd compares with arithmetic of any precision.
func TestMultiplyAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		short := func() float32 {
			return math.Float32frombits(uint32(r.IntN(2)<<15|(90+r.IntN(75))<<7|r.IntN(128)) << 16)
		}
		x, y := short(), short()
		s := math.Float32frombits(uint32(r.IntN(2)<<31 | (80+r.IntN(95))<<23 | r.IntN(1<<23)))
		if r.IntN(2) == 0 { // ties
			s = x * y * 0x1p24 * float32(1+r.IntN(3))
		}
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(x) * float64(y))
		want, _ := exact.Add(exact, new(big.Float).SetFloat64(float64(s))).Float32()
		if got := multiplyAdd(x, y, s); got != flushed(want) {
			t.Fatalf("%v·%v + %v = %v, want %v", x, y, s, got, want)
		}
	}
}
