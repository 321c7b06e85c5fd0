package gemm

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/probe"
)

// ISA is an instruction set that has micro-kernels of its own.
type ISA uint8

const (
	Generic ISA = iota // Go, on every machine
	AVX2               // amd64 with AVX2 and FMA; AVX-VNNI is used where present
	AVX512             // amd64 with AVX-512 F, BW, DQ, VL; VNNI and BF16 are used where they pay
	AMX                // AVX512 with AMX TILE, BF16 and INT8, allowed by the operating system and proven
	NEON               // arm64; products of bytes are used where present
)

// includes are the instruction sets whose routines run where one does, besides itself.
var includes = map[ISA][]ISA{AVX512: {AVX2}, AMX: {AVX512, AVX2}}

// Has reports whether routines of another instruction set run where i does.
func (i ISA) Has(other ISA) bool { return i == other || slices.Contains(includes[i], other) }

var isaNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", AMX: "amx", NEON: "neon"}

func (i ISA) String() string {
	if int(i) < len(isaNames) {
		return isaNames[i]
	}
	return fmt.Sprintf("ISA(%d)", uint8(i))
}

// Names are the spellings of String, Generic first.
func Names() []string { return slices.Clone(isaNames[:]) }

// ParseISA reads the spelling of String.
func ParseISA(s string) (ISA, error) {
	if i := slices.Index(isaNames[:], s); i >= 0 {
		return ISA(i), nil
	}
	return Generic, fmt.Errorf("unknown instruction set %q: want %s", s, strings.Join(isaNames[:], ", "))
}

// A target is an instruction set of this architecture.
type target struct {
	needs   []feature
	proven  func(absent []string) []string // what it lacks, beside those features; nil for nothing
	kernels func(probe.HostInfo) *Kernels
}

// A feature is what a processor may have.
type feature struct {
	has  bool
	name string
}

// targets are those of this architecture, which init adds.
var targets = map[ISA]target{Generic: {kernels: genericKernels}}

// Missing names the features of i that this processor or its operating system
// lacks; it is empty where i can run.
func (i ISA) Missing() (absent []string) {
	t, ok := targets[i]
	switch {
	case !ok && int(i) >= len(isaNames):
		return []string{i.String()}
	case !ok && i == NEON:
		return []string{"arm64"}
	case !ok:
		return []string{"amd64"}
	}
	for _, f := range t.needs {
		if !f.has {
			absent = append(absent, f.name)
		}
	}
	if t.proven != nil {
		absent = t.proven(absent)
	}
	return absent
}

// Better are the instruction sets of this architecture that are preferred to i, the best last.
func (i ISA) Better() (better []ISA) {
	for i++; int(i) < len(isaNames); i++ {
		if _, ok := targets[i]; ok {
			better = append(better, i)
		}
	}
	return better
}

// Supported lists what this machine runs, Generic first, the best last.
func Supported() []ISA {
	var s []ISA
	for i := range isaNames {
		if len(ISA(i).Missing()) == 0 {
			s = append(s, ISA(i))
		}
	}
	return s
}

// Detect returns the best instruction set this machine runs.
func Detect() ISA {
	s := Supported()
	return s[len(s)-1]
}
