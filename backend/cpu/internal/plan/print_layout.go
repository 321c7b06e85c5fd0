package plan

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/tile"
)

func (p *Plan) tellLayout(say say) {
	var products []string
	p.EachDot(func(_ ShownStep, d *Dot) {
		a, b := p.Operands[d.A], p.Operands[d.B]
		line := fmt.Sprintf("%s·%s: %s, sums %s", p.Refs[a.Ref].Name, p.Refs[b.Ref].Name, d.Product.Name, d.Product.Sum)
		if others := p.otherPaths(d); len(others) > 0 {
			line += "; rather than " + strings.Join(others, ", ")
		}
		products = each.With(products, line)
	})
	for _, line := range products {
		say("%s", line)
	}
	for i, o := range p.Operands {
		how, pieces := "as in memory", p.tellPieces(i)
		switch {
		case o.Keep != KeepUnpacked:
			how = fmt.Sprintf("%s\t%s\tchunks of %d of k, a block %s", o.panels(), p.words(o), o.Depth, KiB(int64(o.Block)))
		case o.Widened():
			how += fmt.Sprintf(", %d columns × %d of k at a time widened to %s", o.Piece, o.Depth, machine.Multiplied(o.Factor)) + p.tellScales(o)
		case o.Packing.InPlace && pieces == "":
			how += fmt.Sprintf(", widened to %s by the micro-kernel", machine.Multiplied(o.Factor)) + p.tellScales(o)
		}
		say("%s\t%s%s", p.NameOf(o), how, pieces)
	}
}

// otherPaths are those for the dtypes of a product that it does not take.
func (p *Plan) otherPaths(d *Dot) []string {
	a, b := machine.Multiplied(d.Expr.Args[0].Dtype), machine.Multiplied(d.Expr.Args[1].Dtype)
	if a != b {
		return nil
	}
	k := p.Machine.Kernels
	var names []string
	switch a {
	case tile.BFloat16:
		names = slices.Concat(named(k.WideBFloat16), named(k.PairsBFloat16), named(k.TilesBFloat16))
	case tile.Int8:
		names = slices.Concat(named(k.WideInt8), named(k.ThinInt8), named(k.Int8), named(k.TilesInt8))
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == d.Product.Name })
}

func named[S gemm.Source, C gemm.Sum](p *gemm.MicroKernels[S, C]) []string {
	if p == nil {
		return nil
	}
	return []string{p.Name}
}

// NameOf is the ref's, with the side that it is on where that is named otherwise.
func (p *Plan) NameOf(o *Operand) string {
	side := "a"
	if o.IsB {
		side = "b"
	}
	if name := p.Refs[o.Ref].Name; name != side {
		return name + " as " + side
	}
	return side
}

func (o *Operand) panels() string {
	lanes := "rows"
	if o.IsB {
		lanes = "columns"
	}
	s := fmt.Sprintf("panels of %d %s", o.Packing.Lanes, lanes)
	if o.Columns != o.IsB {
		s += " of its transpose"
	}
	return s
}

// tellPieces says what is packed of a b one piece at a time.
func (p *Plan) tellPieces(i int) string {
	if !slices.Contains(p.readsOf(i), gemm.ReadPieces) {
		return ""
	}
	o := p.Operands[i]
	return fmt.Sprintf(", pieces of it in %s, %s", o.panels(), p.words(o))
}

// words says what a panel holds.
func (p *Plan) words(o *Operand) string {
	s, _, _ := strings.Cut(o.Packing.Format, "/") // behind it: the side, and what it was before it was widened
	switch format, in := s, o.Packing.Unit/o.Packing.Words; {
	case o.Packing.Words > 1 && !o.IsB:
		s += fmt.Sprintf(", %d of k in a row of an AMX tile", o.Packing.Unit)
	case o.Packing.Words > 1:
		s += fmt.Sprintf(", %d of k in a column of an AMX tile", o.Packing.Unit)
	case in == 2:
		s += ", pairs of k"
	case in == 4:
		s = format + ", quads of k"
	}
	if from := p.Refs[o.Ref].Dtype.String(); !strings.HasPrefix(o.Packing.Format, from) {
		s += ", from " + from
	}
	return s + p.tellScales(o)
}

// tellScales says by what elements are multiplied as they are packed or widened.
func (p *Plan) tellScales(o *Operand) string {
	if o.Scales.At == nil {
		return ""
	}
	return fmt.Sprintf(", by %s, one for %d of k", p.Refs[o.Scales.Ref].Name, o.Group)
}
