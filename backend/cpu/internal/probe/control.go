package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"matladder/internal/each"
)

const (
	// controlCycles is about how many cycles of a core the arithmetic of a control
	// takes: 200 µs at 3 GHz.
	controlCycles = 600_000

	// controlBytes is what each thread of a control reads: 200 µs at 20 GB/s, which is
	// about the most that one core gets.
	controlBytes = 4 << 20

	// controlParts is in how many equal parts each is timed.
	controlParts = 5
)

// A Control is two fixed pieces of work that tell whether a machine is as it was: multiply-adds
// on registers alone, and a read of memory that is in no cache, each by all threads at once. What
// slows one of them down is not the work. It is used by one goroutine at a time.
type Control struct {
	threads int
	loop    loop
	turns   int         // of the loop, in a part
	pieces  [][]float64 // of the memory to read, in turns; nil before the first Run
	next    int         // of pieces
}

// NewControl makes a control for an instruction set and a number of threads. It
// allocates nothing before it is run.
func NewControl(isa string, threads int) *Control {
	if isa == "amx" { // whose tiles have no float32, and which comes with all of
		isa = "avx512"
	}
	c := &Control{threads: max(1, threads)}
	cycles := 4 // of a turn of four chains of additions
	switch l := loops(isa, "float32"); {
	case len(l) == 0: // an instruction set that this machine lacks
		c.loop = genericFloats[0]
	case isa == "avx512":
		c.loop, cycles = l[0], 12 // of a turn of 24 multiply-adds, two a cycle
	case isa == "avx2":
		c.loop, cycles = l[0], 6
	default:
		c.loop = l[0]
	}
	c.turns = controlCycles / cycles / controlParts
	return c
}

// Run times both pieces of work: of the thread in the middle, of the faster two if there
// are two, the median of its parts, taken for each of them. So work that was
// interrupted counts as what it would have been, and so do threads that were put on one
// core, as new ones may be; what all cores suffer, a lower clock, heat or others on the
// same memory, shows. The first call takes
// longer: memory is written before it is read. Both are 0 if ctx ends first.
func (c *Control) Run(ctx context.Context) (compute, memory time.Duration) {
	if c.pieces == nil && !c.fill(ctx) {
		return 0, 0
	}
	var (
		gate  = barrier{size: int64(c.threads)}
		parts = make([][2]time.Duration, c.threads)
		wait  sync.WaitGroup
	)
	at := c.next
	c.next = (c.next + c.threads) % len(c.pieces)
	for i := range c.threads {
		wait.Go(func() {
			gate.meet()
			computed := typical(func(int) { c.loop.run(c.turns) })
			gate.meet()
			piece := c.pieces[(at+i)%len(c.pieces)]
			n := len(piece) / controlParts
			read := typical(func(part int) { keep(sum(piece[part*n:][:n])) })
			parts[i] = [2]time.Duration{computed, read}
		})
	}
	wait.Wait()
	middle := func(kind int) time.Duration {
		took := each.Of(parts, func(p [2]time.Duration) time.Duration { return p[kind] })
		slices.Sort(took)
		return took[(len(took)-1)/2]
	}
	return middle(0), middle(1)
}

// typical is the time of all parts of some work, each as long as the median.
func typical(work func(part int)) time.Duration {
	var took [controlParts]time.Duration
	start := time.Now()
	for part := range took {
		work(part)
		now := time.Now()
		took[part], start = now.Sub(start), now
	}
	slices.Sort(took[:])
	return controlParts * took[controlParts/2]
}

// fill makes memory of which a piece is in no cache when its turn comes again.
func (c *Control) fill(ctx context.Context) bool {
	bytes := min(max(leastStream, 3*Host().L3), mostStream)
	pieces := make([][]float64, max(c.threads, bytes/controlBytes))
	Each(ctx, c.threads, func(m int) {
		for i := m; i < len(pieces) && ctx.Err() == nil; i += c.threads {
			pieces[i] = written(controlBytes / word)
		}
	})
	if ctx.Err() != nil {
		return false
	}
	c.pieces = pieces
	return true
}
