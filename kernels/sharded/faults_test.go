package sharded_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"matladder/kernels/sharded"
	"matladder/kernels/sharded/shards"
	exchange "matladder/kernels/sharded/v6_experts"
	"matladder/problem"
	"matladder/tile"
	"matladder/tile/interp"
)

// A fault damages the statements about copies of a right program.
type fault struct {
	kernel string // the rung whose program it damages
	name   string
	harm   func(*damaged)
}

// damaged is a copy of a program to harm.
type damaged struct {
	*tile.Program
	about []**tile.Stmt // statements about copies and signals, in order
}

// nth is the n-th statement of a kind, from 0 on; -1 is the last.
func (d *damaged) nth(kind tile.StmtKind, n int) **tile.Stmt {
	var of []**tile.Stmt
	for _, s := range d.about {
		if (*s).Kind == kind {
			of = append(of, s)
		}
	}
	if n < 0 {
		n += len(of)
	}
	return of[n]
}

// nothing takes the place of a statement that is left out; twice does one two times.
func nothing(s *tile.Stmt) *tile.Stmt {
	return &tile.Stmt{Kind: tile.When, Cond: tile.All(), Pos: s.Pos}
}

func twice(s *tile.Stmt) *tile.Stmt {
	return &tile.Stmt{Kind: tile.When, Cond: tile.All(), Body: []*tile.Stmt{s, s}, Pos: s.Pos}
}

func harmed(p *tile.Program) *damaged {
	q := *p
	d := &damaged{Program: &q}
	var again func(body []*tile.Stmt) []*tile.Stmt
	again = func(body []*tile.Stmt) []*tile.Stmt {
		out := make([]*tile.Stmt, len(body))
		for i, s := range body {
			c := *s
			if s.Copy != nil {
				x := *s.Copy
				x.From.Index, x.To.Index = append([]tile.IndexExpr(nil), x.From.Index...), append([]tile.IndexExpr(nil), x.To.Index...)
				c.Copy = &x
			}
			if s.Signal != nil {
				x := *s.Signal
				c.Signal = &x
			}
			c.Body = again(s.Body)
			if out[i] = &c; c.Kind >= tile.Start {
				d.about = append(d.about, &out[i])
			}
		}
		return out
	}
	q.Body = again(p.Body)
	return d
}

// omitted and doubled are faults of one kind each, of every statement about copies.
func generated(kernel string, p *tile.Program) []fault {
	var list []fault
	for i, s := range harmed(p).about {
		kind := (*s).Kind
		list = append(list,
			fault{kernel, fmt.Sprintf("%s %d left out", kind, i), func(d *damaged) { *d.about[i] = nothing(*d.about[i]) }},
			fault{kernel, fmt.Sprintf("%s %d twice", kind, i), func(d *damaged) { *d.about[i] = twice(*d.about[i]) }})
	}
	return list
}

