package triton

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// Params are what a tuner may choose of a kernel, besides its blocks. None of them changes what a
// program means, but that a split sum is rounded in another order. 0 leaves the choice to Lower.
type Params struct {
	Warps  int // of 32 threads, on AMD's GPUs 64, which run one program
	Stages int // blocks of an operand that are on their way or at work at once; 1 where an output would be read ahead
	Group  int // programs of the second to last Parallel axis that share what they load
	SplitK int // parts of the Arbitrary axis that programs of their own sum
}

// Limits of parameters.
const (
	maxWarps  = 32
	maxStages = 16
	maxGroup  = 1 << 10
	maxSplit  = 1 << 10
)

// parameters are the fields of Params by the names under which they are recorded.
var parameters = map[string]struct {
	field func(*Params) *int
	most  int
	power bool // of two
}{
	"num_warps":  {func(p *Params) *int { return &p.Warps }, maxWarps, true},
	"num_stages": {func(p *Params) *int { return &p.Stages }, maxStages, false},
	"group":      {func(p *Params) *int { return &p.Group }, maxGroup, false},
	"split_k":    {func(p *Params) *int { return &p.SplitK }, maxSplit, false},
}

// ParamNames are the names of the parameters, sorted.
func ParamNames() []string { return slices.Sorted(maps.Keys(parameters)) }

// ParseParams reads parameters as they are recorded: num_warps, num_stages, group,
// split_k, each an integer.
func ParseParams(values map[string]string) (Params, error) {
	var p Params
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, ok := parameters[name]
		if !ok {
			return Params{}, fmt.Errorf("triton: unknown parameter %q (known: %s)", name, strings.Join(ParamNames(), ", "))
		}
		n, err := strconv.Atoi(values[name])
		if err != nil || n < 1 {
			return Params{}, fmt.Errorf("triton: %s = %q: must be a positive integer", name, values[name])
		}
		*known.field(&p) = n
	}
	return p, p.check()
}

func (p Params) check() error {
	for _, name := range ParamNames() {
		known := parameters[name]
		switch n := *known.field(&p); {
		case n < 0 || n > known.most:
			return fmt.Errorf("triton: %s = %d: must be 1 to %d, or 0 to leave it open", name, n, known.most)
		case known.power && n > 0 && bits.OnesCount(uint(n)) != 1:
			return fmt.Errorf("triton: %s = %d: must be a power of two", name, n)
		}
	}
	return nil
}

// Adjustments lists parameters one step from what Lower takes for programs with opts: each has
// one name and a value that makes another text, which fits the target. The error is Lower's.
func Adjustments(programs []*tile.Program, opts Options) ([]Adjustment, error) {
	plain, err := Lower(programs, opts)
	if err != nil {
		return nil, err
	}
	chosen := plain.Kernels[len(plain.Kernels)-1].Params // of the product: what is made ready for it stands before
	seen := map[string]bool{plain.Module(): true}
	var list []Adjustment
	for _, name := range ParamNames() {
		known := parameters[name]
		now := max(1, *known.field(&chosen))
		steps := []int{now / 2, 2 * now}
		if name == "num_stages" {
			steps = []int{now - 1, now + 1}
		}
		for _, n := range steps {
			with := opts
			if n < 1 || n > known.most {
				continue
			}
			*known.field(&with.Params) = n
			l, err := Lower(programs, with)
			if err != nil { // too big, or not to be parted so
				continue
			}
			if text := l.Module(); !seen[text] {
				seen[text] = true
				list = append(list, Adjustment{name, strconv.Itoa(n)})
			}
		}
	}
	return list, nil
}

// Adjustment is a parameter with its value as both are recorded.
type Adjustment struct{ Name, Value string }

