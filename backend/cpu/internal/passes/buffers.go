package passes

import (
	"slices"

	"matladder/backend/cpu/internal/memory"
	"matladder/backend/cpu/internal/plan"
	"matladder/internal/words"
	"matladder/tile"
)

const (
	rowTarget       = 144       // rows of a piece: of a this deep fits L2 beside b
	tempBytes       = 8 << 20   // of the product before an epilogue
	tilesTarget     = 256       // rowTarget of tiles, which divide A themselves
	tilesBytes      = 1 << 20   // tempBytes of tiles: all of a product is in L2 when it is written
	chunkBytes      = 4 << 20   // of b packed chunk by chunk
	partBytes       = 256 << 10 // of the product of a group's rows, before they are stored: b is packed in pieces for all of them, or read from L2
	deepBytes       = 2 << 20   // of b packed with all of k: 1 to 8 MiB are as fast as any, and 3 % faster than what exceeds L3
	deepPanels      = 8         // of b packed with all of k, if they take more than that: rows of memory are read along them
	shallowBytes    = 24 << 10  // of a product of few steps, which takes no longer than to write it: it stays in L1
	shallowSteps    = 16
	shortRow        = 256       // columns: rows of products have no gaps then, so that an epilogue takes them as one
	tilesPieceBytes = 512 << 10 // of b packed chunk by chunk for tiles: it stays in L2
)

// buffers gives every piece of memory but the arrays its place.
func buffers(p *plan.Plan) error {
	var shared, local memory.Space
	tell := func(b plan.Buffer) {
		if b.Bytes > 0 {
			p.Buffers = append(p.Buffers, b)
		}
	}
	own := func(what string, bytes int) memory.Region {
		tell(plan.Buffer{What: what, Bytes: bytes, Used: bytes})
		return local.Region(bytes)
	}
	plan.AllSteps(p.Steps, func(s *plan.Step) {
		if len(s.Dots) > 0 {
			sizePieces(p, s)
		}
	})
	for _, o := range p.Operands {
		name := p.Refs[o.Ref].Name
		switch o.Keep {
		case plan.KeepAll, plan.KeepGroup:
			if o.Why != plan.WhyPacked {
				o.Mem = shared.Region(o.Slots * o.Block)
				tell(plan.Buffer{What: name + " packed", Bytes: o.Mem.Size, Used: o.Mem.Size, Shared: true})
			}
		case plan.KeepOwn:
			o.Mem = own(name+" packed", o.Slots*o.Block)
		case plan.KeepUnpacked:
			if o.Widened() {
				sizeWide(o)
				o.Mem = own("a widened piece of "+name, o.Depth*o.WideStride()*o.Packing.Widening.Size)
			}
		case plan.KeepPiece:
			chunks := 1
			if o.Deep {
				chunks = tile.Ceil(o.K, o.Depth)
			}
			o.Chunk = tile.Ceil(o.Piece, o.Packing.Lanes) * o.Packing.Panel(o.Depth)
			o.Mem = own("a piece of "+name, chunks*o.Chunk)
		}
	}
	kept, work := len(p.Buffers), 0
	help, temps := plan.Buffer{What: plan.HelpPiece}, plan.Buffer{What: "pieces of products"} // help as gemm.MicroKernels.MultiplyDirect does it
	for s, d := range p.AllDots() {
		if work = max(work, d.Product.Work); p.Operands[d.B].Keep == plan.KeepUnpacked {
			work = max(work, d.Product.Unpacked.Work(min(s.Rows, p.Refs[s.Dst].Rows), p.StrideOf(p.Operands[d.B])))
		}
		if d.Product.Work > 0 {
			help.What = plan.HelpSums
		}
		help.Used = max(help.Used, p.CallOf(s, d).Work())
		if x := d.Scales; x != nil && !x.Plain {
			// Two factors of each row of a piece and then, panel by panel, those of columns and their terms.
			x.Rows, x.Cols, x.Mem = s.Rows, s.Cols, own("scales of a piece", 2*(s.Rows+s.Cols)*4)
		}
		if !s.Direct {
			if d.LD = scratchStride(s.Cols); s.Cols < shortRow && s.Cols == p.Refs[s.Dst].LD {
				d.LD = s.Cols
			}
			d.Temp = local.Region(s.Rows * d.LD * 4)
			temps.Bytes += d.Temp.Size
			temps.Used = temps.Bytes
		}
	}
	tell(temps)
	if p.Sums = local.Region(work); work > 0 {
		help.Bytes = work
		p.Buffers = slices.Insert(p.Buffers, kept, help)
	}
	p.Scratch = make([]memory.Region, len(p.Refs))
	for i := range p.Refs {
		if r := &p.Refs[i]; r.Kind == tile.Scratch && !r.Merged {
			if r.Dtype.Bits()%8 != 0 {
				return p.Unsupported(r.Pos, "scratch %s of %s", r.Name, r.Dtype)
			}
			p.Scratch[i] = own("scratch "+r.Name, r.Rows*r.LD*r.Dtype.Bits()/8)
		}
	}
	for _, x := range p.Wides {
		rows := 1
		plan.AllSteps(p.Steps, func(s *plan.Step) {
			if slices.Contains(s.Widens, x.Ref) || s.Keeps && s.Dst == x.Ref {
				rows = max(rows, s.Strip)
			}
		})
		x.Mem = own(p.Refs[x.Ref].Name+" widened", rows*p.Refs[x.Ref].Cols*4)
	}
	p.Rows = own(words.Count(p.Vectors, "row vector"), p.Vectors*plan.VectorLanes*4)
	p.SharedBytes, p.LocalBytes = shared.Size, local.Size
	return nil
}

