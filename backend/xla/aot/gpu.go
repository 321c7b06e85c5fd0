package aot

import (
	"fmt"
	"strings"

	"matladder/internal/known"
	"matladder/machine"
)

// GPU is a GPU as XLA's compiler and the chip table know it.
type GPU struct {
	Name string // h100
	Chip string // key in package machine
	Arch string // what ptxas calls it: sm_90a

	// Of one multiprocessor. Sources: XLA's own descriptions of these GPUs
	// (xla/backends/gpu/target_config/specs); of the L4, which has none there, the
	// table of compute capability 8.9 in the CUDA C++ Programming Guide.
	SharedBytes int // what its blocks can have together
	Threads     int // of its blocks together
	Lanes       int // float32 multiply-adds in a cycle

	major, minor int // compute capability
}

// Registers of one multiprocessor, and what a block leaves of shared memory to the
// driver, on every GPU here.
const (
	registersPerCore    = 65536
	reservedSharedBytes = 1024
)

var gpus = []GPU{
	{"a100", "nvidia_a100_80gb", "sm_80", 167936, 2048, 64, 8, 0},
	{"a100-40gb", "nvidia_a100_40gb", "sm_80", 167936, 2048, 64, 8, 0},
	{"a6000", "nvidia_rtx_a6000", "sm_86", 102400, 1536, 128, 8, 6},
	{"l4", "nvidia_l4", "sm_89", 102400, 1536, 128, 8, 9},
	{"h100", "nvidia_h100_sxm", "sm_90a", 233472, 2048, 128, 9, 0},
	{"h100-pcie", "nvidia_h100_pcie", "sm_90a", 233472, 2048, 128, 9, 0},
	{"h200", "nvidia_h200", "sm_90a", 233472, 2048, 128, 9, 0},
	{"b200", "nvidia_b200", "sm_100a", 233472, 2048, 128, 10, 0},
}

// GPUs lists the GPUs to compile for, the oldest first.
func GPUs() []GPU { return append([]GPU(nil), gpus...) }

// FindGPU returns the GPU of a name.
func FindGPU(name string) (GPU, error) {
	return known.Find("GPU", name, gpus, func(g GPU) string { return g.Name })
}

// Device is the chip.
func (g GPU) Device() (machine.Device, error) { return machine.Find(g.Chip) }

// config describes the GPU to XLA's compiler: a GpuTargetConfigProto, as text.
func (g GPU) config() (string, error) {
	d, err := g.Device()
	if err != nil {
		return "", err
	}
	extension := "NONE"
	if strings.HasSuffix(g.Arch, "a") {
		extension = "ACCELERATED_FEATURES"
	}
	return fmt.Sprintf(`gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_block_optin: %.0f
  shared_memory_per_core: %d
  threads_per_core_limit: %d
  core_count: %d
  fpus_per_core: %d
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  memory_bandwidth: %.0f
  l2_cache_size: %.0f
  clock_rate_ghz: %.4g
  device_memory_size: %.0f
  cuda_compute_capability { major: %d minor: %d feature_extension: %s }
  registers_per_core_limit: %d
  registers_per_block_limit: %d
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 }
device_description_str: %q
`, d.FastBytes.Value, g.SharedBytes, g.Threads, d.Cores, g.Lanes, d.BandwidthBytesPerSecond.Value,
		d.LastLevelCacheBytes.Value, d.ClockHertz.Value/1e9, d.MemoryBytes.Value, g.major, g.minor, extension,
		registersPerCore, registersPerCore, d.Names[0]), nil
}
