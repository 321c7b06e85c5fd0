package inspect

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"matladder/backend/registry"
	"matladder/backend/registry/builtin"
	"matladder/backend/xla/aot"
	"matladder/cmd/internal/deviceflag"
	"matladder/harness"
	"matladder/internal/cli"
	"matladder/internal/words"
	"matladder/kernels"
	"matladder/machine"
	"matladder/model"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"

	"github.com/spf13/pflag"
)

// formats are those that ways to show a kernel have besides text.
var formats = map[string][]string{
	"counts":   {"csv"},
	"steps":    {"csv"},
	"traverse": {"csv", "json", "html"},
	"schedule": {"csv"},
	"table":    {"csv"},
	"timeline": {"json", "svg"},
}

// ways are those to show a kernel in the order of the manual.
var ways = []string{"tile", "json", "counts", "steps", "traverse", "mosaic", "stablehlo", "schedule", "table", "plan", "asm", "anatomy", "timeline", "accumulator"}

// defaultSteps is how many steps a format shows.
var defaultSteps = map[string]int64{"text": 20, "csv": math.MaxInt64, "json": 2000, "html": 2000}

// maxWalked bounds the steps that are walked one by one: some ten seconds.
const maxWalked = 1 << 27

// options is what the command line asks for, checked.
type options struct {
	subject
	kernel   kernels.Kernel // nil where programs are from a file
	problem  problem.Problem
	blocks   tile.Blocks
	programs []*tile.Program
	device   machine.Device
	as       string
	format   string
	steps    int64
	out      string
	program  string    // StableHLO of a file; "" for tile programs
	wrong    error     // what is wrong with a file that is to be StableHLO
	launched *launched // a kernel of Triton of a file; nil for others
	topology string    // of the chip to compile for; "" for the chip's own
	// topologies are those of --as table.
	topologies []string
	assume     map[string][]int // trips of loops that data decides
	variant    string           // of the kernel
	threads    int              // of this machine; 0 for one a core
	mcpu       string           // that llvm-mca is to model; "" for this machine's
	where      *deviceflag.Flags
	open       *registry.Device // what --backend names; nil where a chip is looked up
}

//go:embed manual.txt
var manual string

