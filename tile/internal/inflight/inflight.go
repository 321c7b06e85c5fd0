// Package inflight follows copies that run beside the programs which start them, on the
// devices of a mesh, and tells accesses that no wait orders. It knows neither values nor
// programs: whoever runs a program tells it what each device does next.
//
// It is a detector of races by vector clocks. Each device is a thread; so are, for each
// semaphore, the copies that it counts. A copy begins after all that its device did before
// and is known to have ended by whoever waited for all bytes that its semaphore counts:
// where two copies share a semaphore, waiting for the bytes of one tells of neither.
// Signals order what was done before them with what is done after awaiting them.
package inflight

import (
	"fmt"
	"slices"
	"strings"
)

// Region is a box of elements of a buffer: from Lo up to Hi, not included.
type Region struct {
	Buffer int
	Lo, Hi []int
}

// Fault is something that a device did, or never did, and that is wrong.
type Fault struct {
	Pos fmt.Stringer // of the statement
	Msg string
}

// Copy is one that was started.
type Copy struct {
	From, To                     Region
	Device, Target               int // that it is from and to
	Bytes                        int64
	Pos                          fmt.Stringer
	clock                        []int
	arrivedWaited, sentForWaited bool
}

// State is what devices have done so far.
type State struct {
	devices int
	buffers []string
	slots   []string
	clocks  [][]int
	counts  []*count // device by device
	records [][]*record
}

// count is one semaphore's.
type count struct {
	copies  []*Copy
	waited  int64 // of the bytes of copies
	seq     int   // of its thread
	signals []signal
}

type signal struct {
	clock []int
	from  int
	pos   fmt.Stringer
}

// record is what was last done to one box of a buffer.
type record struct {
	lo, hi []int
	write  epoch
	reads  []epoch
}

// epoch is a moment of a thread: the seq-th, from 1 on.
type epoch struct {
	thread, seq int
	copy        bool
	pos         fmt.Stringer
}

// New returns the state of devices that have buffers and slots of semaphores of these
// names, before they do anything.
func New(devices int, buffers, slots []string) *State {
	s := &State{devices: devices, buffers: buffers, slots: slots, records: make([][]*record, devices*len(buffers))}
	threads := devices * (1 + len(slots))
	for d := range devices {
		s.clocks = append(s.clocks, make([]int, threads))
		s.clocks[d][d] = 1
		for range slots {
			s.counts = append(s.counts, &count{})
		}
	}
	return s
}

func (s *State) count(device, slot int) *count { return s.counts[device*len(s.slots)+slot] }

func (s *State) thread(device, slot int) int { return s.devices + device*len(s.slots) + slot }

// Access is a read or a write by a statement.
func (s *State) Access(device int, r Region, write bool, pos fmt.Stringer) *Fault {
	s.clocks[device][device]++
	return s.access(device, r, write, s.clocks[device], epoch{device, s.clocks[device][device], false, pos})
}

// access notes what happens at a moment, which is after all that clock has seen.
func (s *State) access(device int, r Region, write bool, clock []int, now epoch) *Fault {
	if r.Lo == nil { // of what nobody writes
		return nil
	}
	at := device*len(s.buffers) + r.Buffer
	list := s.records[at]
	var same *record
	for _, old := range list {
		if !overlap(r, old) {
			continue
		}
		if slices.Equal(old.lo, r.Lo) && slices.Equal(old.hi, r.Hi) {
			same = old
		}
		if old.write.seq > clock[old.write.thread] && old.write != now {
			return s.conflict(r, write, now, true, old.write)
		}
		for _, read := range old.reads {
			if write && read.seq > clock[read.thread] {
				return s.conflict(r, write, now, false, read)
			}
		}
	}
	if write { // all that this covers is done, whoever is after it is after that
		list = slices.DeleteFunc(list, func(old *record) bool { return covers(r, old) })
		s.records[at] = append(list, &record{lo: r.Lo, hi: r.Hi, write: now})
		return nil
	}
	if same == nil {
		same = &record{lo: r.Lo, hi: r.Hi}
		s.records[at] = append(list, same)
	}
	for i := range same.reads {
		if same.reads[i].thread == now.thread {
			same.reads[i] = now
			return nil
		}
	}
	same.reads = append(same.reads, now)
	return nil
}

func overlap(r Region, old *record) bool {
	for d := range r.Lo {
		if r.Hi[d] <= old.lo[d] || old.hi[d] <= r.Lo[d] {
			return false
		}
	}
	return true
}

func covers(r Region, old *record) bool {
	for d := range r.Lo {
		if old.lo[d] < r.Lo[d] || old.hi[d] > r.Hi[d] {
			return false
		}
	}
	return true
}

// Start begins a copy that a slot of the target counts and, where it goes to another
// device, one of the device that it is from; -1 for none.
func (s *State) Start(c *Copy, arrived, sent int) *Fault {
	clock := s.clocks[c.Device]
	if clock[c.Target] == 0 {
		return s.early(c.Pos)
	}
	clock[c.Device]++
	c.clock = slices.Clone(clock)
	reader := arrived
	if sent >= 0 {
		reader = sent
	}
	from, to := s.count(c.Device, reader), s.count(c.Target, arrived)
	to.seq++
	if sent >= 0 {
		from.seq++
	}
	if f := s.access(c.Device, c.From, false, c.clock, epoch{s.thread(c.Device, reader), from.seq, true, c.Pos}); f != nil {
		return f
	}
	if f := s.access(c.Target, c.To, true, c.clock, epoch{s.thread(c.Target, arrived), to.seq, true, c.Pos}); f != nil {
		return f
	}
	to.copies = append(to.copies, c)
	if sent >= 0 {
		from.copies = append(from.copies, c)
	}
	return nil
}

