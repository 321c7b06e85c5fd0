package aot

import (
	"context"
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
	"matladder/plugins"
)

// xlaGPU is what XLA's compiler for GPUs is called.
const xlaGPU = "XLA"

// gpuDumpFlags make XLA write what it launches, and its PTX.
const gpuDumpFlags = "--xla_dump_to=%s --xla_dump_emitter_re=.*"

// GPUCompiler compiles for GPUs; none is used. Its methods may be called at the
// same time.
type GPUCompiler struct {
	*Compiler
	version string // of the plugin
}

// OpenGPU returns a compiler for GPUs: the plugin cuda, or that at o.Library, which
// then has ptxas on the PATH. It is an error if the plugin is not installed:
// *plugins.NotInstalledError says how to get it.
func OpenGPU(o Options) (*GPUCompiler, error) {
	if !supported {
		return nil, ErrNoCompiler
	}
	c := &GPUCompiler{}
	var env []string
	tools := gpuTools{ptxas: "ptxas"}
	if o.Library == "" {
		installed, err := plugins.Find("cuda")
		if err != nil {
			return nil, err
		}
		o.Library, c.version, env = installed.Library(), installed.Version, installed.Environment()
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
	var err error
	c.Compiler, err = Open(o)
	return c, err
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
	sharedPattern         = regexp.MustCompile(`(?i)shared memory[^0-9]*(?:size )?limit exceeded[^0-9]*requested (\d+), available:? (\d+)`)
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
		big := &libtpu.TooBigError{TooBigError: backend.TooBigError{What: "shared memory"}, Compiler: xlaGPU, Reason: reason}
		big.Needed, _ = strconv.ParseInt(m[1], 10, 64)
		big.Limit, _ = strconv.ParseInt(m[2], 10, 64)
		return big
	}
	if gpuUnsupportedPattern.MatchString(message) && !strings.Contains(message, "Failed to parse") {
		return &libtpu.UnsupportedError{Compiler: xlaGPU, Reason: reason}
	}
	return &CompileError{Compiler: xlaGPU, Code: code, Reason: reason}
}
