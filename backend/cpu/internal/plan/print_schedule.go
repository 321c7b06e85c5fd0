package plan

import (
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/internal/each"
	"matladder/internal/words"
)

func (p *Plan) tellKept(say say) {
	for i, o := range p.Operands {
		how, why, blocks := "not kept: every use packs it, a piece at a time", o.Why, words.Count(o.Slots, "block")
		switch {
		case o.Keep == KeepUnpacked && !slices.Contains(p.readsOf(i), gemm.ReadPieces):
			how = "not packed"
		case o.Keep == KeepOwn && o.Why == WhyAlone:
			how = blocks + " packed by each worker that needs them, once a launch"
		case o.Keep == KeepOwn:
			how = blocks + " kept by each worker, packed anew when it needs another"
		case o.Keep == KeepAll:
			how = blocks + " kept for all workers, packed by all of them once a launch"
		case o.Keep == KeepGroup:
			how = blocks + " kept for all workers, packed by all of them; the next phase packs others"
		}
		if o.Room > 0 {
			why += " (limit " + KiB(o.Room) + ")"
		}
		say("%s\t%s\t%s", p.NameOf(o), how, why)
	}
}

func (p *Plan) tellSchedule(say say) {
	t, all := &p.Tasks, p.Tasks.Outers*p.Tasks.Inners
	axes := func(list ...int) string {
		return strings.Join(each.Of(list, func(i int) string { return p.Program.Grid[i].Name }), ", ")
	}
	first := words.Count(all, "task")
	if p.ByColumns {
		first += " by columns"
	}
	if list := slices.Concat(t.Outer, t.Inner); len(list) > 0 {
		first += fmt.Sprintf(", one for each (%s), the last fastest", axes(list...))
	}
	if n := t.Phases(); n > 1 {
		first += fmt.Sprintf(", in %d phases", n)
	}
	switch {
	case p.Machine.ProgramOrder:
		first += ": one worker runs all in order, asked for"
	case p.Ordered:
		first += ": one worker runs all in order, scratch may carry values from one point of a parallel axis to the next"
	}
	first += "; a task is " + words.Count(t.Steps, "program")
	if len(t.Serial) > 0 {
		first += fmt.Sprintf(" along (%s), in order", axes(t.Serial...))
	}
	least, most := t.Spread()
	deal := fmt.Sprint(least)
	if most != least {
		deal = fmt.Sprintf("%d or %d", least, most)
	}
	second := words.Count(t.Workers, "worker")
	if idle := p.Machine.Workers - t.Workers; idle > 0 {
		second += fmt.Sprintf(", %d idle", idle)
	}
	if t.Workers > 1 {
		second += fmt.Sprintf(", each with %s of them to begin with; who is done takes from the others", deal)
	}
	say("%s", first)
	say("%s", second)
	say("threads are busy %.0f %% of the time, if tasks take equally long", 100*float64(all)/float64(p.Machine.Workers*most))
	p.tellStrips(say)
}

func (p *Plan) tellBuffers(say say) {
	for _, s := range p.shown() {
		if len(s.Dots) > 0 {
			say("%s in pieces of %d×%d", s.name, min(s.Rows, p.Refs[s.Dst].Rows), min(s.Cols, p.Refs[s.Dst].Cols))
		}
	}
	var shared, own []string
	for _, b := range p.Buffers {
		if b.Shared {
			shared = append(shared, b.String())
		} else {
			own = append(own, b.String())
		}
	}
	if shared != nil {
		say("shared: %s", strings.Join(shared, ", "))
	}
	if own != nil {
		say("a worker: %s", strings.Join(own, ", "))
	}
}

func (b Buffer) String() string {
	s := b.What + " " + KiB(int64(b.Bytes))
	switch {
	case b.Used == 0:
		s += " (not used)"
	case b.Used < b.Bytes:
		s += fmt.Sprintf(" (%s of it used)", KiB(int64(b.Used)))
	}
	return s
}