// Wait waits on a slot for the bytes of a copy to r or, if sent, from r. It returns the copy,
// or nil where it has to wait for one that is not started yet.
func (s *State) Wait(device, slot int, sent bool, r Region, bytes int64, pos fmt.Stringer) (*Copy, *Fault) {
	n := s.count(device, slot)
	var found, other *Copy
	for _, c := range n.copies {
		region, waited := &c.To, &c.arrivedWaited
		if sent {
			region, waited = &c.From, &c.sentForWaited
		}
		switch {
		case *waited:
		case found == nil && region.Buffer == r.Buffer && slices.Equal(region.Lo, r.Lo) && slices.Equal(region.Hi, r.Hi):
			found, *waited = c, true
		default:
			other = c
		}
	}
	switch {
	case found == nil && other != nil:
		region := other.To
		if sent {
			region = other.From
		}
		return nil, &Fault{pos, fmt.Sprintf("waits on %s for %s, but what is in flight on it is the copy of %s, %d bytes where this waits for %d, started at %s",
			s.slots[slot], s.text(r), s.text(region), other.Bytes, bytes, other.Pos)}
	case found == nil:
		return nil, nil
	}
	n.waited += bytes
	total := int64(0)
	for _, c := range n.copies {
		total += c.Bytes
	}
	if n.waited < total {
		return found, nil // of which of them the bytes are nobody knows
	}
	clock := s.clocks[device]
	for _, c := range n.copies {
		merge(clock, c.clock)
	}
	clock[s.thread(device, slot)] = n.seq
	n.copies, n.waited = n.copies[:0], 0
	clock[device]++
	return found, nil
}

// early is the fault of reaching a device that nothing has been heard of.
func (s *State) early(pos fmt.Stringer) *Fault {
	return &Fault{pos, "reaches a device that may not have begun: it has to tell by a barrier, and this one to await that"}
}

// Signal adds one to a slot of a device; that of a barrier is there before the device begins.
func (s *State) Signal(device, target, slot int, barrier bool, pos fmt.Stringer) *Fault {
	clock := s.clocks[device]
	if !barrier && clock[target] == 0 {
		return s.early(pos)
	}
	n := s.count(target, slot)
	n.signals = append(n.signals, signal{slices.Clone(clock), device, pos})
	clock[device]++
	return nil
}

// Await takes n from a slot, once it has as many; it reports whether it has. If it has more,
// and they are of several devices, nobody knows whose these were.
func (s *State) Await(device, slot, n int) bool {
	c := s.count(device, slot)
	if len(c.signals) < n {
		return false
	}
	if len(c.signals) == n || !slices.ContainsFunc(c.signals, func(x signal) bool { return x.from != c.signals[0].from }) {
		for _, x := range c.signals[:n] {
			merge(s.clocks[device], x.clock)
		}
	}
	c.signals = c.signals[n:]
	s.clocks[device][device]++
	return true
}

// End is what is wrong if a device goes no further: copies and signals that nobody waited for.
func (s *State) End(device int) *Fault {
	for slot, name := range s.slots {
		n := s.count(device, slot)
		for _, c := range n.copies {
			if c.Target == device && !c.arrivedWaited {
				return &Fault{c.Pos, fmt.Sprintf("this copy to %s is in flight when the grid ends: nothing waits for it on %s", s.text(c.To), name)}
			}
			if c.Device == device && !c.sentForWaited {
				return &Fault{c.Pos, fmt.Sprintf("this copy from %s is in flight when the grid ends: nothing waits on %s until it is sent", s.text(c.From), name)}
			}
		}
		if len(n.signals) > 0 {
			return &Fault{n.signals[0].pos, fmt.Sprintf("%s has %d signals left when the grid ends: as many must be awaited as are given", name, len(n.signals))}
		}
	}
	return nil
}

// Missing is what is wrong if a device waits on a slot for ever.
func (s *State) Missing(slot int, pos fmt.Stringer) *Fault {
	return &Fault{pos, fmt.Sprintf("waits on %s for ever: what it waits for is never started, or was waited for before", s.slots[slot])}
}

func merge(clock, other []int) {
	for i, n := range other {
		clock[i] = max(clock[i], n)
	}
}

func (s *State) conflict(r Region, write bool, now epoch, wrote bool, old epoch) *Fault {
	does, did := "reads", "read"
	if write {
		does = "writes"
	}
	if wrote {
		did = "written"
	}
	who, by := "this", "at"
	if now.copy {
		who = "this copy"
	}
	if old.copy {
		by = "by the copy started at"
	}
	return &Fault{now.pos, fmt.Sprintf("%s %s %s while it is being %s %s %s: nothing between them waits", who, does, s.text(r), did, by, old.pos)}
}

// text is buf[0:8, 128:256].
func (s *State) text(r Region) string {
	parts := make([]string, len(r.Lo))
	for d := range parts {
		parts[d] = fmt.Sprintf("%d:%d", r.Lo[d], r.Hi[d])
	}
	return s.buffers[r.Buffer] + "[" + strings.Join(parts, ", ") + "]"
}
