package probe

import (
	"encoding/binary"
	"runtime"
	"strings"

	"matladder/backend/cpu/internal/amx"
)

// Leaves of CPUID: Intel SDM 2A, "CPUID", and AMD APM 3, appendix E.
const (
	leafCaches    = 4
	leafTopology  = 0xb
	leafBrand     = 0x80000002
	leafAMDCaches = 0x8000001d
)

func ask() HostInfo {
	maximum, _, _, _ := amx.CPUID(0, 0)
	maximumExt, _, _, _ := amx.CPUID(0x80000000, 0)
	var h HostInfo
	if maximumExt >= leafBrand+2 {
		h.Name = brand()
	}
	if maximum >= leafTopology {
		// Sub-leaf 0 is the level of threads within one core.
		if _, threads, _, _ := amx.CPUID(leafTopology, 0); threads > 0 {
			h.Cores = max(1, runtime.NumCPU()/int(threads&0xffff))
		}
	}
	if maximum >= leafCaches {
		h.caches(leafCaches)
	}
	if h.L1D == 0 && maximumExt >= leafAMDCaches {
		h.caches(leafAMDCaches)
	}
	return h
}

// brand reads the 48 characters of the processor's name.
func brand() string {
	var b []byte
	for leaf := uint32(leafBrand); leaf < leafBrand+3; leaf++ {
		eax, ebx, ecx, edx := amx.CPUID(leaf, 0)
		for _, r := range [...]uint32{eax, ebx, ecx, edx} {
			b = binary.LittleEndian.AppendUint32(b, r)
		}
	}
	return strings.Join(strings.Fields(strings.TrimRight(string(b), "\x00")), " ")
}

// caches walks the sub-leaves of a cache leaf, one cache each.
func (h *HostInfo) caches(leaf uint32) {
	const none, instruction = 0, 2
	for sub := uint32(0); sub < 16; sub++ {
		eax, ebx, ecx, _ := amx.CPUID(leaf, sub)
		kind, level := eax&31, eax>>5&7
		if kind == none {
			return
		}
		if kind == instruction {
			continue
		}
		ways, partitions, line, sets := ebx>>22+1, ebx>>12&0x3ff+1, ebx&0xfff+1, ecx+1
		bytes := int(ways) * int(partitions) * int(line) * int(sets)
		switch level {
		case 1:
			h.L1D = bytes
		case 2:
			h.L2 = bytes
		case 3:
			h.L3, h.Sharing = bytes, int(eax>>14&0xfff+1)
		}
	}
}

// HasHalves reports whether the processor widens halves to float32 (F16C).
func HasHalves() bool {
	_, _, ecx, _ := amx.CPUID(1, 0)
	return ecx>>29&1 != 0
}
