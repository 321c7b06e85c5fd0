// What origami 0.0.3 names of HIP, for a machine without ROCm: there is no device.
#pragma once
#include <string>
struct hipDeviceProp_t {
  char gcnArchName[256];
  int multiProcessorCount, l2CacheSize, clockRate, memoryClockRate;
  size_t sharedMemPerBlock;
};
typedef int hipError_t;
static inline hipError_t hipGetDeviceProperties(hipDeviceProp_t*, int) { return 1; }
static inline const char* hipGetErrorString(hipError_t) { return "no device"; }