func parse(args []string) (*options, error) {
	o := &options{}
	var sizes, dtype, blocks, launch string
	f := cli.NewFlags("inspect")
	f.StringVar(&sizes, "sizes", "1024", "one `SIZE`: a square (1024) or m×k×n (512x1024x2048)")
	f.StringVar(&dtype, "dtype", "float32", "`DTYPE` of operand A, or operands as in bench (bfloat16xint8:per_channel+token:bias+gelu)")
	cli.Offer(f, "dtype", problem.OperandNames())
	f.StringVar(&blocks, "blocks", "", "`BLOCKS` of v4 or v5, bm×bk×bn; those that move the fewest bytes if not given")
	f.StringVar(&o.variant, "variant", "", "`VARIANT` of the kernel, such as fused of v5 where the launch quantizes A")
	f.StringVar(&launch, "launch", "", "launch of a .ttir file, `NAME=VALUE...`: grid=512x1x1, its integers by name, num_warps, num_stages")
	cli.Group(f, "THE KERNEL")
	f.StringVar(&o.as, "as", "tile", "`VIEW`")
	cli.Known(f, "as", ways)
	f.StringVar(&o.format, "format", "text", "`FORMAT`: text, csv; of traverse also json, html; of timeline json, svg")
	cli.Offer(f, "format", []string{"text", "csv", "json", "html", "svg"})
	f.Int64Var(&o.steps, "steps", 0, "show the first `N` steps; as many as the format allows if not given")
	f.StringVar(&o.out, "out", "", "write to `FILE`")
	cli.Group(f, "WHAT TO SHOW")
	o.where = deviceflag.Define(f, 0)
	o.where.DefineAssume(f)
	f.IntVar(&o.threads, "threads", 0, "`THREADS` of this machine for --as plan, asm, anatomy, timeline and accumulator; 0 for one a core")
	f.StringVar(&o.mcpu, "mcpu", "", "`PROCESSOR` that llvm-mca models for --as asm, such as znver4; this machine's if not given")
	cli.Group(f, "WHERE")
	if err := cli.Parse(f, args, manual); err != nil {
		return o, err
	}
	if o.where.Asked() {
		return o, nil
	}
	if f.NArg() != 1 {
		return o, cli.Misuse(f, "want one kernel or file, as in inspect v5; have %d", f.NArg())
	}
	switch file, _, _ := strings.Cut(f.Arg(0), ".py:"); {
	case file != f.Arg(0) || strings.HasSuffix(file, ".py"):
		return o, fmt.Errorf("%s: bench predicts functions in Python, as in bench --with %s.py:FUNCTION --topology h100", f.Arg(0), strings.TrimSuffix(file, ".py"))
	case strings.HasSuffix(file, ".cubin") || strings.HasSuffix(file, ".ptx"):
		return o, fmt.Errorf("%s is compiled for a GPU, and Triton's text before that is predicted: the .ttir file next to it in Triton's cache", file)
	case isFile(file):
		o.fileKind(f, f.Arg(0))
	}
	foreign := o.program != "" || o.wrong != nil || o.launched != nil
	var err error
	if o.assume, err = aot.ParseAssumptions(o.where.Assume); err != nil {
		return o, fmt.Errorf("--assume %w", err)
	} else if o.assume != nil && (!foreign || o.launched != nil) {
		return o, errors.New("--assume is for StableHLO programs, whose loops data may decide")
	}
	if o.as == builtin.CPU { // the plan of this machine's backend has that name too
		o.as = "plan"
	}
	switch known := append([]string{"text"}, formats[o.as]...); {
	case !slices.Contains(ways, o.as):
		return o, fmt.Errorf("--as: unknown %q, known are %s", o.as, strings.Join(ways, ", "))
	case launch != "" && o.launched == nil:
		return o, fmt.Errorf("--launch is for a kernel of Triton, which %s is not", f.Arg(0))
	case o.launched != nil && !slices.Contains(tritonWays, o.as):
		return o, fmt.Errorf("--as: %s is a kernel of Triton, and can be shown as %s", f.Arg(0), strings.Join(tritonWays, ", "))
	case foreign && o.launched == nil && !slices.Contains(programWays, o.as):
		return o, fmt.Errorf("--as: %s is no tile program, and can be shown as %s", f.Arg(0), strings.Join(programWays, ", "))
	case !slices.Contains(known, o.format):
		return o, fmt.Errorf("--format: --as %s has no %q, only %s", o.as, o.format, strings.Join(known, ", "))
	case o.mcpu != "" && o.as != "asm":
		return o, fmt.Errorf("--mcpu is for --as asm, and --as %s asks no model of a processor", o.as)
	case f.Changed("steps") && o.as != "steps" && o.as != "traverse":
		return o, fmt.Errorf("--steps is for --as steps and traverse, and --as %s shows none", o.as)
	case f.Changed("steps") && o.as == "traverse" && o.format == "text":
		return o, errors.New("--steps is for --as steps, and for --as traverse with another --format: its text is a map of the whole launch")
	case f.Changed("steps") && o.steps < 1:
		return o, fmt.Errorf("--steps = %d: must be at least 1", o.steps)
	case !f.Changed("steps"):
		o.steps = defaultSteps[o.format]
	case o.steps > 20*defaultSteps["html"] && slices.Contains([]string{"html", "json"}, o.format):
		return o, fmt.Errorf("--steps = %d: at most %d in %s", o.steps, 20*defaultSteps["html"], o.format)
	}
	if o.launched != nil {
		if err := o.launched.set(launch); err != nil {
			return o, err
		}
		if err := refuse(f, f.Arg(0)); err != nil {
			return o, err
		}
		if err := o.gpus(); err != nil || o.wrong != nil {
			return o, err
		}
		return o, o.launched.ready(o.name)
	}
	if o.as == "table" {
		if err := o.listed(); err != nil {
			return o, err
		}
		for _, o.where.Topology = range slices.Backward(o.topologies) { // the first is o.topology
			if err := o.findDevice(f); err != nil {
				return o, err
			}
		}
		o.topologies[0] = cmp.Or(o.topologies[0], o.topology)
	} else if err := o.findDevice(f); err != nil {
		return o, err
	}
	switch {
	case foreign && o.open != nil:
		return o, fmt.Errorf("--as %s of %s is predicted for a TPU: name one by --topology", o.as, f.Arg(0))
	case foreign:
		return o, refuse(f, f.Arg(0))
	case isFile(f.Arg(0)):
		return o, o.read(f, f.Arg(0))
	}
	return o, o.build(f, sizes, dtype, blocks)
}

