package aot

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/internal/libtpu"
	"matladder/internal/known"
	"matladder/machine"
	"matladder/plugins"
)

// xlaGPU is what XLA's compiler for GPUs is called.
const xlaGPU = "XLA"

// gpuDumpFlags make XLA write what it launches, and its PTX.
const gpuDumpFlags = "--xla_dump_to=%s --xla_dump_emitter_re=.*"

// GPUCompiler compiles for GPUs; none is used. Its methods may be called at the same time.
type GPUCompiler struct{ *Compiler }

// OpenGPU returns a compiler for GPUs: the plugin cuda, or that at o.Library, which
// then has ptxas on the PATH. It is an error if the plugin is not installed:
// *plugins.NotInstalledError says how to get it.
func OpenGPU(o Options) (*GPUCompiler, error) {
	if !supported {
		return nil, ErrNoCompiler
	}
	var env []string
	tools := gpuTools{ptxas: "ptxas"}
	if o.Library == "" {
		installed, err := plugins.Find("cuda")
		if err != nil {
			return nil, err
		}
		o.Library, o.version, env = installed.Library(), installed.Version, installed.Environment()
		if tools = (gpuTools{installed.Tool("ptxas"), installed.Tool("nvdisasm")}); tools.ptxas == "" { // linked to packages without CUDA's compiler
			if tools.ptxas, err = exec.LookPath("ptxas"); err != nil {
				return nil, errors.New("plugin cuda has no ptxas, nor has the PATH: install nvidia-cuda-nvcc beside its packages and link it again, or have it downloaded (plugin install cuda)")
			}
		}
	}
	o.Schedules = true
	o.maker = maker{
		name: xlaGPU,
		env: func(o Options, dump string) []string {
			flags := ""
			for _, e := range slices.Concat(os.Environ(), env) {
				if rest, ok := strings.CutPrefix(e, "XLA_FLAGS="); ok {
					flags = rest
				}
			}
			flags = strings.Join([]string{flags, o.Flags, fmt.Sprintf(gpuDumpFlags, dump)}, " ")
			return append(slices.Clone(env), "XLA_FLAGS="+strings.TrimSpace(flags), "TF_CPP_MIN_LOG_LEVEL=2",
				"LLVM_DISABLE_SYMBOLIZATION=1") // a failed pass prints a stack, which llvm-symbolizer takes seconds to name
		},
		classify: classifyGPU,
		read:     tools.read,
	}
	c, err := Open(o)
	return &GPUCompiler{c}, err
}

// Compile compiles a StableHLO program, as text, for a GPU. Kernels of Triton in it
// are custom calls (package lower/triton). It waits for its turn.
func (c *GPUCompiler) Compile(ctx context.Context, g GPU, program string) (*Compiled, error) {
	config, err := g.config()
	if err != nil {
		return nil, err
	}
	return c.compile(ctx, request{Topology: g.Name, Config: config, Program: program})
}

// The ways in which XLA says that a kernel takes more of a GPU than a block can have,
// and that a GPU lacks something.
var (
	sharedPattern         = regexp.MustCompile(`(?i)(shared|tensor) memory[^0-9]*(?:size )?limit exceeded[^0-9]*requested (\d+), available:? (\d+)`)
	gpuUnsupportedPattern = regexp.MustCompile(`(?i)unsupported|not (yet )?supported|not implemented|requires compute capability|feature .* not supported`)
)

// classifyGPU turns an error of XLA's compiler for GPUs, with its PJRT code, into one
// that a caller can decide on.
func classifyGPU(code int, message string) error {
	reason := strings.Join(strings.Fields(message), " ")
	const longest = 300
	if len(reason) > longest {
		reason = strings.ToValidUTF8(reason[:longest], "") + " …"
	}
	if m := sharedPattern.FindStringSubmatch(message); m != nil {
		big := &libtpu.TooBigError{TooBigError: backend.TooBigError{What: strings.ToLower(m[1]) + " memory"}, Compiler: xlaGPU, Reason: reason}
		big.Needed, _ = strconv.ParseInt(m[2], 10, 64)
		big.Limit, _ = strconv.ParseInt(m[3], 10, 64)
		if strings.HasPrefix(big.What, "tensor") { // in columns of 128 rows, 32 bits each
			big.Needed, big.Limit = 512*big.Needed, 512*big.Limit
		}
		return big
	}
	if gpuUnsupportedPattern.MatchString(message) && !strings.Contains(message, "Failed to parse") {
		return &libtpu.UnsupportedError{Compiler: xlaGPU, Reason: reason}
	}
	return &CompileError{Compiler: xlaGPU, Code: code, Reason: reason}
}