// written are faults that take more than leaving out and doubling.
var written = []fault{
	{"v1_chip", "wait on the counter of another slot", func(d *damaged) {
		c := (*d.nth(tile.Wait, 0)).Copy
		c.Arrived.Index = tile.Mod(tile.Plus(c.Arrived.Index, tile.Const(1)), 3)
	}},
	{"v1_chip", "wait for the block of another slot", func(d *damaged) {
		c := (*d.nth(tile.Wait, 0)).Copy
		c.To.Index[0] = tile.Mod(tile.Plus(c.To.Index[0], tile.Const(1)), 3)
	}},
	{"v1_chip", "wait for half the bytes", func(d *damaged) {
		for _, part := range []*tile.Part{&(*d.nth(tile.Wait, 0)).Copy.From, &(*d.nth(tile.Wait, 0)).Copy.To} {
			part.BlockSpec.Shape = []int{part.BlockSpec.Shape[0] / 2, part.BlockSpec.Shape[1]}
			part.Index[0] = tile.Times(part.Index[0], 2)
		}
	}},
	{"v1_chip", "a counts on the counters of b", func(d *damaged) {
		b := (*d.nth(tile.Wait, 1)).Copy.Arrived.Semaphore
		for i := range 3 {
			(*d.nth(tile.Start, 2*i)).Copy.Arrived.Semaphore = b
		}
	}},
	{"v1_chip", "two slots where three are needed", func(d *damaged) {
		for _, s := range d.about {
			c := (*s).Copy
			c.To.Index[0] = tile.Mod(c.To.Index[0], 2)
		}
	}},
	{"v1_chip", "all copies to one slot", func(d *damaged) {
		for _, s := range d.about {
			(*s).Copy.To.Index[0] = tile.Const(0)
		}
	}},
	{"v1_chip", "multiplied before it is waited for", func(d *damaged) {
		n := len(d.Body)
		d.Body[2], d.Body[n-2] = d.Body[n-2], d.Body[2]
	}},
	{"v1_chip", "started where the program before ends", func(d *damaged) {
		for i, s := range d.Body {
			if s.Kind == tile.When && len(s.Body) == 2 && i == 1 {
				s.Cond = tile.All()
				for _, start := range s.Body {
					c := start.Copy
					for _, x := range []*tile.IndexExpr{&c.From.Index[0], &c.From.Index[1]} {
						*x = tile.Const(0)
					}
				}
			}
		}
	}},
	{"v2_gather", "sent to the left, awaited from the left", func(d *damaged) {
		c := (*d.nth(tile.Start, 1)).Copy
		c.Device = tile.Mod(tile.Plus(c.Along, tile.Const(-1)), c.Along.Size)
	}},
	{"v2_gather", "neighbours that nobody waits for to begin", func(d *damaged) {
		for _, s := range d.about[:3] {
			*s = nothing(*s)
		}
	}},
	{"v2_gather", "both signals to the right, so that nothing is heard of who is written to", func(d *damaged) {
		(*d.nth(tile.Signal, 0)).Signal.Device = (*d.nth(tile.Signal, 1)).Signal.Device
	}},
	{"v2_gather", "one signal awaited of two", func(d *damaged) { (*d.nth(tile.Await, 0)).Count = 1 }},
	{"v2_gather", "three signals awaited of two", func(d *damaged) { (*d.nth(tile.Await, 0)).Count = 3 }},
	{"v2_gather", "what is sent counts on what arrives", func(d *damaged) {
		for _, s := range []*tile.Stmt{*d.nth(tile.Start, 1), *d.nth(tile.WaitSent, 0)} {
			s.Copy.Sent = s.Copy.Arrived
		}
	}},
	{"v2_gather", "the rows of another device sent on", func(d *damaged) {
		c := (*d.nth(tile.Start, 1)).Copy
		next := (*d.nth(tile.Wait, 1)).Copy.To
		c.From.Index[0], c.To.Index[0] = next.Index[0], next.Index[0]
	}},
	{"v3_ring", "one counter for all steps", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && (c.Remote() || c.From.Ref == c.To.Ref) {
				c.Arrived.Index = tile.Const(0)
			}
		}
	}},
	{"v3_ring", "rows that are here wait for those of the next step", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; (*s).Kind == tile.Wait && c.From.Ref == c.To.Ref {
				c.Arrived.Index = tile.Plus(c.Arrived.Index, tile.Const(1))
			}
		}
	}},
	{"v3_ring", "one slot of fast memory for two blocks", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.To.Ref.Name == "panel" {
				c.To.Index[0] = tile.Const(0)
			}
		}
	}},
	{"v3_ring", "sent to itself", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.Remote() {
				c.Device = c.Along
			}
		}
	}},
	{"v4_both", "both halves go right", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.Remote() {
				c.Device = tile.Mod(tile.Plus(c.Along, tile.Const(1)), c.Along.Size)
			}
		}
	}},
	{"v4_both", "both ways on one counter", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && (c.Remote() || c.From.Ref == c.To.Ref) {
				c.Arrived.Index = tile.FloorDiv(c.Arrived.Index, 2)
			}
		}
	}},
	{"v5_scatter", "sums written over before they have left", func(d *damaged) {
		*d.nth(tile.WaitSent, 0), *d.nth(tile.WaitSent, 1) = nothing(*d.nth(tile.WaitSent, 0)), nothing(*d.nth(tile.WaitSent, 1))
		last := *d.nth(tile.Start, 1)
		sent := *last
		sent.Kind = tile.WaitSent
		d.Body = append([]*tile.Stmt{}, d.Body...)
		d.Body = append(d.Body[:len(d.Body):len(d.Body)], &tile.Stmt{Kind: tile.When, Cond: tile.Not(d.Grid[0].Last()), Body: []*tile.Stmt{&sent}, Pos: last.Pos})
		for i, s := range d.Body { // started before the sums are stored
			if s.Kind == tile.When && len(s.Body) == 2 && s.Body[1].Kind == tile.Start && s.Body[0].Kind == tile.Store {
				s.Body[0], s.Body[1] = s.Body[1], s.Body[0]
				_ = i
			}
		}
	}},
	{"v5_scatter", "sums of all steps in one place", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.Remote() {
				c.To.Index[0] = tile.Const(0)
			}
		}
	}},
	{"v5_scatter", "added before they are here", func(d *damaged) {
		for _, s := range d.Body {
			if s.Kind == tile.When && len(s.Body) == 2 && s.Body[0].Kind == tile.Wait {
				s.Body[0], s.Body[1] = s.Body[1], s.Body[0]
			}
		}
	}},
	{"v5_scatter", "one row of blocks waits for another's", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; (*s).Kind == tile.Wait && c.From.Ref == c.To.Ref {
				c.Arrived.Index = tile.Mod(tile.Plus(c.Arrived.Index, tile.Const(1)), c.Arrived.Semaphore.Slots)
			}
		}
	}},
	{"v6_experts", "rows of one device where those of another belong", func(d *damaged) {
		c := (*d.nth(tile.Start, 0)).Copy
		c.To.Index[0] = tile.Mod(tile.Plus(c.To.Index[0], tile.Const(1)), 4)
	}},
	{"v6_experts", "products go back to the device behind", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.Remote() && c.From.Ref.Name == "out" {
				c.Device = tile.Mod(tile.Plus(c.Device, tile.Const(1)), 4)
			}
		}
	}},
	{"v6_experts", "products of all devices on one counter", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.Arrived.Semaphore.Name == "back" {
				c.Arrived.Index = tile.Mod(c.Arrived.Index, 4)
			}
		}
	}},
	{"v6_experts", "one slot of fast memory for two blocks", func(d *damaged) {
		for _, s := range d.about {
			if c := (*s).Copy; c != nil && c.To.Ref.Name == "panel" {
				c.To.Index[0] = tile.Const(0)
			}
		}
	}},
	{"v6_experts", "two of three others awaited to begin", func(d *damaged) { (*d.nth(tile.Await, 0)).Count = 2 }},
	{"v6_experts", "products written over before they have left", func(d *damaged) {
		for i, s := range d.Body {
			if s.Kind == tile.When && len(s.Body) == 1 && s.Body[0].Kind == tile.WaitSent {
				d.Body[i], d.Body[i+1] = d.Body[i+1], d.Body[i]
				break
			}
		}
	}},
}

