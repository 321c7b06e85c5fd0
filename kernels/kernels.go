// Package kernels has the interface that all rungs share and the one table of them. A kernel turns
// a problem and a block shape into tile programs; it cannot see the clock, the device or the plot.
//
// To add a kernel: its folder, and its line in All. Those of one problem family are a
// ladder, numbered from 1.
package kernels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	written "matladder/kernels/attention/v1_scores"
	rowblocks "matladder/kernels/attention/v2_rows"
	flash "matladder/kernels/attention/v3_flash"
	skip "matladder/kernels/attention/v4_skip"
	split "matladder/kernels/attention/v5_split"
	all "matladder/kernels/grouped/v1_all"
	visits "matladder/kernels/grouped/v2_visits"
	starts "matladder/kernels/grouped/v3_starts"
	mlpapart "matladder/kernels/mlp/v1_apart"
	mlppair "matladder/kernels/mlp/v2_pair"
	normpasses "matladder/kernels/norm/v1_passes"
	normrows "matladder/kernels/norm/v2_rows"
	normsums "matladder/kernels/norm/v3_sums"
	wide "matladder/kernels/rope/v1_wide"
	halves "matladder/kernels/rope/v2_halves"
	passes "matladder/kernels/softmax/v1_passes"
	rows "matladder/kernels/softmax/v2_rows"
	naive "matladder/kernels/v1_naive"
	parallel "matladder/kernels/v2_parallel"
	block "matladder/kernels/v3_block"
	optblock "matladder/kernels/v4_optblock"
	quantized "matladder/kernels/v5_quant"
	mx "matladder/kernels/v6_mx"
	"matladder/problem"
	"matladder/tile"
)

// Kernel is one rung of a ladder, for any problem. Of makes one of a problem.Rung, which is
// written for the problems of one type.
type Kernel interface {
	// Family is that of the problems it computes.
	Family() *problem.Family
	// Number is the rung, from 1.
	Number() int
	// Name is that of the kernel's folder.
	Name() string
	// RequestsVMEM says that fast memory is requested where blocks need more than is granted.
	RequestsVMEM() bool
	// Supports returns why the kernel does not take p, or nil.
	Supports(p problem.Problem) error
	// Variants lists the ways the kernel computes p; the plain one, "", first.
	Variants(p problem.Problem) []string
	// Candidates proposes block shapes for a machine, clipped to the arrays, equal ones merged.
	Candidates(p problem.Problem, m problem.Machine) []tile.Blocks
	// Build writes the kernel for p as programs that run in order inside one launch; usually one.
	Build(p problem.Problem, variant string, b tile.Blocks) ([]*tile.Program, error)
}

// All are the ladders of all families, the first rung of each first.
var All = []Kernel{
	Of(naive.Kernel), Of(parallel.Kernel), Of(block.Kernel), Of(optblock.Kernel), Of(quantized.Kernel), Of(mx.Kernel),
	Of(passes.Kernel), Of(rows.Kernel),
	Of(written.Kernel), Of(rowblocks.Kernel), Of(flash.Kernel), Of(skip.Kernel), Of(split.Kernel),
	Of(normpasses.Kernel), Of(normrows.Kernel), Of(normsums.Kernel),
	Of(wide.Kernel), Of(halves.Kernel),
	Of(all.Kernel), Of(visits.Kernel), Of(starts.Kernel),
	Of(mlpapart.Kernel), Of(mlppair.Kernel),
}

// Register adds a kernel to All. It panics if its ladder has one of that number: that is a
// mistake in the program. Call it in an init function, or in a test before others begin.
func Register(k Kernel) {
	if _, ok := Rung(k.Family(), k.Number()); ok || k.Number() != len(Ladder(k.Family()))+1 {
		panic(fmt.Sprintf("kernels: %s is not the next rung of %s", k.Name(), k.Family().Name))
	}
	All = append(All, k)
}

// Ladder lists the kernels of a family, the first rung first.
func Ladder(f *problem.Family) []Kernel {
	return slices.DeleteFunc(slices.Clone(All), func(k Kernel) bool { return k.Family() != f })
}

// Rung returns a kernel by its family and number.
func Rung(f *problem.Family, number int) (k Kernel, ok bool) {
	ladder := Ladder(f)
	if number < 1 || number > len(ladder) {
		return nil, false
	}
	return ladder[number-1], true
}

// Baseline is the number and name of the vendor's own way to compute a problem, which has
// no tile program.
const (
	BaselineNumber = 0
	BaselineName   = "xla"
)

// Find returns the kernel known by its family and number or name: softmax/2,
// softmax/v2_rows. Without a family it is that of problem.Families' first.
func Find(s string) (Kernel, error) {
	name, rung, given := strings.Cut(s, "/")
	if !given {
		return FindIn(problem.Families()[0], s)
	}
	f, err := problem.Find(name)
	if err != nil {
		return nil, fmt.Errorf("kernel %q: %w", s, err)
	}
	return FindIn(f, rung)
}

// FindIn returns the kernel of a family known by its number, name, or name without the
// number: 3, v3_block, v3, block.
func FindIn(f *problem.Family, s string) (Kernel, error) {
	var known []string
	for _, k := range Ladder(f) {
		short, rest, _ := strings.Cut(k.Name(), "_")
		if s == k.Name() || s == short || s == rest || s == strconv.Itoa(k.Number()) {
			return k, nil
		}
		known = append(known, k.Name())
	}
	return nil, fmt.Errorf("unknown kernel %q (known: %s, or their numbers: those that kernels.All in kernels/kernels.go lists)", s, strings.Join(known, ", "))
}

// ChoosesBlocks reports whether a kernel's block shape is a choice: on a large problem it
// then proposes more than one, to a machine of which nothing is known. A small L2 may leave
// one of them, which may still be chosen otherwise.
func ChoosesBlocks(k Kernel) bool {
	const large = 1 << 14
	f := k.Family()
	asked, err := f.Parse(f.Dtypes[0])
	return err == nil && len(k.Candidates(f.Make(f.Equal(large), asked), problem.Machine{})) > 1
}

// Of is a rung as a Kernel: one that supports no problem of another type, and proposes and
// builds nothing for it. Kernels are equal if they are of one call.
func Of[P problem.Problem](r problem.Rung[P]) Kernel { return &of[P]{r} }

type of[P problem.Problem] struct{ rung problem.Rung[P] }

func (o *of[P]) Number() int        { return o.rung.Number }
func (o *of[P]) Name() string       { return o.rung.Name }
func (o *of[P]) RequestsVMEM() bool { return o.rung.RequestsVMEM }

func (o *of[P]) Family() *problem.Family {
	var p P
	return p.Family()
}

func (o *of[P]) Supports(p problem.Problem) error {
	typed, ok := p.(P)
	if !ok {
		return fmt.Errorf("a kernel of %s takes no problem of %s", o.Family().Name, p.Family().Name)
	}
	return o.rung.Supports(typed)
}

func (o *of[P]) Variants(p problem.Problem) []string {
	typed, ok := p.(P)
	switch {
	case !ok:
		return nil
	case o.rung.Variants == nil:
		return []string{""}
	}
	return o.rung.Variants(typed)
}

func (o *of[P]) Candidates(p problem.Problem, m problem.Machine) []tile.Blocks {
	if typed, ok := p.(P); ok {
		return o.rung.Blocks(typed, m)
	}
	return nil
}

func (o *of[P]) Build(p problem.Problem, variant string, b tile.Blocks) ([]*tile.Program, error) {
	typed, ok := p.(P)
	if !ok {
		return nil, o.Supports(p)
	}
	return o.rung.Build(typed, variant, b)
}
