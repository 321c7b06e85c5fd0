package cpu

import (
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// keep is where packed blocks of an operand stay.
type keep uint8

const (
	// keepPiece: nowhere; pieces are packed when the product needs them.
	keepPiece keep = iota
	// keepUnpacked: nothing is packed; the product reads the array.
	keepUnpacked
	// keepOwn: each worker keeps the last blocks it packed.
	keepOwn
	// keepAll: one cache for all workers holds every block of the array.
	keepAll
	// keepGroup: one cache for all workers holds the blocks that a group of
	// tasks needs; the groups run one after another.
	keepGroup
)

// Why an operand's blocks are kept as they are.
const (
	whyScratch = "scratch may change from step to step"
	whyOnce    = "no two programs see the same block"
	whyAll     = "all its blocks fit"
	whyGroup   = "not all its blocks fit, but those of a group of tasks"
	whyTask    = "the blocks of one task fit"
	whyLast    = "one block fits"
	whyColumns = "those of one column fit, and each worker has columns of its own"
	whyPacked  = "they are packed ahead of launches"
	whyBatch   = "those of one matrix fit, and each worker has matrices of its own"
	whyLarge   = "not even one block fits"
)

// defaultOwnBytes bounds what all workers together keep for themselves.
const defaultOwnBytes = 48 << 20

// placement decides what is kept of each operand's packed blocks. Blocks of b go to
// the shared cache if several tasks need them, or stay with the worker that goes
// along a column of the grid; blocks of a stay with the worker that goes along a
// row of it. What passes skinny and rows left unpacked stays so.
func placement(p *plan) error {
	p.ordered = p.machine.programOrder || p.needsProgramOrder()
	p.byColumns = p.byColumns && !p.ordered
	cache := p.machine.cacheBytes
	own := p.machine.ownBytes / int64(p.machine.workers) / int64(max(1, len(p.operands)))
	for _, o := range p.operands {
		r := &p.refs[o.ref]
		switch all := int64(o.block) * int64(r.blockCount()); {
		case o.keep == keepUnpacked:
		case o.isB && slices.Contains(p.machine.layout.Packed, r.Name):
			o.keep, o.slots, o.why = keepAll, r.blockCount(), whyPacked
		case r.Kind == tile.Scratch: // its values change, the number of its block does not
			o.keep, o.why = keepPiece, whyScratch
		case !p.reused(r) && o.lanes > o.packing.lanes:
			o.keep, o.why = keepPiece, whyOnce
		case o.isB && p.byColumns && int64(o.block)*int64(p.ownWindow(r)) <= own:
			o.keep, o.slots, o.why, o.room = keepOwn, p.ownWindow(r), whyColumns, own
		case o.isB && cache > 0 && p.ofBatch(r) && int64(o.block)*int64(p.ownWindow(r)) <= own:
			o.keep, o.slots, o.why, o.room = keepOwn, p.ownWindow(r), whyBatch, own
		case o.isB && all <= cache:
			o.keep, o.slots, o.why, o.room = keepAll, r.blockCount(), whyAll, cache
			cache -= all
		case o.isB && p.tasks.grouped == nil && p.groupSize(r, o, cache) > 0:
			o.keep, o.why, o.room = keepGroup, whyGroup, cache
			p.tasks.grouped, p.byColumns = o, false // a group is of inner axes, and b's are those
			p.tasks.group = p.groupSize(r, o, cache)
			o.slots = p.tasks.group * p.window(r)
			cache -= int64(o.slots) * int64(o.block)
		case int64(o.block)*int64(p.ownWindow(r)) <= own && p.machine.cacheBytes > 0:
			o.keep, o.slots, o.why, o.room = keepOwn, p.ownWindow(r), whyTask, own
		case int64(o.block) <= own:
			o.keep, o.slots, o.why, o.room = keepOwn, 1, whyLast, own
		default:
			o.keep, o.why, o.room = keepPiece, whyLarge, own
		}
	}
	p.spare = max(cache, own)
	for _, o := range p.operands {
		r := &p.refs[o.ref]
		o.follows = p.followEachOther(r) || o.keep == keepOwn && o.slots < p.window(r)
		if r := &p.refs[o.ref]; o.slots > 0 && !r.countedPacked {
			o.counts, r.countedPacked = true, true
		}
	}
	return nil
}

// ofBatch reports whether r changes along no parallel axis but those of a batch, so many
// that each worker has some to itself.
func (p *plan) ofBatch(r *ref) bool {
	for _, a := range p.program.Grid {
		if a.Semantics == tile.Parallel && r.dependsOn(a) && !p.isBatch(a) {
			return false
		}
	}
	return !p.ordered && p.machine.workers > 1 && p.extent(r, tile.Parallel) >= p.machine.workers
}

// reused reports whether several programs see the same block of r: surely where there are
// more programs than blocks.
func (p *plan) reused(r *ref) bool {
	programs := 1
	for _, a := range p.program.Grid {
		if a.Size > 1 && !r.dependsOn(a) {
			return true
		}
		programs *= a.Size
	}
	return programs > r.blockCount()
}

// window is how many blocks of r the programs of one task see.
func (p *plan) window(r *ref) int { return p.extent(r, tile.Arbitrary) }

// ownWindow is window, or how many blocks a table can name if those are fewer: what a
// worker keeps for itself has a slot by the number of its block.
func (p *plan) ownWindow(r *ref) int {
	n := p.window(r)
	if r.Kind == tile.Table || tile.TableFree(r.Index...) {
		return n
	}
	blocks := 1 // a table may name one again
	for d, x := range r.Index {
		if !tile.TableFree(x) {
			blocks *= r.blocks[d]
		}
	}
	return min(n, blocks)
}

// extent multiplies the sizes of the axes of one kind along which r changes.
func (p *plan) extent(r *ref, s tile.Semantics) int {
	n := 1
	for _, a := range p.program.Grid {
		if a.Semantics == s && r.dependsOn(a) {
			n *= a.Size
		}
	}
	return n
}

// followEachOther reports whether arbitrary axes change r's block along one dimension of
// the array, behind which there is one block.
func (p *plan) followEachOther(r *ref) bool {
	moves := false
	for d, x := range r.Index {
		if moves && r.blocks[d] > 1 {
			return false
		}
		tile.WalkIndex(x, func(x tile.IndexExpr) {
			if a, ok := x.(*tile.Axis); ok && a.Semantics == tile.Arbitrary && a.Size > 1 {
				moves = true
			}
		})
	}
	return moves
}

// groupSize is how many of the task coordinates that r depends on can have
// their blocks in a cache of the given bytes at once; 0 if the cache is off or
// r changes with every task.
func (p *plan) groupSize(r *ref, o *operand, cache int64) int {
	shared := false
	for _, a := range p.program.Grid {
		if a.Semantics == tile.Parallel && a.Size > 1 && !r.dependsOn(a) {
			shared = true
		}
	}
	if !shared || p.ordered {
		return 0
	}
	fit := cache / (int64(o.block) * int64(p.window(r)))
	return int(min(fit, int64(p.extent(r, tile.Parallel))))
}

func (p *plan) tellKept() []string {
	var lines []string
	for i, o := range p.operands {
		const pieces = "not kept: every use packs it, a piece at a time\t"
		how, blocks := "", plural(o.slots, "block")
		switch o.keep {
		case keepUnpacked:
			if how = "not packed\t"; slices.Contains(p.readsOf(i), gemm.ReadPieces) {
				how = pieces
			}
		case keepPiece:
			how = pieces
		case keepOwn:
			how = blocks + " kept by each worker, packed anew when it needs another\t"
		case keepAll:
			how = blocks + " kept for all workers, packed by all of them once a launch\t"
		case keepGroup:
			how = blocks + " kept for all workers, packed by all of them; the next phase packs others\t"
		}
		if how += o.why; o.room > 0 {
			how += " (limit " + kib(o.room) + ")"
		}
		lines = append(lines, p.nameOf(o)+"\t"+how)
	}
	if lines == nil {
		return []string{"nothing is packed"}
	}
	return aligned(lines)
}
