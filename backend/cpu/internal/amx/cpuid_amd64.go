package amx

// CPUID executes it with leaf in EAX and sub in ECX.
//
//go:noescape
func CPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
