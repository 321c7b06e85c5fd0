package cpu

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matladder/backend"
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
	seen := map[string]bool{e.made(): true}
	var list []backend.Params
	for _, o := range e.others() {
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
		if made := x.made(); !seen[made] {
			seen[made] = true
			list = append(list, with)
		}
	}
	return list, nil
}

type keyValue struct{ key, value string }

// others are choices that may make another plan than this.
func (e *executable) others() []keyValue {
	var list []keyValue
	add := func(key, value string) {
		if o := (keyValue{key, value}); !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	for _, p := range e.plans {
		p.eachDot(func(s shownStep, d *dot) {
			a, b, c := p.operands[d.a], p.operands[d.b], p.callOf(s.step, d)
			for _, s := range strategies {
				if ceil(b.meets, b.k) <= s.most {
					add(paramB, s.word)
				}
			}
			for _, way := range waysOfA {
				add(paramA, way)
			}
			if a.packing.words > 1 {
				for _, way := range waysOfC {
					add(paramC, way)
				}
			}
			for _, run := range []int{ceil(c.run, 2), 2 * c.run} {
				if run >= minRun && run <= a.depth {
					add(paramRun, strconv.Itoa(run))
				}
			}
			if kib := c.mc * c.run * a.packing.words * 4 / a.packing.unit >> 10; c.mc > a.packing.lanes && kib > 1 {
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
func (e *executable) made() string {
	var s strings.Builder
	for _, p := range e.plans {
		p.eachDot(func(st shownStep, d *dot) {
			c := p.callOf(st.step, d)
			fmt.Fprintln(&s, d.product.name, d.a, d.b, d.k0, d.k1, d.narrow, d.scales != nil, d.write, c.depth, c.read, c.run, c.mc, c.nc)
		})
		for _, o := range p.operands {
			fmt.Fprintln(&s, o.keep, o.packing.format, o.packing.lanes, o.depth, o.piece, o.slots, o.packing.inPlace)
		}
	}
	return s.String()
}
