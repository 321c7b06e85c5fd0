package matladder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"matladder/harness/tuned"
	"matladder/kernels"
	"matladder/model/blocking"
	"matladder/problem"
	"matladder/tile"
)

// Options are for Compile. The zero value has the most advanced kernel of the problem's
// ladder run on all cores of this machine.
type Options struct {
	// Backend is where programs run: cpu if empty. Others (gpu, tpu, xla-cpu) are there in a
	// program whose main begins with Hook of package backend/registry/builtin.
	Backend string

	// Kernel is a rung of the problem's ladder, as commands spell it: 4, v4, v4_optblock. If
	// empty, it is the last that supports the problem.
	Kernel string

	// Variant is one of the kernel's.
	Variant string

	// Blocks is the block shape. The zero value is that of the table of this machine's tuned
	// ones, if matladder has one, or else the kernel's own first choice: bench's too. For
	// that the machine is measured once, for half a second; a file in the user's cache
	// directory keeps the figures.
	Blocks tile.Blocks

	// Threads run a launch; 0 is one for each core.
	Threads int

	// Params are the backend's, as --param of bench takes them.
	Params map[string]string

	// InPlace names outputs that may be the memory of an input: {"o": "c"}. It is an error
	// where a program reads the input when its place may be written already.
	InPlace map[string]string
}

// Compile makes a program of a kernel for a problem: package problem has the families. The
// error is an *OptionError, a *TooBigError, one that wraps ErrUnsupported and says what is,
// or that of a problem which makes no sense.
func Compile(ctx context.Context, p problem.Problem, o Options) (compiled *Program, err error) {
	defer caught("compile", &err)
	k, err := choose("compile", p, o.Kernel)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(k.Variants(p), o.Variant) {
		return nil, badOption("Variant", "%s has no variant %q (known: %q)", k.Name(), o.Variant, k.Variants(p))
	}
	d, err := openDevice(ctx, o)
	if err != nil {
		return nil, err
	}
	c, err := d.build(p, k, o)
	if err == nil {
		compiled, err = newProgram(ctx, d, c, o)
	}
	if err != nil {
		return nil, errors.Join(err, d.release())
	}
	return compiled, nil
}

// Blocks is the block shape that Compile would take for a problem: for tile programs of
// one's own that compute something like it.
func Blocks(ctx context.Context, p problem.Problem, o Options) (b tile.Blocks, err error) {
	defer caught("blocks", &err)
	k, err := choose("blocks", p, o.Kernel)
	if err != nil {
		return b, err
	}
	d, err := openDevice(ctx, o)
	if err != nil {
		return b, err
	}
	c, err := d.build(p, k, o)
	return c.blocks, errors.Join(err, d.release())
}

// CompileTile makes a program of tile programs, which run in order in each launch. They are
// those of Builder.Programs, tile.ReadPrograms, or a kernel's Build.
func CompileTile(ctx context.Context, programs []*tile.Program, o Options) (compiled *Program, err error) {
	defer caught("compile", &err)
	switch {
	case len(programs) == 0 || slices.Contains(programs, nil):
		return nil, errors.New("matladder: compile: no programs, or a nil among them")
	case o.Kernel != "" || o.Variant != "" || o.Blocks != (tile.Blocks{}):
		return nil, badOption("Kernel, Variant, Blocks", "is of problems: a tile program has chosen")
	}
	for _, p := range programs {
		if err := p.Verify(); err != nil {
			return nil, fmt.Errorf("matladder: %w", err)
		}
	}
	d, err := openDevice(ctx, o)
	if err != nil {
		return nil, err
	}
	if compiled, err = newProgram(ctx, d, chosen{programs: programs}, o); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return compiled, nil
}