// GPU is a GPU as XLA's compiler and the chip table know it.
type GPU struct {
	Name string // h100
	Chip string // key in package machine
	Arch string // what ptxas calls it: sm_90a; of AMD's the architecture: gfx942

	// Of one multiprocessor. Sources: XLA's own descriptions of these GPUs
	// (xla/backends/gpu/target_config/specs); of the L4, which has none there, the
	// table of compute capability 8.9 in the CUDA C++ Programming Guide; of AMD's, ROCm's GPU
	// specifications and eight waves of each SIMD.
	SharedBytes int // what its blocks can have together
	Threads     int // of its blocks together
	Lanes       int // float32 multiply-adds in a cycle

	Warp     int // threads
	Reserved int // bytes of shared memory that a block leaves to the driver

	major, minor int // compute capability; 0 of AMD's
}

// A multiprocessor deals its warps out to schedulers, AMD's its waves to SIMDs. Each has so many
// registers of a lane, in units, on every GPU here.
const (
	schedulers    = 4
	laneRegisters = 512
	registerUnit  = 8
)

// registers of one multiprocessor.
func (g GPU) registers() int { return schedulers * laneRegisters * g.Warp }

var gpus = []GPU{
	{"a100", "nvidia_a100_80gb", "sm_80", 167936, 2048, 64, 32, 1024, 8, 0},
	{"a100-40gb", "nvidia_a100_40gb", "sm_80", 167936, 2048, 64, 32, 1024, 8, 0},
	{"a6000", "nvidia_rtx_a6000", "sm_86", 102400, 1536, 128, 32, 1024, 8, 6},
	{"l4", "nvidia_l4", "sm_89", 102400, 1536, 128, 32, 1024, 8, 9},
	{"l40s", "nvidia_l40s", "sm_89", 102400, 1536, 128, 32, 1024, 8, 9},
	{"h100", "nvidia_h100_sxm", "sm_90a", 233472, 2048, 128, 32, 1024, 9, 0},
	{"h100-pcie", "nvidia_h100_pcie", "sm_90a", 233472, 2048, 128, 32, 1024, 9, 0},
	{"h200", "nvidia_h200", "sm_90a", 233472, 2048, 128, 32, 1024, 9, 0},
	{"b200", "nvidia_b200", "sm_100a", 233472, 2048, 128, 32, 1024, 10, 0},
	{"gb200", "nvidia_gb200", "sm_100a", 233472, 2048, 128, 32, 1024, 10, 0},
	{"b300", "nvidia_b300", "sm_103a", 233472, 2048, 128, 32, 1024, 10, 3},
	{"rtx-pro-6000", "nvidia_rtx_pro_6000_server", "sm_120a", 102400, 1536, 128, 32, 1024, 12, 0},
	{"mi300x", "amd_mi300x", "gfx942", 65536, 2048, 128, 64, 0, 0, 0},
	{"mi325x", "amd_mi325x", "gfx942", 65536, 2048, 128, 64, 0, 0, 0},
	{"mi350x", "amd_mi350x", "gfx950", 163840, 2048, 128, 64, 0, 0, 0},
	{"mi355x", "amd_mi355x", "gfx950", 163840, 2048, 128, 64, 0, 0, 0},
}

// GPUs lists the GPUs to compile for, the oldest of a vendor first.
func GPUs() []GPU { return append([]GPU(nil), gpus...) }

// FindGPU returns the GPU of a name.
func FindGPU(name string) (GPU, error) {
	return known.Find("GPU", name, gpus, func(g GPU) string { return g.Name })
}

// Device is the chip.
func (g GPU) Device() (machine.Device, error) { return machine.Find(g.Chip) }

//go:embed gpu_target.textproto
var gpuTarget string

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
	return fmt.Sprintf(gpuTarget, d.FastBytes.Value, g.SharedBytes, g.Threads, d.Cores, g.Lanes, d.BandwidthBytesPerSecond.Value,
		d.LastLevelCacheBytes.Value, d.ClockHertz.Value/1e9, d.MemoryBytes.Value, g.major, g.minor, extension,
		g.registers(), g.registers(), d.Names[0]), nil
}
