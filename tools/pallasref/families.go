package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/backend/xla/aot/schedule"
	"matladder/kernels"
	"matladder/lower/mosaic"
	"matladder/problem"
	"matladder/tile"
)

// FamilyPoint is a kernel of another family beside one of JAX's library or of tokamax, on
// equal blocks.
type FamilyPoint struct {
	Library  string // of libraries
	Topology string
	Causal   bool
	Sizes    []int // as library.py takes them
	Blocks   tile.Blocks
	Asked    map[string]any // of the script besides; nil for its defaults
	Scaled   bool           // our kernel multiplies scores although the library's caller scales q
}

// FamilyMatrix lists what is compared, in the order of the table.
func FamilyMatrix() []FamilyPoint {
	var all []FamilyPoint
	for _, generation := range generations {
		add := func(library string, causal bool, sizes []int, blocks ...tile.Blocks) {
			for _, b := range blocks {
				all = append(all, FamilyPoint{Library: library, Topology: generation, Causal: causal, Sizes: sizes, Blocks: b})
			}
		}
		square := func(n, piece int) tile.Blocks { return tile.Blocks{M: n, K: n, N: piece} }
		for _, dim := range []int{64, 128} {
			add("flash", false, []int{8192, dim}, square(512, 512), square(1024, 512), square(1024, 1024), square(2048, 512))
		}
		add("flash", false, []int{8192, 256}, square(1024, 512))
		add("flash", true, []int{8192, 128}, square(512, 512), square(1024, 512))
		add("splash", false, []int{8192, 128}, square(1024, 512), square(2048, 512))
		add("splash", true, []int{8192, 128}, square(1024, 512))
		add("gmm", false, []int{8192, 4096, 4096, 8}, square(512, 512), tile.Blocks{M: 512, K: 1024, N: 1024}, tile.Blocks{M: 1024, K: 512, N: 1024})
		add("gmm", false, []int{8192, 2048, 768, 8}, tile.Blocks{M: 256, K: 2048, N: 768})
		add("tokamax_splash", false, []int{8192, 64}, square(1024, 512))
		add("tokamax_splash", false, []int{8192, 128}, square(512, 512), square(1024, 512), square(2048, 512))
		add("tokamax_splash", false, []int{8192, 256}, square(1024, 512))
		add("tokamax_splash", true, []int{8192, 128}, square(1024, 512))
		add("tokamax_gmm", false, []int{8192, 4096, 4096, 8}, square(512, 512), tile.Blocks{M: 512, K: 1024, N: 1024}, tile.Blocks{M: 1024, K: 512, N: 1024})
		add("tokamax_gmm", false, []int{8192, 2048, 768, 8}, tile.Blocks{M: 256, K: 2048, N: 768})
	}
	return all
}

// libraries are what kernels are compared with, in the order of the summary.
var libraries = []kernelNames{
	{"flash", "flash_attention"}, {"splash", "splash_m"}, {"gmm", "gmm"},
	{tokamax + "splash", "splash_m"}, {tokamax + "gmm", ownPipeline},
}

// ownPipeline is tokamax' grouped product, which has Pallas write its pipeline into the kernel.
const ownPipeline = "gmm_megablox"

// kernelNames are a kernel's for the script that compiles it, and the beginning of its
// schedule's.
type kernelNames struct{ name, schedule string }

// tokamax begins the names of tokamax' kernels.
const tokamax = "tokamax_"

// Key tells points apart.
func (p FamilyPoint) Key() string {
	words := []string{p.Topology, p.Library, p.words(), p.size(), p.Blocks.String()}
	return strings.Join(words, " ")
}

func (p FamilyPoint) words() string {
	if p.Causal {
		return "bfloat16:causal"
	}
	return "bfloat16"
}

func (p FamilyPoint) size() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Sizes), "[]"), " ", "x")
}

// kernel is the rung that does the same: of attention the first that skips blocks where
// some are hidden.
func (p FamilyPoint) kernel() string {
	switch {
	case p.grouped():
		return "grouped/v2_visits"
	case p.Causal:
		return "attention/v4_skip"
	}
	return "attention/v3_flash"
}

func (p FamilyPoint) grouped() bool { return strings.TrimPrefix(p.Library, tokamax) == "gmm" }

func (p FamilyPoint) program() (*tile.Program, error) {
	family, name, _ := strings.Cut(p.kernel(), "/")
	f, err := problem.Find(family)
	if err != nil {
		return nil, err
	}
	asked, err := f.Parse(p.words())
	if err != nil {
		return nil, err
	}
	var sizes problem.Sizes
	copy(sizes[:], p.Sizes)
	if family == "attention" {
		sizes = problem.Sizes{p.Sizes[0], p.Sizes[0], heads, 1, p.Sizes[1], 1}
	}
	i := slices.IndexFunc(kernels.Ladder(f), func(k kernels.Kernel) bool { return k.Name() == name })
	made := f.Make(sizes, asked)
	if a, is := made.(problem.Attention); is && p.Library == tokamax+"splash" && !p.Scaled {
		a.Scale = math.Ln2 // q comes multiplied, by log₂e too: no score is
		made = a
	}
	programs, err := kernels.Ladder(f)[i].Build(made, "", p.Blocks)
	if err != nil {
		return nil, err
	}
	return programs[0], nil
}

// heads is how many library.py has.
const heads = 2

