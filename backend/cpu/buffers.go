package cpu

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// region is a part of some memory, on a boundary of a cache line.
type region struct{ off, size int }

func (r region) of(mem []byte) []byte { return mem[r.off : r.off+r.size : r.off+r.size] }

const cacheLine = 64 // bytes

// space hands out regions one after another.
type space struct{ size int }

func (s *space) region(n int) region {
	r := region{s.size, n}
	s.size += ceil(n, cacheLine) * cacheLine
	return r
}

const (
	rowTarget       = 144       // rows of a piece: of a this deep fits L2 beside b
	tempBytes       = 8 << 20   // of the product before an epilogue
	tilesTarget     = 256       // rowTarget of tiles, which divide A themselves
	tilesBytes      = 1 << 20   // tempBytes of tiles: all of a product is in L2 when it is written
	chunkBytes      = 4 << 20   // of b packed chunk by chunk
	deepBytes       = 2 << 20   // of b packed with all of k: of 1 to 8 MiB as fast as any, and by 3 % than one beyond L3
	deepPanels      = 8         // of b packed with all of k, if they take more than that: rows of memory are read along them
	tilesPieceBytes = 512 << 10 // of b packed chunk by chunk for tiles: it stays in L2
)

// vectorLanes is how many elements a row vector has.
const vectorLanes = 1024

// buffers gives every piece of memory but the arrays its place.
func buffers(p *plan) error {
	var shared, local space
	allSteps(p.steps, func(s *step) {
		if len(s.dots) > 0 {
			p.sizePieces(s)
		}
	})
	for _, o := range p.operands {
		switch o.keep {
		case keepAll, keepGroup:
			if o.why != whyPacked {
				o.mem = shared.region(o.slots * o.block)
			}
		case keepOwn:
			o.mem = local.region(o.slots * o.block)
		case keepUnpacked:
			if o.widened() {
				o.sizeWide()
				o.mem = local.region(o.depth * o.wideStride() * o.packing.widening.size)
			}
		case keepPiece:
			chunks := 1
			if o.deep {
				chunks = ceil(o.k, o.depth)
			}
			o.chunk = ceil(o.piece, o.packing.lanes) * o.packing.panel(o.depth)
			o.mem = local.region(chunks * o.chunk)
		}
	}
	work := 0
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if work = max(work, d.product.work); p.operands[d.b].keep == keepUnpacked {
				work = max(work, d.product.directWork(s.rows, p.strideOf(p.operands[d.b])))
			}
			if d.scales != nil {
				d.scales.size(s.rows, s.cols, &local)
			}
			if !s.direct {
				d.ld = scratchStride(s.cols)
				d.temp = local.region(s.rows * d.ld * 4)
			}
		}
	})
	p.sums = local.region(work)
	p.scratch = make([]region, len(p.refs))
	for i := range p.refs {
		if r := &p.refs[i]; r.Kind == tile.Scratch && !r.merged {
			if r.Dtype.Bits()%8 != 0 {
				return p.unsupported(r.Pos, "scratch %s of %s", r.Name, r.Dtype)
			}
			p.scratch[i] = local.region(r.rows * r.ld * r.Dtype.Bits() / 8)
		}
	}
	p.rows = local.region(p.vectors * vectorLanes * 4)
	p.sharedBytes, p.localBytes = shared.size, local.size
	return nil
}

// sizePieces chooses how much of a product is computed at once: all of it, if
// both operands are kept packed and there is no epilogue.
func (p *plan) sizePieces(s *step) {
	laneRows, laneCols := 1, 1
	s.rows, s.cols = p.refs[s.dst].rows, p.refs[s.dst].cols
	pieces := !s.direct
	for _, d := range s.dots {
		a, b := p.operands[d.a], p.operands[d.b]
		laneRows, laneCols = lcm(laneRows, a.packing.lanes), lcm(laneCols, b.packing.lanes)
		pieces = pieces || a.keep == keepPiece
		if b.keep == keepPiece {
			p.sizeDeep(b)
			s.cols = min(s.cols, b.piece)
		}
	}
	target, most := rowTarget, tempBytes
	if len(s.dots) > 0 && s.dots[0].product.b.words > 1 {
		target, most = tilesTarget, tilesBytes
	}
	if pieces {
		panels := ceil(s.rows, laneRows)
		s.rows = ceil(panels, ceil(panels*laneRows, max(target, laneRows))) * laneRows
	}
	if !s.direct {
		s.cols = min(s.cols, most/4/s.rows)
	}
	if s.cols < p.refs[s.dst].cols {
		s.cols = max(s.cols/laneCols, 1) * laneCols
	}
	if s.strip > 0 {
		s.rows = s.strip
	}
	for _, d := range s.dots {
		if a := p.operands[d.a]; a.keep == keepPiece {
			a.piece = max(a.piece, s.rows)
		}
		if b := p.operands[d.b]; b.keep == keepPiece {
			b.piece = max(b.piece, s.cols)
		}
	}
}

