package cpu

import (
	"fmt"
	"strings"

	"matladder/tile"
)

// ref is a ref whose block is seen as a matrix of rows that lie ld elements
// apart; one of rank 1 is a row.
type ref struct {
	*tile.Ref
	rows, cols     int // of a whole block
	rowDim, colDim int // dimensions of the array that rows and columns run along; -1 for none
	strides        []int
	blocks         []int
	ld             int
	merged         bool // scratch that nothing is stored in any more
	countedPacked  bool // its blocks count as loaded when they are packed, not when they change
}

// matrices finds the matrix in each ref.
func matrices(p *plan) error {
	for _, r := range p.program.Refs {
		s := ref{Ref: r, rows: 1, cols: 1, rowDim: -1, colDim: -1}
		if r.Kind == tile.Table {
			s.cols = r.Array[0]
			p.refs = append(p.refs, s)
			continue
		}
		shape := r.Shape()
		switch len(shape) {
		case 0:
		case 1:
			s.cols, s.colDim = shape[0], r.ArrayDim(0)
		case 2:
			s.rows, s.rowDim = shape[0], r.ArrayDim(0)
			s.cols, s.colDim = shape[1], r.ArrayDim(1)
		default:
			return p.unsupported(r.Pos, "%s has a block of rank %d: at most 2", r.Name, len(shape))
		}
		if r.Kind == tile.Scratch {
			if s.ld = scratchStride(s.cols); s.cols == 1 && r.Dtype == tile.Float32 {
				s.ld = 1 // a column lies in one piece
			}
			p.refs = append(p.refs, s)
			continue
		}
		if s.colDim >= 0 && s.colDim != len(r.Array)-1 {
			return p.unsupported(r.Pos, "%s has a block whose rows are not contiguous in memory", r.Name)
		}
		s.strides = make([]int, len(r.Array))
		n := 1
		for i := len(r.Array) - 1; i >= 0; i-- {
			s.strides[i] = n
			n *= r.Array[i]
		}
		if strides := p.machine.layout.Strides[r.Name]; strides != nil {
			copy(s.strides, strides)
		}
		if s.rowDim >= 0 {
			s.ld = s.strides[s.rowDim]
		}
		s.blocks = r.Blocks()
		for _, x := range r.Index {
			if r.Kind == tile.Out && p.looksUpAcross(x) {
				return p.unsupported(r.Pos, "output %s is placed by a scalar table along a parallel axis", r.Name)
			}
		}
		p.refs = append(p.refs, s)
	}
	return nil
}

// scratchStride pads rows so that those of one column do not all fall into one
// set of the cache.
func scratchStride(cols int) int {
	const line = 16
	ld := (cols + line - 1) / line * line
	if ld%256 == 0 {
		ld += line
	}
	return ld
}

// looksUpAcross reports whether a table may send programs of several workers to one
// block. Programs along arbitrary axes are of one worker, which a table may send back
// and forth.
func (p *plan) looksUpAcross(x tile.IndexExpr) bool {
	found := false
	tile.WalkIndex(x, func(x tile.IndexExpr) {
		if l, ok := x.(tile.Lookup); ok {
			tile.WalkIndex(l.At, func(x tile.IndexExpr) {
				a, ok := x.(*tile.Axis)
				found = found || ok && a.Semantics == tile.Parallel && a.Size > 1
			})
		}
	})
	return found
}

// dim is the dimension of the array that the rows of a block are counted along,
// or else its columns; -1 for none.
func (r *ref) dim(rows bool) int {
	if rows {
		return r.rowDim
	}
	return r.colDim
}

// dependsOn reports whether r's block changes along grid axis a.
func (r *ref) dependsOn(a *tile.Axis) bool {
	found := false
	for _, x := range r.Index {
		tile.WalkIndex(x, func(x tile.IndexExpr) { found = found || x == tile.IndexExpr(a) })
	}
	return found
}

// blockCount is how many blocks the array has.
func (r *ref) blockCount() int {
	n := 1
	for _, b := range r.blocks {
		n *= b
	}
	return n
}

// inRow is a number of elements that blocks of r and rows of the array both begin
// at multiples of.
func (r *ref) inRow() int {
	n := r.ld
	for i := range r.Index {
		n = gcd(n, r.BlockSize(i)*r.strides[i])
	}
	return n
}

func (p *plan) tellRefs() []string {
	var lines []string
	for i := range p.refs {
		r := &p.refs[i]
		line := fmt.Sprintf("%s %s\t%s[%s]", r.Kind, r.Name, r.Dtype, by(r.Array, ", "))
		stride := r.Dtype.Bytes(int64(r.ld))
		switch r.Kind {
		case tile.Table:
			line += "\t\t"
		case tile.Scratch:
			line += fmt.Sprintf("\tone a worker\trows %d bytes apart", stride)
		default:
			line += fmt.Sprintf("\t%s of %s, %s\trows %d bytes apart", plural(r.blockCount(), "block"), by(r.Shape(), "×"), kib(r.BlockBytes()), stride)
		}
		lines = append(lines, line+"\t"+strings.Join(p.uses(i), ", "))
	}
	return aligned(lines)
}

// uses says in which ways ref i is met.
func (p *plan) uses(i int) []string {
	var uses []string
	use := func(s string) { uses = appendNew(uses, s) }
	r := &p.refs[i]
	if r.Kind == tile.Table {
		use("places blocks")
	}
	if r.merged {
		use("not stored")
	}
	for at, o := range p.operands {
		switch {
		case o.ref != i:
		case o.keep == keepUnpacked && o.widened():
			use("widened in pieces")
		case o.keep == keepUnpacked && !o.isB:
			use("loaded in place")
		case o.keep == keepUnpacked:
			for _, read := range p.readsOf(at) {
				use(strategyOf(read).what)
			}
		default:
			use("packed")
		}
	}
	allSteps(p.steps, func(s *step) {
		if s.kind == stepWhen || s.kind == stepAbreast || s.kind == stepStrips {
			return
		}
		outside(s.stmt.Value, func(e *tile.Expr) {
			switch {
			case e.Ref != r.Ref:
			case e.Op == tile.OpLoad:
				use("read along rows")
			case e.Op == tile.OpInBounds:
				use("asked for its extent")
			}
		})
		switch {
		case s.dst != i:
		case s.kind == stepFill:
			use("filled")
		case s.direct:
			use("written by the micro-kernel")
		default:
			use("written along rows")
		}
	})
	return uses
}
