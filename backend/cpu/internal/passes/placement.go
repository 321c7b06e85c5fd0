package passes

import (
	"slices"

	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/plan"
	"matladder/model/blocking"
	"matladder/tile"
)

// placement decides what is kept of each operand's packed blocks. Blocks of b go to
// the shared cache if several tasks need them, or stay with the worker that goes
// along a column of the grid; blocks of a stay with the worker that goes along a
// row of it. What passes skinny and rows left unpacked stays so.
func placement(p *plan.Plan) error {
	p.Ordered = p.Machine.ProgramOrder || needsProgramOrder(p)
	p.ByColumns = p.ByColumns && !p.Ordered
	cache, copied := p.Machine.CacheBytes, p.Program.Copied()
	own := OwnBytes(p.Machine.OwnBytes, p.Machine.Workers, len(p.Operands))
	for i, o := range p.Operands {
		r := &p.Refs[o.Ref]
		switch all := int64(o.Block) * int64(r.BlockCount()); {
		case o.Keep == plan.KeepUnpacked:
		case o.IsB && slices.Contains(p.Machine.Layout.Packed, r.Name):
			o.Keep, o.Slots, o.Why = plan.KeepAll, r.BlockCount(), plan.WhyPacked
		case o.IsB && r.Kind == tile.Scratch && !slices.Contains(copied, r.Ref) && int64(o.Block) <= own:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, 1, plan.WhyStored, own
			r.Packed = append(r.Packed, i)
		case r.Kind == tile.Scratch || p.Slots[r.Ref] != nil: // its values change, the number of its block does not
			o.Keep, o.Why = plan.KeepPiece, plan.WhyScratch
		case !reused(p, r) && o.Lanes > o.Packing.Lanes && !p.Machine.Choices.Whole:
			o.Keep, o.Why = plan.KeepPiece, plan.WhyOnce
		case o.IsB && p.ByColumns && int64(o.Block)*int64(ownWindow(p, r)) <= own:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, ownWindow(p, r), plan.WhyColumns, own
		case o.IsB && cache > 0 && ofBatch(p, r) && int64(o.Block)*int64(ownWindow(p, r)) <= own:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, ownWindow(p, r), plan.WhyBatch, own
		case o.IsB && cache > 0 && all <= own && packsAlone(p, i):
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, r.BlockCount(), plan.WhyAlone, own
		case o.IsB && !shared(p, r) && !tile.TableFree(r.Index...) && int64(o.Block) <= own:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, 1, plan.WhyNamed, own
		case o.IsB && all <= cache:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepAll, r.BlockCount(), plan.WhyAll, cache
			cache -= all
		case o.IsB && p.Tasks.Grouped == nil && groupSize(p, r, o, cache) > 0:
			o.Keep, o.Why, o.Room = plan.KeepGroup, plan.WhyGroup, cache
			p.Tasks.Grouped, p.ByColumns = o, false // a group is of inner axes, and b's are those
			p.Tasks.Group = groupSize(p, r, o, cache)
			o.Slots = p.Tasks.Group * window(p, r)
			cache -= int64(o.Slots) * int64(o.Block)
		case int64(o.Block)*int64(ownWindow(p, r)) <= own && p.Machine.CacheBytes > 0:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, ownWindow(p, r), plan.WhyTask, own
		case int64(o.Block) <= own:
			o.Keep, o.Slots, o.Why, o.Room = plan.KeepOwn, 1, plan.WhyLast, own
		default:
			o.Keep, o.Why, o.Room = plan.KeepPiece, plan.WhyLarge, own
		}
	}
	storedRows(p)
	p.Spare = max(cache, own)
	for _, o := range p.Operands {
		r := &p.Refs[o.Ref]
		o.Follows = o.Why == plan.WhyAlone || followEachOther(r) || o.Keep == plan.KeepOwn && o.Slots < window(p, r)
		if last := len(r.BlocksAlong) - 1; o.Keep == plan.KeepAll && o.Columns && r.RowDim == last-1 && r.ColDim == last {
			o.Down = [2]int{r.BlocksAlong[last-1], r.BlocksAlong[last]}
		}
		if o.Slots > 0 && !r.CountedPacked && r.Kind != tile.Scratch {
			o.Counts, r.CountedPacked = true, true
		}
	}
	return nil
}

// OwnBytes is what a worker may keep of one of so many operands, if all workers together
// may keep so many bytes.
func OwnBytes(all int64, workers, operands int) int64 {
	return all / int64(workers) / int64(max(1, operands))
}

// storedRows marks each A that one product alone uses, in a step that stores part of its rows:
// workers pack only the rows that they store.
func storedRows(p *plan.Plan) {
	users := make([]int, len(p.Operands))
	part := make([]bool, len(p.Operands))
	for s, d := range p.AllDots() {
		users[d.A]++
		part[d.A] = s.Stmt.IsPart()
	}
	for i, o := range p.Operands {
		o.StoredRows = o.Keep == plan.KeepOwn && !o.IsB && users[i] == 1 && part[i]
	}
}