// sizeDeep chooses the piece of a b that is not kept: some panels with all of k, as
// far as the memory left allows, or else one chunk of k at a time; for tiles a chunk
// if k has several.
func (p *plan) sizeDeep(b *operand) {
	if b.piece > 0 {
		return
	}
	panel := b.packing.panel(b.depth)
	if b.packing.words > 1 && b.depth < b.k {
		b.piece = min(max(1, tilesPieceBytes/panel)*b.packing.lanes, b.lanes)
		return
	}
	whole := int64(ceil(b.k, b.depth)) * int64(panel)
	if n := min(p.spare/int64(p.tasks.workers), max(deepBytes, deepPanels*whole)) / whole; n > 0 {
		b.deep, b.piece = true, int(min(n*int64(b.packing.lanes), int64(b.lanes)))
	} else {
		b.piece = min(max(1, chunkBytes/panel)*b.packing.lanes, b.lanes)
	}
}

func lcm(a, b int) int { return a / gcd(a, b) * b }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// A buffer is memory besides the arrays.
type buffer struct {
	what   string
	bytes  int
	shared bool // by all workers; else each has one
	used   int  // of bytes: the rest is never touched
}

// memory lists all buffers.
func (p *plan) memory() []buffer {
	var list []buffer
	add := func(what string, r region, shared bool) {
		if r.size > 0 {
			list = append(list, buffer{what, r.size, shared, r.size})
		}
	}
	for _, o := range p.operands {
		switch name := p.refs[o.ref].Name; o.keep {
		case keepAll, keepGroup:
			add(name+" packed", o.mem, true)
		case keepOwn:
			add(name+" packed", o.mem, false)
		case keepUnpacked:
			add("a widened piece of "+name, o.mem, false)
		default:
			add("a piece of "+name, o.mem, false)
		}
	}
	help := buffer{what: helpPiece, bytes: p.sums.size} // as MultiplyDirect does it
	p.eachDot(func(s shownStep, d *dot) {
		if d.product.work > 0 {
			help.what = helpSums
		}
		help.used = max(help.used, p.callOf(s.step, d).work())
	})
	if help.bytes > 0 {
		list = append(list, help)
	}
	temps := buffer{what: "pieces of products"}
	allSteps(p.steps, func(s *step) {
		for _, d := range s.dots {
			if d.scales != nil {
				add("scales of a piece", d.scales.mem, false)
			}
			temps.bytes += d.temp.size
		}
	})
	if temps.used = temps.bytes; temps.bytes > 0 {
		list = append(list, temps)
	}
	for i, r := range p.scratch {
		add("scratch "+p.refs[i].Name, r, false)
	}
	add(plural(p.vectors, "row vector"), p.rows, false)
	return list
}

// What memory helps products with.
const (
	helpPiece = "a piece of b, packed"
	helpSums  = "sums of tiles"
)

func (p *plan) tellBuffers() []string {
	var lines []string
	for _, s := range p.shown() {
		if len(s.dots) > 0 {
			lines = append(lines, fmt.Sprintf("%s in pieces of %d×%d", s.name, min(s.rows, p.refs[s.dst].rows), min(s.cols, p.refs[s.dst].cols)))
		}
	}
	var shared, own []string
	for _, b := range p.memory() {
		item := b.what + " " + kib(int64(b.bytes))
		switch {
		case b.used == 0:
			item += " (not used)"
		case b.used < b.bytes:
			item += fmt.Sprintf(" (%s of it used)", kib(int64(b.used)))
		}
		if b.shared {
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
