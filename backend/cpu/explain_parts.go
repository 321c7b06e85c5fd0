package cpu

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/tile"
)

func (x *PlanProgram) laidOut() []string {
	var lines []string
	for _, d := range x.products() {
		line := fmt.Sprintf("%s·%s: %s, sums %s", x.Operands[d.A].Ref, x.Operands[d.B].Ref, d.Path, d.Sum)
		if len(d.Others) > 0 {
			line += "; rather than " + strings.Join(d.Others, ", ")
		}
		lines = append(lines, line)
	}
	var cells []string
	for _, o := range x.Operands {
		switch {
		case o.Keep != KeepUnpacked:
			cells = append(cells, fmt.Sprintf("%s\t%s\t%s\t%s", o.name(), o.panels(), o.words(), o.chunks()))
		case o.InPlace && slices.Contains(o.Ways, ReadPieces):
			cells = append(cells, o.name()+"\tas in memory"+o.pieces())
		case o.InPlace:
			cells = append(cells, fmt.Sprintf("%s\tas in memory, widened to %s by the micro-kernel", o.name(), o.WidenedTo))
		case o.WidenedTo != tile.InvalidDtype:
			cells = append(cells, fmt.Sprintf("%s\tas in memory, %d columns × %d of k at a time widened to %s%s", o.name(), o.Piece, o.Depth, o.WidenedTo, o.pieces()))
		default:
			cells = append(cells, o.name()+"\tas in memory"+o.pieces())
		}
	}
	if lines == nil {
		return []string{"no product"}
	}
	return append(lines, aligned(cells)...)
}

// products are those of distinct operands and parts.
func (x *PlanProgram) products() []PlanProduct {
	var list []PlanProduct
	for _, d := range x.Products {
		if !slices.ContainsFunc(list, func(e PlanProduct) bool { return e.A == d.A && e.B == d.B && e.Path == d.Path }) {
			list = append(list, d)
		}
	}
	return list
}

// name is the ref's, with the side that it is on where that is named otherwise.
func (o *PlanOperand) name() string {
	if o.Ref == o.Side {
		return o.Ref
	}
	return o.Ref + " as " + o.Side
}

func (o *PlanOperand) panels() string {
	lanes := "rows"
	if o.Side == "b" {
		lanes = "columns"
	}
	s := fmt.Sprintf("panels of %d %s", o.Lanes, lanes)
	if o.Transposed {
		s += " of its transpose"
	}
	return s
}

// pieces says what is packed of a b one piece at a time.
func (o *PlanOperand) pieces() string {
	if !slices.Contains(o.Ways, ReadPieces) {
		return ""
	}
	return fmt.Sprintf(", pieces of it in %s, %s", o.panels(), o.words())
}

// way says how products read a b that is not packed as a whole.
func (o *PlanOperand) way() string {
	var ways []string
	for _, w := range o.Ways {
		ways = append(ways, string(w))
	}
	s := strings.Join(ways, ", or ")
	if o.WidenedTo != tile.InvalidDtype && !o.InPlace {
		s = "widened in pieces, each " + s
	}
	return s
}

// words says what a panel holds.
func (o *PlanOperand) words() string {
	s := o.Format
	switch in := o.Unit / o.Words; {
	case o.Words > 1 && o.Side == "a":
		s += fmt.Sprintf(", %d of k in a row of an AMX tile", o.Unit)
	case o.Words > 1:
		s += fmt.Sprintf(", %d of k in a column of an AMX tile", o.Unit)
	case in == 2:
		s += ", pairs of k"
	case in == 4:
		s += ", quads of k"
	}
	if !strings.HasPrefix(o.Format, o.Dtype.String()) {
		s += ", from " + o.Dtype.String()
	}
	return s
}

func (o *PlanOperand) chunks() string {
	return fmt.Sprintf("chunks of %d of k, a block %s", o.Depth, backend.FormatBytes(int64(o.Block)))
}

