package plan

import (
	"fmt"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/each"
	"matladder/internal/words"
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
			if pays == 0 && d.Thin != nil && d.Thin != d.Product && d.Thin.Unpacked.Rows() > 0 {
				pays, on = d.Thin.Unpacked.Rows(), ", on "+d.Thin.Name
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

// readsOf are the ways in which products read operand i, a B that is not packed as a
// whole.
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
			say("%s not packed: tiles load its rows where they lie", name)
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