// sizePieces chooses how much of a product is computed at once: all of it, if
// both operands are kept packed and there is no epilogue.
func sizePieces(p *plan.Plan, s *plan.Step) {
	laneRows, laneCols := 1, 1
	s.Rows, s.Cols = p.Refs[s.Dst].Rows, p.Refs[s.Dst].Cols
	pieces := !s.Direct
	for _, d := range s.Dots {
		a, b := p.Operands[d.A], p.Operands[d.B]
		laneRows, laneCols = plan.LCM(laneRows, a.Packing.Lanes), plan.LCM(laneCols, b.Packing.Lanes)
		pieces = pieces || a.Keep == plan.KeepPiece
		if b.Keep == plan.KeepPiece {
			sizeDeep(p, b)
			s.Cols = min(s.Cols, b.Piece)
		}
	}
	target, most := rowTarget, tempBytes
	if len(s.Dots) > 0 && s.Dots[0].Product.B.Words > 1 {
		target, most = tilesTarget, tilesBytes
	}
	switch {
	// Each piece of rows reads a b in place again: once for all rows that are stored, however few
	// of a block's.
	case s.Stmt.IsPart() && len(s.Dots) == 1 && p.Operands[s.Dots[0].B].Keep == plan.KeepUnpacked:
		target = s.Rows + laneRows
	case s.Stmt.IsPart():
		target = max(target, partBytes/4/s.Cols)
	case !s.Direct && s.Cols <= shortRow && len(s.Dots) == 1 && p.Operands[s.Dots[0].A].K <= shallowSteps:
		target = min(target, shallowBytes/4/s.Cols)
	}
	if pieces {
		panels := tile.Ceil(s.Rows, laneRows)
		s.Rows = tile.Ceil(panels, tile.Ceil(panels*laneRows, max(target, laneRows))) * laneRows
	}
	if !s.Direct {
		s.Cols = min(s.Cols, most/4/s.Rows)
	}
	if s.Cols < p.Refs[s.Dst].Cols {
		s.Cols = max(s.Cols/laneCols, 1) * laneCols
	}
	if s.Strip > 0 {
		s.Rows = s.Strip
	}
	for _, d := range s.Dots {
		if a := p.Operands[d.A]; a.Keep == plan.KeepPiece {
			a.Piece = max(a.Piece, s.Rows)
		}
		if b := p.Operands[d.B]; b.Keep == plan.KeepPiece {
			b.Piece = max(b.Piece, s.Cols)
		}
	}
}

// sizeDeep chooses the piece of a b that is not kept: some panels with all of k, as
// far as the memory left allows, or else one chunk of k at a time; for tiles a chunk
// if k has several.
func sizeDeep(p *plan.Plan, b *plan.Operand) {
	if b.Piece > 0 {
		return
	}
	panel := b.Packing.Panel(b.Depth)
	if b.Packing.Words > 1 && b.Depth < b.K {
		b.Piece = min(max(1, tilesPieceBytes/panel)*b.Packing.Lanes, b.Lanes)
		return
	}
	whole := int64(tile.Ceil(b.K, b.Depth)) * int64(panel)
	if n := min(p.Spare/int64(p.Tasks.Workers), max(deepBytes, deepPanels*whole)) / whole; n > 0 {
		b.Deep, b.Piece = true, int(min(n*int64(b.Packing.Lanes), int64(b.Lanes)))
	} else {
		b.Piece = min(max(1, chunkBytes/panel)*b.Packing.Lanes, b.Lanes)
	}
}
