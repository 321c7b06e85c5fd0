package main

import (
	"context"
	"fmt"

	"matladder/kernels"
	"matladder/model/traverse"
	"matladder/problem"
	"matladder/tile"
)

// ideas are what each rung adds, as the README has it.
var ideas = []string{
	"whole arrays, one program",
	"panels, in parallel",
	"cut K too, in blocks",
	"the right blocks",
	"a wide sum, cast once",
}

// maxFrames is how many frames a scene has. Of a longer walk it shows the first steps one by one,
// and then ever more at once.
const maxFrames = 32

// A scene is one rung: its arrays A, B and C, and what its walk over them does.
type scene struct {
	blocks   string
	arrays   [3]array
	counters []counter // by frame
}

// A counter is what has been done by a frame.
type counter struct {
	step, steps int64
	moved       string
}

// An array is cut into rows × columns of cells; states has one for each frame and cell.
type array struct {
	size, block [2]int
	rows, cols  int
	states      [][]state // by cell
}

// A state is how a cell looks.
type state byte

const (
	untouched state = iota
	once            // moved before, now elsewhere
	twice
	often
	kept // current, in fast memory already
	now  // current, just moved
)

func scenes(ctx context.Context, l ladder) (list []scene, err error) {
	for _, s := range l.rungs {
		kernel, err := kernels.Find(s.Kernel)
		if err != nil {
			return nil, err
		}
		dtype, err := tile.ParseDtype(s.DtypeA)
		if err != nil {
			return nil, err
		}
		blocks := tile.Blocks{M: s.BM, K: s.BK, N: s.BN}
		programs, err := kernel.Build(problem.New(s.M, s.K, s.N, dtype), s.Variant, blocks)
		if err != nil {
			return nil, err
		}
		r, err := traverse.Record(ctx, s.Kernel, programs, nil, 1<<20)
		if err != nil {
			return nil, err
		}
		if len(r.Programs) != 1 || len(r.Programs[0].Refs) != 3 {
			return nil, fmt.Errorf("%s is no one program on A, B and C", s.Kernel)
		}
		list = append(list, newScene(r, s.Blocks()))
	}
	return list, nil
}

func newScene(r *traverse.Recording, blocks string) scene {
	sc := scene{blocks: blocks}
	moves := make([]map[[2]int]int, 3)
	for i, ref := range r.Programs[0].Refs {
		a := &sc.arrays[i]
		a.size, a.block = [2]int(ref.Array), [2]int(ref.Block)
		a.rows, a.cols = (a.size[0]+a.block[0]-1)/a.block[0], (a.size[1]+a.block[1]-1)/a.block[1]
		a.states = make([][]state, a.rows*a.cols)
		moves[i] = map[[2]int]int{}
	}
	n := min(len(r.Steps), maxFrames)
	next := 0
	for frame := range n {
		moved := [3]bool{} // since the last frame
		for last := max(frame+1, len(r.Steps)*(frame+1)*(frame+1)/(n*n)); next < last; next++ {
			for i := range moved {
				if r.Steps[next].Moves[i] > 0 {
					moves[i][[2]int(r.Steps[next].Blocks[i])]++
					moved[i] = true
				}
			}
		}
		s := r.Steps[next-1]
		for i := range sc.arrays {
			a := &sc.arrays[i]
			for cell := range a.states {
				at := [2]int{cell / a.cols, cell % a.cols}
				look := min(state(moves[i][at]), often)
				if at == [2]int(s.Blocks[i]) {
					if look = kept; moved[i] && s.Moves[i] > 0 {
						look = now
					}
				}
				a.states[cell] = append(a.states[cell], look)
			}
		}
		sc.counters = append(sc.counters, counter{s.Counters.GridSteps, r.Totals.GridSteps, traverse.Bytes(s.Counters.BytesMoved)})
	}
	return sc
}