// shares are the parts of the steps that compute in which the regions of a schedule run,
// ours and the library's: the first block of a row or of k, blocks that a mask cuts, the
// last. Steps that compute nothing are left out.
func (p FamilyPoint) shares(program *tile.Program) (ours, theirs []float64) {
	n := p.Sizes[0] / p.Blocks.K // of a row, or of k
	if p.grouped() {
		edge := float64(p.Blocks.K) / float64(p.Sizes[1])
		return mosaic.Conditional(program.Body, []float64{edge, edge}), []float64{edge, edge, 1 - edge}
	}
	edge := 1 / float64(n)
	if !p.Causal {
		ours, theirs = []float64{edge, edge}, []float64{edge, edge}
		if p.Library == "splash" {
			theirs = []float64{edge, 1, edge}
		}
		return ours, theirs
	}
	row := 2 / float64(n+1) // of the steps that compute, one in a row of blocks
	ours, theirs = []float64{row, 1 - row, row, row}, []float64{row, 1, row}
	if p.Library == tokamax+"splash" {
		theirs = ours // as it has plain and cut blocks apart too
	}
	return ours, theirs
}

// CompareFamily compiles a point on both sides. An error says that it could not be asked.
func (c *Comparer) CompareFamily(ctx context.Context, p FamilyPoint) (ours, theirs Result, err error) {
	if ours, err = c.FamilyOurs(ctx, p); err != nil {
		return ours, theirs, err
	}
	theirs, err = c.familyTheirs(ctx, p)
	return ours, theirs, err
}

// FamilyOurs compiles our side of a point.
func (c *Comparer) FamilyOurs(ctx context.Context, p FamilyPoint) (Result, error) {
	program, err := p.program()
	if err != nil {
		return Result{}, err
	}
	shares, _ := p.shares(program)
	defer empty(c.oursDump)
	_, err = c.ours.CompileKernels(ctx, p.Topology, []*tile.Program{program}, backend.Params{})
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	r := resultOf(err)
	if err == nil {
		r.Cycles, r.Reason = steady(c.oursDump, program.Name, shares)
	}
	return r, nil
}

func (c *Comparer) familyTheirs(ctx context.Context, p FamilyPoint) (theirs Result, err error) {
	program, err := p.program()
	if err != nil {
		return theirs, err
	}
	_, shares := p.shares(program)
	topology, err := libtpuName(p.Topology)
	if err != nil {
		return theirs, err
	}
	with := &c.pallas
	if strings.HasPrefix(p.Library, tokamax) {
		with = &c.tokamax
	}
	question := map[string]any{
		"library": p.Library, "topology": topology, "dtype": "bfloat16", "sizes": p.Sizes, "causal": p.Causal,
		"blocks": []int{p.Blocks.M, p.Blocks.K, p.Blocks.N},
	}
	maps.Copy(question, p.Asked)
	err = with.ask(ctx, question)
	var setup *setupError
	switch {
	case ctx.Err() != nil:
		return theirs, ctx.Err()
	case errors.As(err, &setup):
		return theirs, err
	}
	if theirs = resultOf(err); err == nil {
		i := slices.IndexFunc(libraries, func(l kernelNames) bool { return l.name == p.Library })
		theirs.Cycles, theirs.Reason = steady(with.Dump, libraries[i].schedule, shares)
	}
	empty(with.Dump)
	return theirs, nil
}

// steady reads from a dump what a step takes of the kernel whose name begins so.
func steady(folder, prefix string, shares []float64) (float64, string) {
	dump := os.DirFS(folder)
	names, err := schedule.Kernels(dump)
	if err != nil {
		return 0, shorten(err.Error())
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	if len(names) != 1 {
		return 0, fmt.Sprintf("%d schedules of the kernel", len(names))
	}
	s, err := schedule.Read(dump, names[0])
	if err != nil {
		return 0, shorten(err.Error())
	}
	read := s.Steady
	if prefix == ownPipeline {
		read = s.SteadyLoop
	}
	n, err := read(shares...)
	if err != nil {
		return 0, shorten(err.Error())
	}
	return n, ""
}

// completeFamilies compiles what the table of families lacks and, of a kernel named again,
// our side of what it has.
func completeFamilies(ctx context.Context, python, path, again string, limit time.Duration, over func() bool, stdout io.Writer) error {
	rows, err := ReadFamilies(path)
	if err != nil {
		return err
	}
	at, err := find(versions[0])
	if err != nil {
		return err
	}
	c, err := NewComparer(python, at, limit)
	if err != nil {
		return err
	}
	c.pallas.Script, c.tokamax.Script = library, tokamaxLibrary
	defer c.Close()
	for _, p := range FamilyMatrix() {
		r, done := rows[p.Key()]
		if done && !isAgain(again, p.kernel()) {
			continue
		}
		if over() {
			break
		}
		if r.FamilyPoint = p; done {
			r.Ours, err = c.FamilyOurs(ctx, p)
		} else {
			r.Ours, r.Theirs, err = c.CompareFamily(ctx, p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Key(), err)
		}
		rows[p.Key()] = r
		if err := rows.Write(path); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s %.0f, library %s %.0f: %.4f\n", p.Key(), r.Ours.Outcome, r.Ours.Cycles, r.Theirs.Outcome, r.Theirs.Cycles, r.Ratio())
	}
	return SummarizeFamilies(rows).Print(stdout)
}