// packsAlone reports whether each worker had better pack the blocks of operand i, a B, for
// itself than share them, by the costs that block shapes are ranked by.
func packsAlone(p *plan.Plan, i int) bool {
	o := p.Operands[i]
	r, d := &p.Refs[o.Ref], dotOf(p, i)
	sharing := min(p.Machine.Workers, p.Refs[p.Operands[d.A].Ref].BlockCount())
	copies := int64(p.Machine.Workers) * int64(o.Block) * int64(r.BlockCount())
	if p.Ordered || p.Machine.Figures == nil || sharing < 2 || copies > p.Machine.L3 || r.Kind != tile.In || d.Product.Path == nil {
		return false
	}
	s := p.Machine.Figures.CoreToCore()
	if !s.Known() {
		return false
	}
	costs := p.Machine.Figures.ReadCosts(d.Product, gemm.MostRead, r.ArrayBytes(), r.LD*r.Dtype.Bits()/8, 0)
	x := blocking.PackingOf(float64(o.Block), s)
	x.Alone, x.Hidden = costs[gemm.ReadPacked].Pack*float64(r.Rows*r.Cols), x.Fetch // multiplying takes longer
	_, alone := x.Best(sharing, true)
	return alone
}

// dotOf is the first product of operand i as its b.
func dotOf(p *plan.Plan, i int) *plan.Dot {
	for _, d := range p.AllDots() {
		if d.B == i {
			return d
		}
	}
	return nil
}

// ofBatch reports whether r changes along no parallel axis but those of a batch, so many
// that each worker has some to itself.
func ofBatch(p *plan.Plan, r *plan.Matrix) bool {
	within := func(a *tile.Axis) bool { return a.Semantics == tile.Parallel && r.DependsOn(a) && !isBatch(p, a) }
	return !slices.ContainsFunc(p.Program.Grid, within) && !p.Ordered && p.Machine.Workers > 1 && extent(p, r, tile.Parallel) >= p.Machine.Workers
}

// reused reports whether several programs see one block of r. They do where there are more
// programs than blocks.
func reused(p *plan.Plan, r *plan.Matrix) bool {
	along := func(a *tile.Axis) bool { return a.Size > 1 && !r.DependsOn(a) }
	return slices.ContainsFunc(p.Program.Grid, along) || int(p.Program.Steps()) > r.BlockCount()
}

// window is how many blocks of r the programs of one task see.
func window(p *plan.Plan, r *plan.Matrix) int { return extent(p, r, tile.Arbitrary) }

// ownWindow is window, or the number of blocks that a table can name if that is smaller: a
// worker keeps what is its own by the number of the block.
func ownWindow(p *plan.Plan, r *plan.Matrix) int {
	n := window(p, r)
	if r.Kind == tile.Table || tile.TableFree(r.Index...) {
		return n
	}
	blocks := 1 // a table may name one again
	for d, x := range r.Index {
		if !tile.TableFree(x) {
			blocks *= r.BlocksAlong[d]
		}
	}
	return min(n, blocks)
}

// extent multiplies the sizes of the axes of one kind along which r changes.
func extent(p *plan.Plan, r *plan.Matrix, s tile.Semantics) int {
	n := 1
	for _, a := range p.Program.Grid {
		if a.Semantics == s && r.DependsOn(a) {
			n *= a.Size
		}
	}
	return n
}

// followEachOther reports whether arbitrary axes move r's block along one dimension of the
// array. All later dimensions hold a single block.
func followEachOther(r *plan.Matrix) bool {
	moves := false
	for d, x := range r.Index {
		if moves && r.BlocksAlong[d] > 1 {
			return false
		}
		moves = moves || slices.ContainsFunc(tile.AxesIn(x), func(a *tile.Axis) bool { return a.Semantics == tile.Arbitrary && a.Size > 1 })
	}
	return moves
}

// shared reports whether several tasks see the same block of r.
func shared(p *plan.Plan, r *plan.Matrix) bool {
	return slices.ContainsFunc(p.Program.Grid, func(a *tile.Axis) bool { return a.Semantics == tile.Parallel && a.Size > 1 && !r.DependsOn(a) })
}

// groupSize is how many of the task coordinates that r depends on can have
// their blocks in a cache of the given bytes at once; 0 if the cache is off or
// r changes with every task.
func groupSize(p *plan.Plan, r *plan.Matrix, o *plan.Operand, cache int64) int {
	if !shared(p, r) || p.Ordered {
		return 0
	}
	fit := cache / (int64(o.Block) * int64(window(p, r)))
	return int(min(fit, int64(extent(p, r, tile.Parallel))))
}