// build makes the programs of the kernel that the command line names.
func (o *options) build(f *pflag.FlagSet, sizes, dtype, blocks string) (err error) {
	if o.kernel, err = kernels.Find(f.Arg(0)); err != nil {
		return err
	}
	family := o.kernel.Family()
	if o.as == "accumulator" && family == problem.MatmulFamily && !f.Changed("sizes") {
		sizes = family.Short(harness.AccumulatorSizes[0])
	}
	asked, err := one("dtype", family, dtype, harness.ParseDtypes)
	if err != nil {
		return err
	}
	shape, err := one("sizes", family, sizes, harness.ParseSizes)
	if err != nil {
		return err
	}
	o.problem = family.Make(shape, asked)
	if err := o.problem.Validate(); err != nil {
		return err
	}
	if err := o.kernel.Supports(o.problem); err != nil {
		return fmt.Errorf("%s: %w", o.kernel.Name(), err)
	}
	if variants := o.kernel.Variants(o.problem); !slices.Contains(variants, o.variant) {
		known := cmp.Or(strings.Join(variants[1:], ", "), "none")
		return fmt.Errorf("--variant: %s has no %q on this problem (known: %s)", o.kernel.Name(), o.variant, known)
	}
	if f.Changed("blocks") {
		if !kernels.ChoosesBlocks(o.kernel) {
			return fmt.Errorf("--blocks is for kernels that take a choice: %s has block shapes of its own", o.kernel.Name())
		}
		if o.blocks, err = family.ParseBlocks(blocks); err != nil {
			return fmt.Errorf("--blocks: %w", err)
		}
		o.blocks = problem.Clip(o.problem, o.blocks)
		o.programs, err = o.kernel.Build(o.problem, o.variant, o.blocks)
	} else {
		err = o.choose()
	}
	o.subject = subjectOf(o.kernel, o.problem)
	if kernels.ChoosesBlocks(o.kernel) { // others have one block shape for a problem
		o.stem += "_" + o.blocks.String()
	}
	return err
}

// one is the single item of a list that a flag of bench takes.
func one[T any](flag string, family *problem.Family, text string, parse func(*problem.Family, string) ([]T, error)) (item T, err error) {
	list, err := parse(family, text)
	if err == nil && len(list) > 1 {
		err = fmt.Errorf("%q: want one, have %d", text, len(list))
	}
	if err != nil {
		return item, fmt.Errorf("--%s: %w", flag, err)
	}
	return list[0], nil
}

// choose takes the candidate that moves the fewest bytes of those that fit the device, or of all if
// none does the one that needs the least fast memory; where only running would tell, the first. Of
// a device with figures for it that is what its model takes.
func (o *options) choose() (err error) {
	if o.device.Blocking != nil {
		o.blocks = o.kernel.Candidates(o.problem, blocking.Of(o.device, blocking.Setup{}).Machine)[0]
		o.programs, err = o.kernel.Build(o.problem, o.variant, o.blocks)
		return err
	}
	limit := int64(o.device.FastDefaultBytes.Value)
	var best model.Counts
	for _, b := range o.kernel.Candidates(o.problem, problem.Machine{FastBytes: limit, Parallel: max(1, o.device.Parallel)}) {
		programs, err := o.kernel.Build(o.problem, o.variant, b)
		if err != nil {
			return err
		}
		c, err := model.Count(programs)
		if errors.Is(err, model.ErrUncountable) && o.programs == nil {
			o.blocks, o.programs = b, programs
			return nil
		}
		if err != nil {
			return err
		}
		fits, bestFits := c.FastBytes <= limit || limit == 0, best.FastBytes <= limit || limit == 0
		better := fits && (!bestFits || c.BytesMoved < best.BytesMoved) || !fits && !bestFits && c.FastBytes < best.FastBytes
		if o.programs == nil || better {
			o.blocks, o.programs, best = b, programs, c
		}
	}
	return nil
}

// title says what is shown.
func (o *options) title() string {
	if o.kernel == nil {
		return o.name
	}
	return words.Joined(" ", o.name, o.variant, problem.Title(o.problem)+", blocks", o.blocks.String())
}
