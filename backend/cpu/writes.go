package cpu

import (
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/probe"
	"matladder/tile"
)

// writes finds the outputs that a product writes once and rounds as it does, and
// those so large that the second-level cache would not hold them until they are
// needed.
func writes(p *plan) error {
	allSteps(p.steps, func(s *step) {
		if s.factor = p.rescaling(s); s.factor != nil {
			s.direct = true
		}
		if len(s.dots) != 1 || !p.writtenOnce(&p.refs[s.dst]) {
			return
		}
		r, d := &p.refs[s.dst], s.dots[0]
		if p.narrows(s) {
			s.direct, d.narrow = true, true
		} else if d.scales = p.scales(s); d.scales != nil {
			s.direct = true
		}
		aligned := d.narrow || d.scales != nil || d.product.streams(r.ld) && d.product.streams(r.cols) // rows of every block
		if !aligned || !s.direct || p.machine.layout.Unaligned {
			return
		}
		switch choice := p.machine.choices.writeC; {
		case choice == writeNonTemporal, choice == writeByRule && r.ArrayBytes() > int64(probe.Host().L2):
			d.write = gemm.WriteNonTemporal
		case choice == writeCopied && !d.narrow && d.scales == nil: // those are in any case
			d.write = gemm.WriteCopied
		}
	})
	return nil
}

// narrows reports whether step s, which writes an output once, is a product that
// tiles can round to bfloat16 as they write it.
func (p *plan) narrows(s *step) bool {
	dst, d, v := &p.refs[s.dst], s.dots[0], s.stmt.Value
	if s.stmt.Kind == tile.Store && v.Op == tile.OpCast && v.Dtype == tile.BFloat16 {
		v = v.Args[0]
	}
	switch {
	case s.stmt.IsPart() || dst.Dtype != tile.BFloat16 || v != d.expr || v.Dtype != tile.Float32 || d.product.narrow == nil:
		return false
	case s.stmt.Kind == tile.Accumulate && (s.zeroed == nil || !always(s.zeroed)):
		return false
	}
	return p.whole(s)
}

// whole reports whether step s computes whole panels of a product, over all of k at
// once.
func (p *plan) whole(s *step) bool {
	dst, d := &p.refs[s.dst], s.dots[0]
	a, b := p.operands[d.a], p.operands[d.b]
	const whole = 32 // rows and columns of a panel, and elements of a cache line
	for _, r := range []*ref{dst, &p.refs[a.ref], &p.refs[b.ref]} {
		if r.Kind == tile.Scratch {
			if r.rows%whole != 0 || r.cols%whole != 0 {
				return false
			}
			continue
		}
		for i, n := range r.Array {
			if size := r.BlockSize(i); n%size != 0 || size%whole != 0 && size > 1 {
				return false
			}
		}
	}
	return a.depth >= a.k && b.depth >= b.k && d.k0 == 0 && d.k1 >= a.k && dst.ld%whole == 0
}

// writtenOnce reports whether r is an output each of whose blocks is seen by one
// program only.
func (p *plan) writtenOnce(r *ref) bool {
	if r.Kind != tile.Out || !tile.TableFree(r.Index...) {
		return false
	}
	for _, a := range p.program.Grid {
		if a.Size > 1 && !r.dependsOn(a) {
			return false
		}
	}
	return true
}

func (p *plan) tellWrites() []string {
	var lines []string
	asked := p.machine.choices.writeC != writeByRule
	p.eachDot(func(s shownStep, d *dot) {
		if d.narrow {
			lines = append(lines, s.name+" rounded to bfloat16 by the micro-kernel, as it writes it")
		}
		if d.scales != nil {
			lines = append(lines, s.name+" scaled by the micro-kernel, as it writes it")
		}
		switch {
		case d.write == gemm.WriteNonTemporal && asked:
			lines = append(lines, s.name+" written by non-temporal stores: asked for")
		case d.write == gemm.WriteNonTemporal:
			lines = append(lines, s.name+" written by non-temporal stores: L2 would not hold it, and no program reads it")
		case d.write == gemm.WriteCopied:
			lines = append(lines, s.name+" copied from sums whose rows follow each other, beside the next products: asked for")
		}
	})
	return or(lines, "no output is written by non-temporal stores")
}