// TestFaults: what is wrong about copies, waits and barriers is refused with the kernel's
// line, by Verify and by the interpreter; of the right programs nothing is.
func TestFaults(t *testing.T) {
	found := 0
	for _, k := range sharded.All {
		p := problem.Sharded{M: 64, K: 32, N: 64, Devices: 4, Dtype: tile.Float32, Way: problem.Gather}
		switch k.Name {
		case "v1_chip":
			p = problem.Sharded{M: 16, K: 32, N: 32, Devices: 1, Dtype: tile.Float32, Way: problem.Gather}
		case "v5_scatter":
			p.Way = problem.Scatter
		}
		programs, err := k.Build(p, "", tile.Blocks{M: 4, K: 8, N: 8})
		if err != nil {
			t.Fatal(err)
		}
		a, b := random(p, "a", 1), random(p, "b", 2)
		in := make([][]tile.Tensor, p.Devices)
		for d := range in {
			in[d] = []tile.Tensor{shards.Cut(p, "a", a)[d], shards.Cut(p, "b", b)[d]}
		}
		found += findFaults(t, k.Name, programs[0], in)
	}
	p := problem.Exchanged{Each: problem.Experts{Tokens: 11, Dim: 8, Experts: 8, Choices: 2, Capacity: 8, Order: problem.TopFirst, Dtype: tile.Float32}, N: 16, Devices: 4}
	programs, err := exchange.Kernel{}.Build(p, tile.Blocks{M: 4, N: 8})
	if err != nil {
		t.Fatal(err)
	}
	found += findFaults(t, exchange.Kernel{}.Name(), programs[0], drawn(t, p).in)
	if found < 30 {
		t.Errorf("%d faults found, want 30 at least", found)
	}
}

// findFaults damages a program of a kernel in every way, and returns how many are found.
func findFaults(t *testing.T, kernel string, p *tile.Program, in [][]tile.Tensor) (found int) {
	faults := generated(kernel, p)
	for _, f := range written {
		if f.kernel == kernel {
			faults = append(faults, f)
		}
	}
	for _, f := range faults {
		t.Run(kernel+"/"+f.name, func(t *testing.T) {
			d := harmed(p)
			f.harm(d)
			err := d.Verify()
			if err == nil {
				t.Fatalf("Verify accepts it:\n%s", d)
			}
			first, _, _ := strings.Cut(err.Error(), "\n")
			if !strings.HasPrefix(first, kernel+"/kernel.go:") && !strings.HasPrefix(first, "shards/shards.go:") {
				t.Errorf("without the kernel's line: %v", err)
			}
			t.Log(first)
			found++
			for _, early := range []bool{false, true} {
				if _, err := interp.RunMesh(context.Background(), []*tile.Program{d.Program}, in, interp.Options{EarlyCopies: early}); err == nil {
					t.Errorf("interp, early %v, accepts it", early)
				}
			}
		})
	}
	return found
}
