//go:build !amxemulated

package amx

import (
	"fmt"
	"sync"
	"syscall"

	"golang.org/x/sys/cpu"
)

// Emulated says that instructions of AMX are carried out by the test binary emulate.
const Emulated = false

// xcr0 executes XGETBV: which registers the operating system saves. The
// processor must have AVX, as x/sys/cpu tells it.
func xcr0() uint64

// Missing names what this machine lacks for products of bfloat16 and int8 on
// tiles; it is empty where both can run. The first call asks the operating
// system for permission, which holds for all threads of the process.
var Missing = sync.OnceValue(func() []string {
	x := &cpu.X86
	var absent []string
	need := func(has bool, name string) {
		if !has {
			absent = append(absent, name)
		}
	}
	need(x.HasAMXTile, "amxtile")
	need(x.HasAMXBF16, "amxbf16")
	need(x.HasAMXInt8, "amxint8")
	if len(absent) > 0 {
		return absent
	}
	// XTILECFG and XTILEDATA: Intel SDM 1, 13.3.
	const tileState = 1<<17 | 1<<18
	if !x.HasAVX || xcr0()&tileState != tileState {
		return []string{"amx state saved by the operating system"}
	}
	if !usualPalette() {
		return []string{"amx tiles of 16 rows of 64 bytes"}
	}
	if err := permit(); err != nil {
		return []string{fmt.Sprintf("permission to use amx (arch_prctl: %v)", err)}
	}
	return nil
})

// usualPalette reports whether palette 1 is what package constants say (Intel
// SDM 2A, "CPUID", leaf 1DH).
func usualPalette() bool {
	const leaf = 0x1d
	if maximum, _, _, _ := CPUID(0, 0); maximum < leaf {
		return false
	}
	if palettes, _, _, _ := CPUID(leaf, 0); palettes < 1 {
		return false
	}
	eax, ebx, ecx, _ := CPUID(leaf, 1)
	return eax>>16 == Size && ebx&0xffff == Line && ebx>>16 >= Tiles && ecx&0xffff == Rows
}

// permit asks for the tile data, which Linux leaves out of the state of a
// process until it does (Documentation/arch/x86/xstate.rst).
func permit() error {
	const (
		requestPermission = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData          = 18
	)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0); errno != 0 {
		return errno
	}
	return nil
}
