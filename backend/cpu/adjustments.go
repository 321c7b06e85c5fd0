package cpu

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/exec"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

var _ backend.Adjuster = (*Backend)(nil)

// Adjustments lists choices that make another plan of the programs. Those that would
// read b over and over for many rows of a are left out.
func (b *Backend) Adjustments(ctx context.Context, programs []*tile.Program, params backend.Params) ([]backend.Params, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{made(e): true}
	var list []backend.Params
	for _, o := range others(e) {
		with := params
		with.Extra = maps.Clone(params.Extra)
		if with.Extra == nil {
			with.Extra = map[string]string{}
		}
		with.Extra[o.key] = o.value
		x, err := b.compile(ctx, programs, with)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		if made := made(x); !seen[made] {
			seen[made] = true
			list = append(list, with)
		}
	}
	return list, nil
}

type keyValue struct{ key, value string }

// others are choices that may make another plan than this.
func others(e *exec.Executable) []keyValue {
	var list []keyValue
	add := func(key, value string) {
		if o := (keyValue{key, value}); !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	for _, p := range e.Plans {
		p.EachDot(func(s plan.ShownStep, d *plan.Dot) {
			a, b, c := p.Operands[d.A], p.Operands[d.B], p.CallOf(s.Step, d)
			for _, s := range plan.Strategies {
				if tile.Ceil(b.Meets, b.K) <= s.Most {
					add(paramB, s.Word)
				}
			}
			for _, way := range waysOfA {
				add(paramA, way)
			}
			if a.Packing.Words > 1 {
				for _, way := range waysOfC {
					add(paramC, way)
				}
			}
			for _, run := range []int{tile.Ceil(c.Run, 2), 2 * c.Run} {
				if run >= minRun && run <= a.Depth {
					add(paramRun, strconv.Itoa(run))
				}
			}
			if kib := c.MC * c.Run * a.Packing.Words * 4 / a.Packing.Unit >> 10; c.MC > a.Packing.Lanes && kib > 1 {
				add(paramPieceA, strconv.Itoa(kib/2))
				add(paramPieceA, strconv.Itoa(2*kib))
			}
		})
	}
	return list
}

// minRun is the shortest run over k that is worth a look.
const minRun = 64

// made tells what choices have made of the programs: equal texts, the same code.
func made(e *exec.Executable) string {
	var s strings.Builder
	for _, p := range e.Plans {
		p.EachDot(func(st plan.ShownStep, d *plan.Dot) {
			c := p.CallOf(st.Step, d)
			fmt.Fprintln(&s, d.Product.Name, d.A, d.B, d.K0, d.K1, d.Scales != nil, d.Write, c.Depth, c.Read, c.Run, c.MC, c.NC)
		})
		for _, o := range p.Operands {
			fmt.Fprintln(&s, o.Keep, o.Packing.Format, o.Packing.Lanes, o.Depth, o.Piece, o.Slots, o.Packing.InPlace)
		}
	}
	return s.String()
}
