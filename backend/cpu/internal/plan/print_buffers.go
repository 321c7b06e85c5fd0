package plan

import (
	"fmt"
	"strings"
)

func (p *Plan) tellBuffers() []string {
	var lines []string
	for _, s := range p.shown() {
		if len(s.Dots) > 0 {
			lines = append(lines, fmt.Sprintf("%s in pieces of %d×%d", s.name, min(s.Rows, p.Refs[s.Dst].Rows), min(s.Cols, p.Refs[s.Dst].Cols)))
		}
	}
	var shared, own []string
	for _, b := range p.Buffers {
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
