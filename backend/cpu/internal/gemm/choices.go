package gemm

// Choices are decisions of a table made otherwise than by its rules, which were found
// by measuring on some machines. The zero value leaves all to the rules; what a path
// cannot do is left to them too.
type Choices struct {
	B      ReadB // for all numbers of rows of a
	Run    int   // elements of k that a register tile runs over, at most; 0 for the rule
	PieceA int   // bytes of a that stay in L2 while panels of b pass; 0 for the rule

	quick int // rows of a up to which an InPlace is used, and then a quick one; 0 for the rule
}

// A ReadB is a way to read B, or none in particular.
type ReadB uint8

const (
	ReadByRule  ReadB = iota
	ReadPacked        // packed as a whole
	ReadTiles         // in place: register tiles read its rows
	ReadStreams       // in place: row of A after row of A, along its rows (GEMV)
	ReadPieces        // pieces of it are packed, one at a time
	ReadAlong         // in place: register tiles go along its rows and widen it, an InPlace
	ReadDots          // in place, its columns being rows of memory: products along these are summed
)

// AllRows is more than any a has: up to so many rows a way that is asked for pays.
const AllRows = 1 << 30

// With returns the table with choices.
func (k *Kernels) With(c Choices) *Kernels {
	if c == (Choices{}) {
		return k
	}
	with := *k
	with.choices = c
	seen := map[any]any{} // fields may share a path
	with.Float32 = choose(seen, k.Float32, c)
	with.BFloat16, with.WideBFloat16, with.PairsBFloat16 = choose(seen, k.BFloat16, c), choose(seen, k.WideBFloat16, c), choose(seen, k.PairsBFloat16, c)
	with.TilesBFloat16, with.ThinBFloat16 = choose(seen, k.TilesBFloat16, c), choose(seen, k.ThinBFloat16, c)
	with.Int8, with.TilesInt8, with.ThinInt8 = choose(seen, k.Int8, c), choose(seen, k.TilesInt8, c), choose(seen, k.ThinInt8, c)
	with.WideInt8, with.WideUint8 = choose(seen, k.WideInt8, c), choose(seen, k.WideUint8, c)
	return &with
}

func choose[S Source, C Sum](seen map[any]any, p *Path[S, C], c Choices) *Path[S, C] {
	if p == nil {
		return nil
	}
	if q, ok := seen[p]; ok {
		return q.(*Path[S, C])
	}
	q := *p
	q.blocking = q.blocking.with(c, p.KU)
	q.direct, q.stream = q.direct.with(c, p.KU, p.stream.run != nil), q.stream.with(c.B)
	q.dots = q.dots.with(c.B)
	q.Stored = q.Stored.with(c)
	seen[p] = &q
	return &q
}

func (x blocking) with(c Choices, ku int) blocking {
	if c.Run > 0 {
		x.steps = max(1, c.Run/ku)
	}
	if c.PieceA > 0 {
		x.bytes = c.PieceA
	}
	return x
}

// with makes a way pay for all rows that the kernel has, and others for none.
func (d directKernel[C]) with(c Choices, ku int, streams bool) directKernel[C] {
	if d.tile != nil && c.Run > 0 {
		d.steps = max(1, c.Run/ku)
		d.pieces.steps = min(d.pieces.steps, d.steps) // there they stay in L2
	}
	switch b := c.B; {
	case d.tile == nil:
	case b == ReadPacked:
		d.pays = 0
	case b == ReadTiles:
		d.pays, d.pieces.rows, d.pieces.close = AllRows, 0, 0
	case b == ReadStreams && streams:
		d.pays = AllRows
	case b == ReadPieces && d.pieces.steps > 0:
		d.pays, d.pieces.rows, d.pieces.close = AllRows, 1, 1
	}
	return d
}

func (s streamKernel[C]) with(b ReadB) streamKernel[C] {
	switch {
	case s.run == nil || b == ReadByRule || b == ReadAlong || b == ReadDots:
	case b == ReadStreams:
		s.pays = AllRows
	default:
		s.pays = 0
	}
	return s
}

func (d dotsKernel[C]) with(b ReadB) dotsKernel[C] {
	switch {
	case d.run == nil || b == ReadByRule:
	case b == ReadDots:
		d.pays = AllRows
	default:
		d.pays = 0
	}
	return d
}

// with has those that read b in the way asked for; others leave b to be widened first.
func (s Stored[C]) with(c Choices) Stored[C] {
	if c.B == ReadByRule && c.quick == 0 {
		return s
	}
	for _, p := range []**InPlace[C]{&s.Int4, &s.Int8, &s.Float8E4M3, &s.Float8E5M2} {
		if *p != nil {
			*p = (*p).with(c)
		}
	}
	return s
}

// with is an InPlace with choices; nil if they leave it out.
func (p *InPlace[C]) with(c Choices) *InPlace[C] {
	q := *p
	switch {
	case c.B == ReadByRule && q.quick.tile != nil:
		q.Pays = min(q.Pays, c.quick)
	case c.B == ReadAlong:
		q.Pays, q.pieces.rows = AllRows, 0
	case c.B == ReadPieces && q.pieces.tile != nil:
		q.Pays, q.pieces.rows = AllRows, 1
	default:
		return nil
	}
	return &q
}