// Target is what a generation of GPUs has and lacks. A limit of 0 is none.
type Target struct {
	Name          string // sm_80, sm_89, sm_90, sm_100, sm_120; gfx942, gfx950
	SharedBytes   int64  // of shared memory that one program may have
	RegisterBytes int64  // of a multiprocessor

	operandBytes int // of each row or column along k that a product has in registers at once; 0 where its operands stay in shared memory

	// readsAlongK says that matrix units read operands of 8 and 32 bits from shared memory
	// with the elements along k side by side alone: wgmma of sm_90 does. The compiler turns
	// any other in registers, element by element, before each product: on an H200 v5 was then
	// at 0.1 to 0.2 of XLA's own product.
	readsAlongK bool

	// scaledRows is from how many rows of a block on matrix units multiply float8, or float4 that lies
	// along k, by the scales of groups; 0 for never. If mixed, float4 by float8 and along n too.
	scaledRows int
	mixed      bool

	noFloat8 bool // neither multiplies nor converts float8

	wide     bool // a warp has 64 threads, each up to 512 registers
	float32s bool // matrix units multiply float32 as it is
	stages   int  // by default; 0 for as many as shared memory holds, at most defaultStages
	ahead    int  // stages that are in registers and take no shared memory

	// readsInStep says that the compiler is known to load a block of an output, which
	// a loop loads and stores, in the step that asks for it. Of XLA's in
	// jax-cuda13-pjrt 0.11.2 the one for sm_90 is; that for sm_100 has several such
	// blocks in shared memory at once, the later ones read too early.
	readsInStep bool
}

// The shared memory of a block and the registers of a multiprocessor are those of the CUDA C++
// Programming Guide, table "Technical Specifications per Compute Capability"; the former is
// shared_memory_per_block_optin of XLA's target configurations. Those of AMD's are of ROCm's GPU
// specifications; two stages are the default of Triton for AMD.
var targets = []Target{
	{Name: "sm_90", SharedBytes: 227 << 10, RegisterBytes: 256 << 10, readsInStep: true, readsAlongK: true},
	{Name: "sm_80", SharedBytes: 163 << 10, RegisterBytes: 256 << 10, operandBytes: 128, noFloat8: true},
	{Name: "sm_89", SharedBytes: 99 << 10, RegisterBytes: 256 << 10, operandBytes: 128},
	{Name: "sm_100", SharedBytes: 227 << 10, RegisterBytes: 256 << 10, scaledRows: 128, mixed: true},
	{Name: "sm_120", SharedBytes: 99 << 10, RegisterBytes: 256 << 10, operandBytes: 128, scaledRows: 32},
	{Name: "gfx942", SharedBytes: 64 << 10, RegisterBytes: 512 << 10, wide: true, float32s: true, stages: 2, ahead: 1},
	{Name: "gfx950", SharedBytes: 160 << 10, RegisterBytes: 512 << 10, wide: true, float32s: true, stages: 2},
}

// chips are the generations of GPUs by their keys in the chip table.
var chips = map[string]string{
	"nvidia_a100_40gb": "sm_80", "nvidia_a100_80gb": "sm_80", "nvidia_rtx_a6000": "sm_80", "nvidia_l4": "sm_89", "nvidia_l40s": "sm_89",
	"nvidia_h100_sxm": "sm_90", "nvidia_h100_pcie": "sm_90", "nvidia_h200": "sm_90", "nvidia_b200": "sm_100",
	"nvidia_gb200": "sm_100", "nvidia_b300": "sm_100", "nvidia_rtx_pro_6000_server": "sm_120",
	"amd_mi300x": "gfx942", "amd_mi325x": "gfx942", "amd_mi350x": "gfx950", "amd_mi355x": "gfx950",
}

// TargetOf is the generation of a chip with so much shared memory; the zero Target of what is not
// in the table. The RTX A6000 has the instructions of the A100, the B300 those of the B200.
func TargetOf(chip string, sharedBytes int64) (t Target) {
	if i := slices.IndexFunc(targets, func(t Target) bool { return t.Name == chips[chip] }); i >= 0 {
		t = targets[i]
		t.SharedBytes = min(t.SharedBytes, sharedBytes)
	}
	return t
}

// checkProducts refuses what a generation has no instructions for.
func (t Target) checkProducts(p *tile.Program) error {
	e := p.FindExpr(func(_ *tile.Stmt, e *tile.Expr) bool {
		return t.noFloat8 && e.Dtype.IsFloat() && e.Dtype.Bits() == 8 && !isCode(e.Dtype)
	})
	if e != nil {
		return unsupported(e.Pos, p, e.Op.String(), "", "%s has no %s", t.Name, e.Dtype)
	}
	return nil
}
