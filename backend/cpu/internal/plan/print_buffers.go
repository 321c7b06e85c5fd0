package plan

import (
	"fmt"
	"strings"
)

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
