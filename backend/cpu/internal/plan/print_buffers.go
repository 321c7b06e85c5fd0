package plan

import (
	"fmt"
	"strings"

	"matladder/backend/cpu/internal/memory"
)

// A Buffer is memory besides the arrays.
type Buffer struct {
	What   string
	Bytes  int
	Shared bool // by all workers; else each has one
	Used   int  // of bytes: the rest is never touched
}

// Memory lists all buffers.
func (p *Plan) Memory() []Buffer {
	var list []Buffer
	add := func(what string, r memory.Region, shared bool) {
		if r.Size > 0 {
			list = append(list, Buffer{what, r.Size, shared, r.Size})
		}
	}
	for _, o := range p.Operands {
		switch name := p.Refs[o.Ref].Name; o.Keep {
		case KeepAll, KeepGroup:
			add(name+" packed", o.Mem, true)
		case KeepOwn:
			add(name+" packed", o.Mem, false)
		case KeepUnpacked:
			add("a widened piece of "+name, o.Mem, false)
		default:
			add("a piece of "+name, o.Mem, false)
		}
	}
	help := Buffer{What: HelpPiece, Bytes: p.Sums.Size} // as gemm.Path.MultiplyDirect does it
	p.EachDot(func(s ShownStep, d *Dot) {
		if d.Product.Work > 0 {
			help.What = HelpSums
		}
		help.Used = max(help.Used, p.CallOf(s.Step, d).work())
	})
	if help.Bytes > 0 {
		list = append(list, help)
	}
	temps := Buffer{What: "pieces of products"}
	AllSteps(p.Steps, func(s *Step) {
		for _, d := range s.Dots {
			if d.Scales != nil {
				add("scales of a piece", d.Scales.Mem, false)
			}
			temps.Bytes += d.Temp.Size
		}
	})
	if temps.Used = temps.Bytes; temps.Bytes > 0 {
		list = append(list, temps)
	}
	for i, r := range p.Scratch {
		add("scratch "+p.Refs[i].Name, r, false)
	}
	add(plural(p.Vectors, "row vector"), p.Rows, false)
	return list
}

// What memory helps products with.
const (
	HelpPiece = "a piece of b, packed"
	HelpSums  = "sums of tiles"
)

func (p *Plan) tellBuffers() []string {
	var lines []string
	for _, s := range p.shown() {
		if len(s.Dots) > 0 {
			lines = append(lines, fmt.Sprintf("%s in pieces of %d×%d", s.name, min(s.Rows, p.Refs[s.Dst].Rows), min(s.Cols, p.Refs[s.Dst].Cols)))
		}
	}
	var shared, own []string
	for _, b := range p.Memory() {
		item := b.What + " " + KiB(int64(b.Bytes))
		switch {
		case b.Used == 0:
			item += " (not used)"
		case b.Used < b.Bytes:
			item += fmt.Sprintf(" (%s of it used)", KiB(int64(b.Used)))
		}
		if b.Shared {
			shared = append(shared, item)
		} else {
			own = append(own, item)
		}
	}
	if shared != nil {
		lines = append(lines, "shared: "+strings.Join(shared, ", "))
	}
	if own != nil {
		lines = append(lines, "a worker: "+strings.Join(own, ", "))
	}
	return or(lines, "none")
}