// choose finds the kernel that a call of a name is to have for a problem.
func choose(call string, p problem.Problem, name string) (kernels.Kernel, error) {
	if p == nil {
		return nil, fmt.Errorf("matladder: %s: no problem", call)
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("matladder: %w", err)
	}
	if name != "" {
		k, err := kernels.FindIn(p.Family(), strings.TrimPrefix(name, p.Family().Name+"/"))
		if err != nil {
			return nil, &OptionError{"Kernel", err}
		}
		if err := k.Supports(p); err != nil {
			return nil, fmt.Errorf("matladder: %s: %w: %w", k.Name(), ErrUnsupported, err)
		}
		return k, nil
	}
	var why error
	for _, k := range slices.Backward(kernels.Ladder(p.Family())) {
		err := k.Supports(p)
		if err == nil {
			return k, nil
		}
		why = errors.Join(why, fmt.Errorf("%s: %w", k.Name(), err))
	}
	return nil, fmt.Errorf("matladder: %s: %w by any kernel: %w", problem.Title(p), ErrUnsupported, why)
}

// chosen is what is to be compiled.
type chosen struct {
	programs []*tile.Program
	kernel   string
	blocks   tile.Blocks
	tuned    map[string]string // parameters that were tuned with the blocks
	tabled   problem.Tabled    // the problem, if it has tables; nil otherwise

	packed []*tile.Program // with blocks for a b that is packed beforehand; nil for the same
}

// build writes the kernel with the blocks that o asks for, or the best known.
func (d *device) build(p problem.Problem, k kernels.Kernel, o Options) (c chosen, err error) {
	c = chosen{kernel: k.Name(), blocks: o.Blocks}
	c.tabled, _ = p.(problem.Tabled)
	switch {
	case c.blocks != (tile.Blocks{}):
		sides := []int{c.blocks.M, c.blocks.K, c.blocks.N}
		for i, side := range p.Sides() {
			if sides[i] < 1 {
				return c, badOption("Blocks", "%s: %s = %d: want at least 1 (blocks of %s are %s)", c.blocks, side.Name, sides[i], p.Family().Name, p.Family().BlockForm())
			}
		}
		c.blocks = problem.Clip(p, c.blocks)
	default:
		table, err := d.tuned()
		if err != nil {
			return c, fmt.Errorf("matladder: %w", err)
		}
		if table != nil && kernels.ChoosesBlocks(k) {
			if answer, ok := table.Lookup(tuned.KeyOf(k.Name(), o.Variant, p)); ok {
				params, err := answer.AddTo(d.with(o, nil))
				if err != nil {
					return c, fmt.Errorf("matladder: %w", err)
				}
				c.blocks, c.tuned = answer.Blocks, maps.Clone(params.Extra)
				break
			}
		}
		list := k.Candidates(p, d.machine())
		if len(list) == 0 {
			return c, fmt.Errorf("matladder: %s proposes no blocks for %s: %w", k.Name(), problem.Title(p), ErrUnsupported)
		}
		c.blocks = list[0]
		if c.packed, err = d.packed(p, k, o); err != nil {
			return c, err
		}
	}
	if c.programs, err = k.Build(p, o.Variant, c.blocks); err != nil {
		return c, fmt.Errorf("matladder: %s: %w", k.Name(), err)
	}
	return c, nil
}

// packed writes the kernel with the blocks that are best where b is packed beforehand; nil
// where the backend packs nothing, or an output may be the memory of an input, of which the
// blocks decide.
func (d *device) packed(p problem.Problem, k kernels.Kernel, o Options) ([]*tile.Program, error) {
	if _, ok := p.(problem.Matmul); !ok || d.calls() == nil || len(o.InPlace) > 0 {
		return nil, nil
	}
	list := k.Candidates(p, blocking.Of(d.backend.Device(), blocking.Setup{PackedB: true}).Machine)
	if len(list) == 0 {
		return nil, nil
	}
	programs, err := k.Build(p, o.Variant, list[0])
	if err != nil {
		return nil, fmt.Errorf("matladder: %s: %w", k.Name(), err)
	}
	return programs, nil
}
