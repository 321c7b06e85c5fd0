package aot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/foreign/process"
	"matladder/backend/internal/libtpu"
	"matladder/machine"
	"matladder/tile"
)

// tritonAMD is what the compiler for AMD's GPUs is called.
const tritonAMD = "Triton"

// source is a program on its way to a compiler: its kernels, and StableHLO that launches them.
type source struct {
	kernels []tritonText
	module  func() (string, error)
}

// tritonText is a kernel of Triton.
type tritonText struct {
	name, ttir    string
	grid          [3]int
	warps, stages int
}

// amdCompiler compiles kernels for AMD's GPUs by Triton in Python; no GPU is used.
type amdCompiler struct {
	*process.Backend
	limit time.Duration // for one kernel
}

func openAMD(o Options) (*amdCompiler, error) {
	b, err := process.OpenTriton(context.Background(), machine.Device{})
	return &amdCompiler{b, cmp.Or(o.Limit, defaultLimit)}, err
}

// Plugin is Triton and its version.
func (c *amdCompiler) Plugin() (name, version string) {
	name, version = c.Backend.Plugin()
	_, version, _ = strings.Cut(version, "triton ")
	return "triton", version
}

// compile compiles one kernel. What the compiler gives up on is backend.ErrUnsupported.
func (c *amdCompiler) compile(ctx context.Context, g GPU, t tritonText) (k GPUKernel, err error) {
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	said, err := c.CompileTriton(limited, t.ttir, g.Arch, t.warps, max(1, t.stages))
	switch {
	case err == nil:
	case errors.Is(err, backend.ErrUnsupported):
		return k, &libtpu.UnsupportedError{Compiler: tritonAMD, Reason: strings.TrimSuffix(err.Error(), ": "+backend.ErrUnsupported.Error())}
	case ctx.Err() == nil && limited.Err() != nil:
		return k, &CrashError{fmt.Sprintf("no answer within %v", c.limit), true, tritonAMD}
	default:
		return k, err
	}
	var made struct {
		Text   string
		Shared int
	}
	if err := json.Unmarshal([]byte(said), &made); err != nil {
		return k, fmt.Errorf("%s: %w", tritonAMD, err)
	}
	if k, err = readAMD(made.Text); err != nil {
		return k, err
	}
	k.Name, k.Grid, k.Threads, k.SharedBytes = t.name, t.grid, t.warps*g.Warp, k.SharedBytes+made.Shared
	return k, nil
}

var (
	amdFigure      = regexp.MustCompile(`(?m)^\s*(?:- )?\.(vgpr_count|agpr_count|vgpr_spill_count|group_segment_fixed_size):\s+(\d+)`)
	amdInstruction = regexp.MustCompile(`(?m)^\t([a-z]\w+)(?:[ \t]|$)`)
)

// readAMD reads assembly of one kernel: of its metadata the registers of a thread, those for sums among
// them, how many are spilled, and static shared memory; and its instructions.
func readAMD(assembly string) (GPUKernel, error) {
	k := GPUKernel{Instructions: map[string]int{}, Disassembled: true}
	found := 0
	for _, m := range amdFigure.FindAllStringSubmatch(assembly, -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return k, fmt.Errorf("%s: .%s: %w", tritonAMD, m[1], err)
		}
		found++
		switch m[1] {
		case "vgpr_count":
			k.Registers = n
		case "agpr_count":
			k.Accumulators = n
		case "vgpr_spill_count":
			k.SpillBytes = 4 * n
		case "group_segment_fixed_size":
			k.SharedBytes = n
		}
	}
	if found != 4 {
		return k, fmt.Errorf("%s: its assembly has %d of the four figures of one kernel", tritonAMD, found)
	}
	for _, m := range amdInstruction.FindAllStringSubmatch(assembly, -1) {
		k.Instructions[m[1]]++
		k.Instructions["total"]++
		if strings.HasPrefix(m[1], "v_mfma_") {
			k.Instructions["v_mfma"]++
		}
	}
	return k, nil
}

// amdProducts are the ends of opcodes of matrix units, and at which peak they multiply.
var amdProducts = []struct{ end, dtype, precision string }{
	{"bf16", "bfloat16", ""}, {"_f16", "bfloat16", ""}, {"_xf32", "float32", ""}, {"_f32", "float32", machine.PrecisionHighest},
	{"_i8", "int8", ""}, {"_f8f6f4", "float8_e4m3fn", ""},
}

// multiplied is what the matrix units of a GPU multiply in most instructions of a kernel; what is
// given where these do not tell. Where a dtype has no instruction, the compiler widens its factors. Of
// NVIDIA's only those of float4, or of float8 for it, tell.
func multiplied(k GPUKernel, dtype, precision string) (string, string) {
	has := func(opcodes ...string) bool {
		return slices.ContainsFunc(opcodes, func(o string) bool { return k.Instructions[o] > 0 })
	}
	switch {
	case has("UTCOMMA", "OMMA", "tcgen05.mxf4", "mma.mxf4"):
		return tile.Float4E2M1FN.String(), precision
	case dtype == tile.BFloat16.String() && has("UTCQMMA", "QMMA", "tcgen05.mxf8f6f4", "mma.mxf8f6f4"):
		return tile.Float8E4M3FN.String(), precision
	}
	most := 0
	for _, p := range amdProducts {
		n := 0
		for opcode, times := range k.Instructions {
			if strings.HasPrefix(opcode, "v_mfma_") && strings.HasSuffix(opcode, p.end) {
				n += times
			}
		}
		if n > most {
			most, dtype, precision = n, p.dtype, p.precision
		}
	}
	return dtype, precision
}
