package cpu

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

func (p *plan) tellLayout() []string {
	var lines []string
	p.eachDot(func(_ shownStep, d *dot) {
		a, b := p.operands[d.a], p.operands[d.b]
		line := fmt.Sprintf("%s·%s: %s, sums %s", p.refs[a.ref].Name, p.refs[b.ref].Name, d.product.name, d.product.sum)
		if others := p.otherPaths(d); len(others) > 0 {
			line += "; rather than " + strings.Join(others, ", ")
		}
		lines = appendNew(lines, line)
	})
	var cells []string
	for i, o := range p.operands {
		name := p.nameOf(o)
		switch widened, reads := o.packing.widening != nil, p.readsOf(i); {
		case o.keep != keepUnpacked:
			cells = append(cells, fmt.Sprintf("%s\t%s\t%s\tchunks of %d of k, a block %s", name, o.panels(), p.words(o), o.depth, kib(int64(o.block))))
		case o.packing.inPlace && slices.Contains(reads, gemm.ReadPieces):
			cells = append(cells, name+"\tas in memory"+p.tellPieces(i))
		case o.packing.inPlace:
			cells = append(cells, fmt.Sprintf("%s\tas in memory, widened to %s by the micro-kernel", name, multiplied(p.factorOf(i))))
		case widened:
			cells = append(cells, fmt.Sprintf("%s\tas in memory, %d columns × %d of k at a time widened to %s%s", name, o.piece, o.depth, multiplied(p.factorOf(i)), p.tellPieces(i)))
		default:
			cells = append(cells, name+"\tas in memory"+p.tellPieces(i))
		}
	}
	if lines == nil {
		return []string{"no product"}
	}
	return append(lines, aligned(cells)...)
}

// otherPaths are those for the dtypes of a product that it does not take.
func (p *plan) otherPaths(d *dot) []string {
	a, b := multiplied(d.expr.Args[0].Dtype), multiplied(d.expr.Args[1].Dtype)
	if a != b {
		return nil
	}
	k := p.machine.kernels
	var names []string
	switch a {
	case tile.BFloat16:
		names = slices.Concat(named(k.WideBFloat16), named(k.PairsBFloat16), named(k.TilesBFloat16))
	case tile.Int8:
		names = slices.Concat(named(k.WideInt8), named(k.ThinInt8), named(k.Int8), named(k.TilesInt8))
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == d.product.name })
}

func named[S gemm.Source, C gemm.Sum](p *gemm.Path[S, C]) []string {
	if p == nil {
		return nil
	}
	return []string{p.Name}
}

// factorOf is the dtype that operand i has in products.
func (p *plan) factorOf(i int) (d tile.Dtype) {
	allSteps(p.steps, func(s *step) {
		for _, x := range s.dots {
			switch i {
			case x.a:
				d = x.expr.Args[0].Dtype
			case x.b:
				d = x.expr.Args[1].Dtype
			}
		}
	})
	return d
}

// nameOf is the ref's, with the side that it is on where that is named otherwise.
func (p *plan) nameOf(o *operand) string {
	side := "a"
	if o.isB {
		side = "b"
	}
	if name := p.refs[o.ref].Name; name != side {
		return name + " as " + side
	}
	return side
}

func (o *operand) panels() string {
	lanes := "rows"
	if o.isB {
		lanes = "columns"
	}
	s := fmt.Sprintf("panels of %d %s", o.packing.lanes, lanes)
	if o.columns != o.isB {
		s += " of its transpose"
	}
	return s
}

// tellPieces says what is packed of a b one piece at a time.
func (p *plan) tellPieces(i int) string {
	if !slices.Contains(p.readsOf(i), gemm.ReadPieces) {
		return ""
	}
	o := p.operands[i]
	return fmt.Sprintf(", pieces of it in %s, %s", o.panels(), p.words(o))
}

// words says what a panel holds.
func (p *plan) words(o *operand) string {
	s, _, _ := strings.Cut(o.packing.format, "/") // behind it: the side, and what it was before it was widened
	switch format, in := s, o.packing.unit/o.packing.words; {
	case o.packing.words > 1 && !o.isB:
		s += fmt.Sprintf(", %d of k in a row of an AMX tile", o.packing.unit)
	case o.packing.words > 1:
		s += fmt.Sprintf(", %d of k in a column of an AMX tile", o.packing.unit)
	case in == 2:
		s += ", pairs of k"
	case in == 4:
		s = format + ", quads of k"
	}
	if from := p.refs[o.ref].Dtype.String(); !strings.HasPrefix(o.packing.format, from) {
		s += ", from " + from
	}
	return s
}