func (x *PlanProgram) thinned() []string {
	var lines []string
	for _, o := range x.Operands {
		switch {
		case o.Side == "a": // pass rows
		case o.Asked && o.Keep == KeepUnpacked:
			lines = append(lines, fmt.Sprintf("%s %s: asked for; its blocks meet %s of a", o.Ref, o.way(), plural(o.Meets, "row")))
		case o.Asked:
			lines = append(lines, fmt.Sprintf("%s packed: asked for; its blocks meet %s of a", o.Ref, plural(o.Meets, "row")))
		case o.Keep == KeepUnpacked:
			lines = append(lines, fmt.Sprintf("%s %s: its blocks meet %s of a; up to %d packing them whole takes longer than it saves", o.Ref, o.way(), plural(o.Meets, "row"), o.Pays))
		case o.Transposed:
			lines = append(lines, fmt.Sprintf("%s packed: it is transposed", o.Ref))
		case o.Pays == 0:
			lines = append(lines, fmt.Sprintf("%s packed: this micro-kernel reads it in no other way", o.Ref))
		default:
			line := fmt.Sprintf("%s packed: its blocks meet %s of a; up to %d it would be faster not to pack them whole", o.Ref, plural(o.Meets, "row"), o.Pays)
			if o.PaysOn != "" {
				line += ", on " + o.PaysOn
			}
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return []string{"no product"}
	}
	return lines
}

func (x *PlanProgram) rowsRead() []string {
	var lines []string
	for _, o := range x.Operands {
		switch {
		case o.Side == "b": // pass thin
		case o.Keep == KeepUnpacked:
			lines = append(lines, fmt.Sprintf("%s not packed: tiles load its rows where they lie", o.Ref))
		default:
			lines = append(lines, fmt.Sprintf("%s packed: %s", o.Ref, o.Packed))
		}
	}
	if lines == nil {
		return []string{"no product"}
	}
	return lines
}

func (x *PlanProgram) streamed() []string {
	var lines []string
	for _, s := range x.Steps {
		for _, i := range s.Products {
			if x.Products[i].Narrows {
				lines = append(lines, fmt.Sprintf("%s rounded to bfloat16 by the micro-kernel, as it writes it", s.Dst))
			}
			if x.Products[i].Scales {
				lines = append(lines, fmt.Sprintf("%s scaled by the micro-kernel, as it writes it", s.Dst))
			}
			switch d := x.Products[i]; {
			case d.Streams && d.Asked:
				lines = append(lines, fmt.Sprintf("%s written past the caches: asked for", s.Dst))
			case d.Streams:
				lines = append(lines, fmt.Sprintf("%s written past the caches: L2 would not hold it, and no program reads it", s.Dst))
			case d.Copies:
				lines = append(lines, fmt.Sprintf("%s copied from sums whose rows follow each other, beside the next products: asked for", s.Dst))
			}
		}
	}
	if lines == nil {
		return []string{"no output is written past the caches"}
	}
	return lines
}

func (x *PlanProgram) shared() []string {
	var lines []string
	for _, o := range x.Operands {
		var how string
		switch o.Keep {
		case KeepUnpacked:
			if how = "not packed\t"; slices.Contains(o.Ways, ReadPieces) {
				how = "not kept: every use packs it, a piece at a time\t"
			}
		case KeepPiece:
			how = "not kept: every use packs it, a piece at a time\t" + o.Why
		case KeepOwn:
			how = fmt.Sprintf("%s kept by each worker, packed anew when it needs another\t%s", plural(o.Kept, "block"), o.Why)
		case KeepAll:
			how = fmt.Sprintf("%s kept for all workers, packed by all of them once a launch\t%s", plural(o.Kept, "block"), o.Why)
		case KeepGroup:
			how = fmt.Sprintf("%s kept for all workers, packed by all of them; the next phase packs others\t%s", plural(o.Kept, "block"), o.Why)
		}
		if o.Room > 0 {
			how += " (limit " + backend.FormatBytes(o.Room) + ")"
		}
		lines = append(lines, o.name()+"\t"+how)
	}
	if lines == nil {
		return []string{"nothing is packed"}
	}
	return aligned(lines)
}

func (x *PlanProgram) scheduled() []string {
	s := &x.Schedule
	first := plural(s.Tasks, "task")
	if s.ByColumns {
		first += " by columns"
	}
	if axes := append(slices.Clone(s.Outer), s.Inner...); len(axes) > 0 {
		first += fmt.Sprintf(", one for each (%s), the last fastest", strings.Join(axes, ", "))
	}
	if s.Phases > 1 {
		first += fmt.Sprintf(", in %d phases", s.Phases)
	}
	if s.Ordered != "" {
		first += ": one worker runs all in order, " + s.Ordered
	}
	serial := ""
	if len(s.Serial) > 0 {
		serial = fmt.Sprintf(" along (%s), in order", strings.Join(s.Serial, ", "))
	}
	deal := fmt.Sprint(s.Least)
	if s.Most != s.Least {
		deal = fmt.Sprintf("%d or %d", s.Least, s.Most)
	}
	second := plural(s.Workers, "worker")
	if s.Idle > 0 {
		second += fmt.Sprintf(", %d idle", s.Idle)
	}
	if s.Workers > 1 {
		second += fmt.Sprintf(", each with %s of them to begin with; who is done takes from the others", deal)
	}
	return []string{first + "; a task is " + plural(s.Steps, "program") + serial, second,
		fmt.Sprintf("threads are busy %.0f %% of the time, if tasks take equally long", 100*s.Balance)}
}

func (x *PlanProgram) buffered() []string {
	var lines []string
	for _, s := range x.Steps {
		if s.Rows > 0 {
			lines = append(lines, fmt.Sprintf("%s in pieces of %d×%d", s.Dst, s.Rows, s.Cols))
		}
	}
	var shared, own []string
	for _, b := range x.Buffers {
		item := b.What + " " + backend.FormatBytes(int64(b.Bytes))
		switch {
		case b.Used == 0:
			item += " (not used)"
		case b.Used < b.Bytes:
			item += fmt.Sprintf(" (%s of it used)", backend.FormatBytes(int64(b.Used)))
		}
		if b.Shared {
			shared = append(shared, item)
		} else {
			own = append(own, item)
		}
	}
	for _, group := range []struct {
		name  string
		items []string
	}{{"shared", shared}, {"a worker", own}} {
		if len(group.items) > 0 {
			lines = append(lines, group.name+": "+strings.Join(group.items, ", "))
		}
	}
	if lines == nil {
		return []string{"none"}
	}
	return lines
}

// loops prints the loops around the register tile of each step with a product.
func (t *text) loops(x *PlanProgram) {
	s := &x.Schedule
	for _, st := range x.Steps {
		if st.Loops == nil {
			continue
		}
		what := ""
		if st.Times > 1 {
			what = fmt.Sprintf(", the first of %d products", st.Times)
		}
		lines := []string{fmt.Sprintf("%s, %d at a time%s", plural(s.Tasks, "task"), s.Workers, what)}
		for i, l := range append([]PlanLoop{{s.Steps, "programs of a task"}}, st.Loops...) {
			// A loop that runs once is shown only for what is said of it.
			if l.Count > 1 || strings.Contains(l.What, ":") || i == len(st.Loops) {
				lines = append(lines, fmt.Sprintf("%s%d %s", strings.Repeat(" ", len(lines)), l.Count, l.What))
			}
		}
		t.part("loops", lines...)
	}
}
