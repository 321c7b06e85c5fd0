package tile

import "fmt"

// copying prints a statement about copies or signals; "" for others.
func (s *Stmt) copying() string {
	switch s.Kind {
	case Start, Wait, WaitSent:
		return fmt.Sprintf("%s %s", s.Kind, s.Copy)
	case Signal:
		return fmt.Sprintf("signal %s of %s = %s", s.Signal.To, s.Signal.Along.Name, bare(s.Signal.Device))
	case Await:
		return fmt.Sprintf("await %s %d", s.Slot, s.Count)
	}
	return ""
}

// String is a(8, 128)@(i, k) → buf(8, 128)@(k % 2, 0), arrived[k % 2].
func (c *Copy) String() string {
	s := fmt.Sprintf("%s → %s", c.From, c.To)
	if c.Remote() {
		s += fmt.Sprintf(" of %s = %s", c.Along.Name, bare(c.Device))
	}
	s += fmt.Sprintf(", %s", c.Arrived)
	if c.Remote() {
		s += fmt.Sprintf(", sent %s", c.Sent)
	}
	return s
}

func (p Part) String() string {
	return p.Ref.Name + tuple(blockString(p.BlockSpec.Shape)) + "@" + tuple(indexString(p.Index))
}

func (s Slot) String() string { return fmt.Sprintf("%s[%s]", s.Semaphore.Name, bare(s.Index)) }
