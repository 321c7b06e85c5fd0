// Package amx says whether this process may use AMX, the tile registers of
// some amd64 processors, and describes the shapes of tiles to them.
//
//  1. Missing asks the processor (CPUID), whether the operating system saves
//     the registers (XCR0), and, once in a process, for its permission.
//  2. Config is what LDTILECFG loads.
//
// Where the processor has no AMX, the test binary emulate runs its tests.
//
// The package executes no AMX instruction. Whoever does loads the shapes and releases the tiles
// inside one routine in assembly, which the Go runtime does not interrupt to run another
// goroutine: a thread then never has live tiles outside it. A signal that comes in the middle
// finds them saved and restored by the kernel.
package amx
