// Package probe learns about the host by asking and by measuring.
//
//	Host           name, cores and caches, from CPUID or the operating system
//	PeakFLOPs      the rate of a loop of multiply-adds that touches no memory
//	Stream         the rate of streams that fit no cache
//	Shared         the rate at which one core reads the cache that cores share
//	Control        two short pieces of work that tell whether the machine is as it was
//	BFloat16Pairs  which of two ways to multiply bfloat16 is faster
//	Tiles          whether AMX is faster than AVX-512
//	HasHalves      whether an instruction widens floats of 16 bits
//
// A measurement takes some 50 ms, those of two ways a few. It is the best of many short runs, so
// other work on the machine rarely lowers it; a peak is what no kernel exceeds, not what a
// kernel should reach. What is not known is zero. The package caches nothing but Host, and looks
// at feature bits, never at the name of a processor.
package probe
