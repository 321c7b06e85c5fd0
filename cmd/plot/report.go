package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"matladder/kernels"
	"matladder/plots"
	"matladder/plots/report"
	"matladder/problem"
	"matladder/results"
	"matladder/tile"
	"matladder/traverse"
)

// writeReport writes the page of the points asked for, with the rows of their
// files that are of the same kernels and dtypes, and prints its path.
func (o *options) writeReport(stdout io.Writer, points []results.Summary, rows []results.Record) error {
	list, err := o.summaries(points)
	if err != nil {
		return err
	}
	type point struct {
		file string
		key  results.PointKey
	}
	asked := map[point]bool{}
	for i := range list {
		asked[point{list[i].Pos.File, list[i].Point()}] = true
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r results.Record) bool {
		return !asked[point{r.Pos.File, r.Point()}]
	})
	list = slices.DeleteFunc(list, func(s results.Summary) bool { return s.Interpreted() })
	if len(list) == 0 {
		return errInterpreted
	}
	traversals, err := record(list)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Write(&page, report.Input{Summaries: list, Rows: rows, Traversals: traversals}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(o.html), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for the report: %w", err)
	}
	if err := plots.Replace(o.html, page.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, o.html)
	return err
}

const (
	shownSteps  = 600     // of a traversal, in the player
	walkedSteps = 1 << 22 // of a traversal, for its totals: a second at most
)

// record follows the kernels of one problem through their grids, each with the
// blocks it did best with. The problem is the largest of which the player can
// show every step of every kernel that has it, else the smallest.
func record(list []results.Summary) ([]*traverse.Recording, error) {
	type launch struct {
		point    *results.Summary
		problem  problem.Matmul
		programs []*tile.Program
		steps    int64
	}
	var order []problem.Matmul
	launches := map[problem.Matmul][]launch{}
	best := results.Best(list)
	for i := range best {
		p, programs, err := rebuild(&best[i])
		if err != nil {
			continue // the row is of another version, or of no kernel of ours
		}
		l := launch{point: &best[i], problem: p, programs: programs}
		for _, program := range programs {
			l.steps += program.Steps()
		}
		if l.steps > walkedSteps || slices.ContainsFunc(launches[p], func(o launch) bool { return o.point.Kernel == best[i].Kernel }) {
			continue
		}
		if launches[p] == nil {
			order = append(order, p)
		}
		launches[p] = append(launches[p], l)
	}
	if len(order) == 0 {
		return nil, nil
	}
	most := func(p problem.Matmul) int64 {
		return slices.MaxFunc(launches[p], func(a, b launch) int { return cmp.Compare(a.steps, b.steps) }).steps
	}
	chosen := slices.MaxFunc(order, func(a, b problem.Matmul) int {
		aFits, bFits := most(a) <= shownSteps, most(b) <= shownSteps
		switch {
		case aFits && bFits:
			return cmp.Or(cmp.Compare(len(launches[a]), len(launches[b])), cmp.Compare(a.FLOPs(), b.FLOPs()))
		case !aFits && !bFits:
			return cmp.Compare(b.FLOPs(), a.FLOPs())
		case aFits:
			return 1
		}
		return -1
	})
	slices.SortFunc(launches[chosen], func(a, b launch) int {
		return results.CompareKernels(a.point.Kernel, b.point.Kernel)
	})
	var recordings []*traverse.Recording
	for _, l := range launches[chosen] {
		title := fmt.Sprintf("%s %s, blocks %s", l.point.Kernel, l.problem, l.point.Blocks())
		r, err := traverse.Record(context.Background(), title, l.programs, nil, shownSteps)
		if err != nil {
			continue // an index map that looks up a table the row does not hold
		}
		recordings = append(recordings, r)
	}
	return recordings, nil
}

var errNoProgram = errors.New("not a kernel with blocks")

// rebuild makes the programs of a point again.
func rebuild(s *results.Summary) (problem.Matmul, []*tile.Program, error) {
	none := problem.Matmul{}
	at := slices.IndexFunc(kernels.All, func(k kernels.Kernel) bool { return k.Name() == s.Kernel })
	if at < 0 || s.BM == 0 {
		return none, nil, errNoProgram
	}
	a, err := tile.ParseDtype(s.DtypeA)
	if err != nil {
		return none, nil, err
	}
	p := problem.New(s.M, s.K, s.N, a)
	p.Batch, p.Quant = s.Batch, problem.Quant(s.Quant)
	for _, d := range []struct {
		dtype *tile.Dtype
		text  string
	}{{&p.B, s.DtypeB}, {&p.Acc, s.DtypeAcc}, {&p.Out, s.DtypeOut}} {
		if d.text == "" {
			continue
		}
		if *d.dtype, err = tile.ParseDtype(d.text); err != nil {
			return none, nil, err
		}
	}
	epilogue, err := problem.ParseEpilogue(s.Activation)
	if err != nil {
		return none, nil, err
	}
	p = epilogue.Apply(p)
	if err := p.Validate(); err != nil {
		return none, nil, err
	}
	if err := kernels.All[at].Supports(p); err != nil {
		return none, nil, err
	}
	programs, err := kernels.All[at].Build(p, s.Variant, tile.Blocks{M: s.BM, K: s.BK, N: s.BN}.Clip(p.M, p.K, p.N))
	return p, programs, err
}
