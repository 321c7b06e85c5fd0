package plan

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/machine"
	"matladder/tile"
)

func (p *Plan) tellSkinny(say say) {
	for i, o := range p.Operands {
		if !o.IsB { // pass rows
			continue
		}
		// Where b is packed for a path that reads it in no other way, another path might
		// have read it in place.
		pays, on, options := o.Pays, "", []Option(nil)
		p.EachDot(func(_ ShownStep, d *Dot) {
			if d.B != i {
				return
			}
			if options == nil {
				options = d.Options
			}
			if pays == 0 && d.Thin != nil && d.Thin != d.Product && d.Thin.Unpacked.Rows > 0 {
				pays, on = d.Thin.Unpacked.Rows, ", on "+d.Thin.Name
			}
		})
		how, unpacked := "packed", o.Keep == KeepUnpacked
		if unpacked {
			ways := each.Of(p.readsOf(i), func(read gemm.ReadB) string { return strategyOf(read).what })
			if how = strings.Join(ways, ", or "); o.Widened() {
				how = "widened in pieces, each " + how
			}
		}
		meets := fmt.Sprintf("its blocks meet %s of a", words.Count(tile.Ceil(o.Meets, o.K), "row"))
		why := fmt.Sprintf("%s; up to %d it would be faster not to pack them whole%s", meets, pays, on)
		switch {
		case options != nil:
			why = meets + "; estimated at " + tellOptions(options)
		case unpacked && p.Machine.Choices.B == gemm.ReadByRule && o.Packing.AsItLies && o.Columns:
			why = meets + "; it is so narrow or shallow that packing takes longer than it saves"
		case unpacked && o.Pays >= gemm.AllRows, !unpacked && o.Columns && p.Machine.Choices.B == gemm.ReadPacked:
			why = "asked for; " + meets
		case unpacked:
			why = fmt.Sprintf("%s; up to %d packing them whole takes longer than it saves", meets, pays)
		case !o.Columns:
			why = "it is transposed"
		case pays == 0:
			why = "this micro-kernel reads it in no other way"
		}
		say("%s %s: %s", p.Refs[o.Ref].Name, how, why)
	}
}

// tellOptions says what the strategies of a B, two at least, were estimated to take.
func tellOptions(options []Option) string {
	others := each.Of(options[1:], func(o Option) string { return o.what + " " + seconds(o.Seconds) })
	return seconds(options[0].Seconds) + " of one core; rather than " + strings.Join(others, ", ")
}

// seconds prints a time of some µs or ms.
func seconds(v float64) string {
	if v < 1e-3 {
		return fmt.Sprintf("%.3g µs", v*1e6)
	}
	return fmt.Sprintf("%.3g ms", v*1e3)
}

// readsOf are the ways in which products read operand i, a B that is not packed as a whole.
func (p *Plan) readsOf(i int) []gemm.ReadB {
	var reads []gemm.ReadB
	p.EachDot(func(s ShownStep, d *Dot) {
		if d.B == i && p.Operands[i].Keep == KeepUnpacked {
			reads = each.With(reads, p.CallOf(s.Step, d).Read)
		}
	})
	return reads
}

func (p *Plan) tellRows(say say) {
	for _, o := range p.Operands {
		switch name := p.Refs[o.Ref].Name; {
		case o.IsB: // pass skinny
		case o.Keep == KeepUnpacked:
			say("%s not packed: its rows are loaded where they lie", name)
		case o.StoredRows:
			say("%s packed, the rows that are stored alone: %s", name, o.Packed)
		default:
			say("%s packed: %s", name, o.Packed)
		}
	}
}

func (p *Plan) tellWrites(say say) {
	asked := p.Machine.Choices.WriteC != WriteByRule
	p.EachDot(func(s ShownStep, d *Dot) {
		switch {
		case d.Scales == nil:
		case d.Scales.Plain:
			say("%s rounded to bfloat16 by the micro-kernel, as it writes it", s.name)
		default:
			say("%s scaled by the micro-kernel, as it writes it", s.name)
		}
		switch {
		case d.Write == gemm.WriteNonTemporal && asked:
			say("%s written by non-temporal stores: asked for", s.name)
		case d.Write == gemm.WriteNonTemporal:
			say("%s written by non-temporal stores: L2 would not hold it, and no program reads it", s.name)
		case d.Write == gemm.WriteCopied:
			say("%s copied from sums whose rows follow each other, beside the next products: asked for", s.name)
		}
	})
}

// A Routine is a micro-kernel that a product of the plan calls.
type Routine struct {
	Name    string // in assembly; "" where loops in Go multiply, or B is widened as it is read
	Product string // a·b: its path, and how B is read
}

// Routines are those of all products, each once.
func (p *Plan) Routines() (list []Routine) {
	p.EachDot(func(_ ShownStep, d *Dot) {
		a, b := p.Operands[d.A], p.Operands[d.B]
		reads := p.readsOf(d.B)
		if len(reads) == 0 {
			reads = []gemm.ReadB{gemm.ReadPacked}
		}
		for _, read := range reads {
			what := fmt.Sprintf("%s·%s: %s, %s %s", p.Refs[a.Ref].Name, p.Refs[b.Ref].Name, d.Product.Name, p.Refs[b.Ref].Name, strategyOf(read).what)
			list = each.With(list, Routine{d.Product.Routine(read), what})
		}
	})
	return list
}

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
