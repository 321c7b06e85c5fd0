package blocking

import "matladder/machine"

// Packing is what it takes cores that meet the same block of B to pack it. The model ranks
// block shapes by it, and the CPU backend decides by it whether cores share what they pack.
type Packing struct {
	Alone     float64 // seconds for one core to pack all of the block
	Packers   int     // cores that find something to do where they pack it together
	RoundTrip float64 // seconds for cores to agree on who packs what (machine.CoreToCore)
	Rewrite   float64 // seconds to write the block over one that others have read
	Fetch     float64 // seconds to read all of it from cores that have packed it
	Hidden    float64 // seconds of multiplying while it comes for the first time
}

// UnitBytes is about how much of a packed block one core packs at once.
const UnitBytes = 64 << 10

// PackingOf is what follows from how fast memory that one core has written reaches others: all
// but Alone and Hidden, of a packed block of so many bytes.
func PackingOf(bytes float64, s machine.CoreToCore) Packing {
	p := Packing{Packers: max(1, int(bytes/UnitBytes)), RoundTrip: s.RoundTrip()}
	if s.Known() {
		p.Rewrite, p.Fetch = bytes/s.WriteOthers, bytes/s.ReadOthers
	}
	return p
}

// Best is how long each of so many cores takes for a block, and whether it had better pack the
// block alone, where there is room for copies. To share it costs three things: cores agree on
// who packs what; whoever packs takes the memory from the cores that read it in the last launch;
// and the others read it from that core.
func (p Packing) Best(cores int, copies bool) (seconds float64, alone bool) {
	seconds = (p.Alone+p.Rewrite)/float64(min(cores, p.Packers)) + p.RoundTrip
	seconds += together(p.Hidden, p.Fetch*float64(cores-1)/float64(cores)) - p.Hidden
	if copies && p.Alone < seconds {
		return p.Alone, true
	}
	return seconds, false
}

// exposed is the part of the shorter of computing and moving that the longer one does not
// hide, on cores: register tiles ask ahead for what comes next.
const exposed = 0.25

// together is the time of computing and moving that go on at the same time.
func together(compute, move float64) float64 { return max(compute, move) + exposed*min(compute, move) }
