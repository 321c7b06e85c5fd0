package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"matladder/machine"
	"matladder/tile"
)

// Limits of a launch on a GPU beside Memory, Compute and Overhead.
const (
	L2Cache      Limit = "L2 cache"      // bringing blocks from the L2 cache to the multiprocessors
	SharedMemory Limit = "shared memory" // bringing blocks in there, and from there to the units that multiply
	LastLevel    Limit = "last level"    // bringing blocks from the last-level cache to several L2 caches
)

// GPUWork is what one launch of one program asks of a GPU, on which every point of
// the Parallel axes is a thread block, and the Arbitrary ones are its loop.
type GPUWork struct {
	Programs int64 // thread blocks
	Steps    int64 // of the loop of each
	FLOPs    int64 // of one step of one block, what is padded included

	StepBytes    int64 // that a block loads in a step
	OnceBytes    int64 // that it loads once
	OutBytes     int64 // that it writes in the end
	RevisedBytes int64 // of output that it loads and stores in every step
	LeastBytes   int64 // of all inputs and outputs, each once

	// ArithmeticSeconds is what a step takes beside its products, and not at the same time,
	// on a multiprocessor of its own. Of programs On adds that of Operations.
	ArithmeticSeconds float64
	// Operations are those on float32 numbers, a step, in loops of the program and on the way
	// to its products. The model was fitted to kernels without.
	Operations int64

	Dots  []GPUDot // of a step
	Reads GPUReads // nil where that is not known, or of too many blocks
}

// GPUDot is one product, M×K by K×N, of elements of so many bits.
type GPUDot struct {
	M, N, K, BitsA, BitsB int64
	Times                 float64 // in a step
}

// GPUReads tells what a block reads of the inputs over all its steps, in the order in
// which blocks start; group is how they are numbered (GPULayout.Group).
type GPUReads func(group int, block int64, read func(GPURead))

// GPURead is a part of an input: blocks that read the same read it together.
type GPURead struct {
	Input int
	At    int64 // where it begins, in any unit
	Bytes int64
}

// sharedBytes is what a unit reads of shared memory for the product: four warps each
// read the part of a and b that their part of the output needs, a unit of more than a
// warp reads b for each of its own rows.
func (d GPUDot) sharedBytes(unit string) int64 {
	a, b := d.M*d.K*d.BitsA/8, d.K*d.N*d.BitsB/8
	switch unit {
	case GPUWGMMA:
		return a + (d.M+63)/64*b
	case GPUTCGen05:
		return a + (d.M+127)/128*b
	}
	return 2*a + 2*b
}

// gpuLoad is an input: which axes say what a program reads of it, and how much that
// is over all steps.
type gpuLoad struct {
	ref   *tile.Ref
	bytes int64
}

// GPUWorkOf counts a program's work. The error is ErrUncountable where only running
// the program would tell.
func GPUWorkOf(p *tile.Program) (GPUWork, error) {
	w := GPUWork{Programs: 1, Steps: 1}
	at := 0
	for i, a := range p.Grid {
		if a.Semantics == tile.Parallel && a.Size > 1 {
			at = i + 1
		}
	}
	grid, loads := p.Grid[:at], []gpuLoad(nil)
	for _, a := range grid {
		w.Programs *= int64(a.Size)
	}
	for _, a := range p.Grid[at:] {
		w.Steps *= int64(a.Size)
	}
	for _, r := range p.Refs {
		if r.Kind != tile.Scratch {
			w.LeastBytes += r.ArrayBytes()
		}
		if r.Kind != tile.In && r.Kind != tile.Out {
			continue
		}
		if !tile.TableFree(r.Index...) {
			return w, fmt.Errorf("%s: %s: %w", p.Name, r.Name, ErrUncountable)
		}
		block, moves := r.BlockBytes(), slices.ContainsFunc(p.Grid[at:], r.DependsOn)
		switch {
		case r.Kind == tile.Out:
			w.OutBytes += block
			if revised(p, r) && w.Steps > 1 {
				w.RevisedBytes += block
			}
			continue
		case moves:
			w.StepBytes += block
		default:
			w.OnceBytes += block
		}
		l := gpuLoad{ref: r, bytes: block}
		if moves {
			l.bytes *= w.Steps
		}
		loads = append(loads, l)
	}
	w.Reads = func(group int, id int64, read func(GPURead)) {
		env := tile.PointAt(grid, ids(grid, group, id)) // its loop is at its start
		for i, l := range loads {
			at := int64(0)
			for _, x := range l.ref.Index {
				at = at<<16 + int64(tile.Eval(x, env))
			}
			read(GPURead{i, at, l.bytes})
		}
	}
	w.statements(p.Body, 1)
	if w.FLOPs == 0 {
		return w, fmt.Errorf("%s: %w: no product", p.Name, ErrUncountable)
	}
	return w, nil
}

// statements counts what a body computes that runs so many times in a step.
func (w *GPUWork) statements(body []*tile.Stmt, times int) {
	for _, s := range body {
		if s.Kind == tile.Loop {
			w.statements(s.Body, times*s.Axis.Size)
			continue
		}
		w.statements(s.Body, times)
		if s.Value == nil {
			continue
		}
		computed := map[*tile.Expr]bool{}
		count := func(e *tile.Expr) {
			if e.Op.IsElementwise() && e.Op != tile.OpCast && !computed[e] {
				computed[e] = true
				w.Operations += int64(times) * tile.Elements(e.Shape)
			}
		}
		tile.WalkExpr(s.Value, func(e *tile.Expr) {
			if times > 1 {
				count(e)
			}
			if e.Op != tile.OpDot {
				return
			}
			for _, x := range e.Args {
				tile.WalkExpr(x, count)
			}
			o := e.Shape
			d := GPUDot{padded(o[0]), padded(o[1]), padded(e.Depth()), int64(e.Args[0].Dtype.Bits()), int64(e.Args[1].Dtype.Bits()), float64(times)}
			w.FLOPs += 2 * d.M * d.N * d.K * int64(times)
			w.Dots = append(w.Dots, d)
		})
	}
}

// padded is the dimension of a block as a GPU computes it: a power of two.
func padded(n int) int64 { return int64(max(16, 1<<bits.Len(uint(n-1)))) }

// revised reports whether a body adds to an output.
func revised(p *tile.Program, r *tile.Ref) (yes bool) {
	p.Walk(func(s *tile.Stmt) { yes = yes || s.Kind == tile.Accumulate && s.Ref == r })
	return yes
}

// GPULayout is how a compiler laid a program out on a GPU.
type GPULayout struct {
	BlocksPerCore int    // that share a multiprocessor
	Group         int    // programs of the second to last axis that go along the last together
	Threads       int    // of a block
	SpillBytes    int    // of a thread
	Resident      int64  // blocks that run at once, of a kernel whose programs stay and go from one to the next; 0 for all that fit
	Persistent    bool   // whether a block loads for its next place in the grid while it ends the last
	Specialized   bool   // whether warps of their own load
	AlongK        bool   // whether elements of b lie along k in memory, as those of a do
	Own           bool   // whether the kernel is one of this project
	Unit          string // the instructions of its products: GPUFMA, GPUMMA, GPUWGMMA or GPUTCGen05
}

// The units that multiply.
const (
	GPUFMA     = "fma"     // of single elements
	GPUMMA     = "mma"     // tensor cores, of a warp
	GPUWGMMA   = "wgmma"   // tensor cores, of four warps: Hopper
	GPUTCGen05 = "tcgen05" // tensor cores, of a block: Blackwell
	GPUMFMA    = "mfma"    // matrix cores, of a wave: AMD's
)

// GPUUnit has what is fitted of Triton's kernels that multiply with one unit. What belongs to the
// chip is in its machine.Device.
type GPUUnit struct {
	Rate         float64 // in the products' part of a step, of the rate that the device sustains
	OwnRate      float64 // the same, of this project's kernels
	AlongK       float64 // bytes in a clock that a multiprocessor loads of operands that lie along k
	StepSeconds  float64 // of a step of a block that shares its multiprocessor, beside what is shared
	BlockSeconds float64 // from the start of a block to its first product and from its last to its end
	Least, Most  float64 // of nine of ten held-out times, over the predicted
}

// GPUModel are the numbers of the model that are fitted to published measurements,
// see docs/prediction_gpu.md.
type GPUModel struct {
	Units         map[string]GPUUnit
	LaunchSeconds float64 // what a timer of single launches may see beside the device's time
}

// What the model takes as it is published, or as a round figure. The two of a clock are those of
// NVIDIA's GPUs, where a device has none of its own.
const (
	l2BytesPerClock = 64   // into one multiprocessor: 32 lanes of 2 bytes, half of what shared memory delivers
	memoryShare     = 0.86 // of the bandwidth of memory, where no vendor's products tell
	sustainedShare  = 0.78 // of the peak under load, where no vendor's products tell
	cachedShare     = 0.8  // of the L2 cache that inputs may fill and stay
	revisitSeconds  = 1e-6 // until a block that was stored can be loaded again
	convertLanes    = 10   // operations that round an element to TF32, on its way to a product
	lineBytes       = 128  // of memory that is read together
	shortRows       = 1.25 // times as long takes memory where a step reads less than a line of each row
	gpuOverlap      = 4    // how well memory and multiprocessors work at the same time
	// of a multiprocessor: 32 banks of 4 bytes at nine tenths of the highest clock, for what is spilled too
	sharedBytesPerClock = 128 * 0.9
	ownDevice           = "nvidia_h200" // whose rows OwnRate was fitted to
	spillPasses         = 8             // through shared memory, of what is spilled once
)

// GPUFit is the model as it was fitted.
var GPUFit = GPUModel{
	Units: map[string]GPUUnit{
		GPUFMA:     {0.68, 0.68, 64, 50e-9, 3e-6, 0.8, 1.3}, // of few rows, none held out
		GPUMMA:     {1, 1, 45, 35e-9, 1e-6, 0.8, 1.19},
		GPUWGMMA:   {0.9, 1.11, 36, 35e-9, 3.3e-6, 0.84, 1.2},
		GPUMFMA:    {0.95, 0.95, 0, 35e-9, 2.7e-6, 0.75, 1.6}, // carried over, nothing of AMD's was fitted
		GPUTCGen05: {0.8, 0.8, 57, 10e-9, 6e-6, 0.87, 1.41},
	},
	LaunchSeconds: 5e-6,
}

// Band is between which times nine of ten launches lie of which the model says seconds: as held-out rows
// of the unit did.
func (m GPUModel) Band(seconds float64, unit string) (least, most float64) {
	u := m.Units[unit]
	return u.Least * seconds, u.Most * seconds
}

// GPUTime is what the model says of one launch.
type GPUTime struct {
	Seconds float64
	Slowest float64 // Seconds, or more: of this project's kernel where it may be no faster than others
	Waves   float64 // of blocks over the multiprocessors
	Step    float64 // of the blocks that share a multiprocessor, each
	Cores   float64 // until the last block ends, if main memory were no limit
	Memory  float64 // that main memory takes, or the last-level cache where it takes longer
	Bytes   int64   // that it moves
	Limit   Limit
}

// Copy predicts how long it takes to read an array of so many bytes and to write it
// elsewhere, on a device whose bandwidth is known.
func (m GPUModel) Copy(bytes int64, d machine.Device) GPUTime {
	t := GPUTime{Memory: 2 * float64(bytes) / attained(d), Bytes: 2 * bytes, Limit: Memory}
	t.Seconds = m.Units[GPUFMA].BlockSeconds + t.Memory
	t.Slowest = t.Seconds
	return t
}

// On predicts how long w takes on a GPU, laid out as it was compiled:
//
//	time   = overlap(cores, memory)
//	cores  = Σ over waves: steps · step + block
//	step   = max(products at the unit's rate, blocks through the L2 cache, and through shared memory) + revisited output + spills
//	memory = bytes that the L2 cache does not have / bandwidth, or through several L2 caches where that takes longer
//
// A wave is as many blocks as all multiprocessors have at once; the last may be less full, and is
// then no shorter. The error names the figure of the device that is missing.
func (m GPUModel) On(w GPUWork, d machine.Device, l GPULayout, dtype, precision string) (GPUTime, error) {
	w, peak, moved, err := w.at(d, l, dtype, precision)
	if err != nil {
		return GPUTime{}, err
	}
	t := m.on(w, d, l, peak, moved)
	t.Slowest = t.Seconds
	if l.Own && d.Key != ownDevice {
		l.Own = false
		t.Slowest = max(t.Seconds, m.on(w, d, l, peak, moved).Seconds)
	}
	return t, nil
}

// gpuMoved are the bytes that main memory moves, and the last-level cache to and from several L2 caches.
type gpuMoved struct{ memory, fabric int64 }

// at is the work on a device: with what its arithmetic takes there, the peak of its products, and the
// bytes that are moved.
func (w GPUWork) at(d machine.Device, l GPULayout, dtype, precision string) (_ GPUWork, peak float64, moved gpuMoved, err error) {
	peak = d.PeakAt(dtype, precision).Value
	for _, f := range []struct {
		name string
		machine.Figure
	}{
		{"peak of " + dtype, d.PeakAt(dtype, precision)}, {"bandwidth", d.BandwidthBytesPerSecond}, {"clock", d.ClockHertz}, {"L2 cache", d.LastLevelCacheBytes},
	} {
		if !f.Known() {
			return w, 0, moved, fmt.Errorf("%s: no %s is known", d.Key, f.name)
		}
	}
	if w.Programs < 1 || l.BlocksPerCore < 1 || d.Cores < 1 {
		return w, 0, moved, errors.New("no blocks to predict")
	}
	if simple := d.PeakAt(tile.Float32.String(), machine.PrecisionHighest); simple.Known() { // of two operations in one
		if dtype == tile.Float32.String() && l.Unit != GPUFMA {
			for _, dot := range w.Dots {
				w.Operations += convertLanes * int64(dot.Times*float64((dot.M+dot.N)*dot.K))
			}
		}
		w.ArithmeticSeconds += float64(w.Operations) / (simple.Value / 2 / float64(d.Cores))
	}
	slots, group := l.slots(d), max(1, l.Group)
	moved.memory = w.memoryBytes(slots, group, cachedShare*d.LastLevelCacheBytes.Value)
	if d.L2Caches > 1 {
		moved.fabric = w.readBytes(slots, group, d.L2Caches, 0) + w.OutBytes*w.Programs
	}
	return w, peak, moved, nil
}

// attained is what copies reach of a device's memory.
func attained(d machine.Device) float64 {
	return cmp.Or(d.AttainedBytesPerSecond.Value, memoryShare*d.BandwidthBytesPerSecond.Value)
}

// slots is how many blocks run at once.
func (l GPULayout) slots(d machine.Device) int64 {
	slots := int64(d.Cores) * int64(l.BlocksPerCore)
	if l.Resident > 0 {
		return min(slots, l.Resident)
	}
	return slots
}

// on is On for a device that is known well enough, on which so many bytes are moved.
func (m GPUModel) on(w GPUWork, d machine.Device, l GPULayout, peak float64, moved gpuMoved) GPUTime {
	cores, slots, u := int64(d.Cores), l.slots(d), m.Units[l.Unit]
	rate, clock := u.Rate*peak/float64(cores), d.ClockHertz.Value
	if l.Own {
		rate *= u.OwnRate / u.Rate
	}
	if l.Unit == GPUMMA && d.WarpShare.Known() {
		rate *= d.WarpShare.Value
	} else if l.Unit != GPUFMA {
		rate *= cmp.Or(d.SustainedShare.Value, sustainedShare)
	}
	l2, fast := cmp.Or(d.L2BytesPerClock.Value, l2BytesPerClock)*clock, cmp.Or(d.FastBytesPerClock.Value, sharedBytesPerClock)*clock
	shared, alongK, flops, short := w.StepBytes, int64(0), float64(w.FLOPs), false
	for _, dot := range w.Dots {
		short = short || dot.K*dot.BitsA/8 < lineBytes
		if l.Unit == GPUTCGen05 && dot.M < 128 { // half of its rows multiply nothing
			flops += dot.Times * float64(2*dot.M*dot.N*dot.K)
		}
		shared += int64(dot.Times * float64(dot.sharedBytes(l.Unit)))
		alongK += int64(dot.Times * float64(dot.M*dot.K*dot.BitsA/8))
		if l.AlongK {
			alongK += int64(dot.Times * float64(dot.N*dot.K*dot.BitsB/8))
		}
	}
	alongK = min(alongK, w.StepBytes)
	loaded := float64(alongK)/cmp.Or(u.AlongK*clock, l2) + float64(w.StepBytes-alongK)/l2
	step := func(together int64) (seconds float64, limit Limit) {
		c := float64(together)
		seconds, limit = c*(flops/rate+w.ArithmeticSeconds), Compute
		if loads := c * loaded; loads > seconds {
			seconds, limit = loads, L2Cache
		}
		if through := c * float64(shared) / fast; through > seconds {
			seconds, limit = through, SharedMemory
		}
		if together > 1 && !l.Specialized {
			if seconds < c*u.StepSeconds {
				limit = Overhead
			}
			seconds += c * u.StepSeconds
		}
		if w.RevisedBytes > 0 {
			again := c*2*float64(w.RevisedBytes)/l2 + revisitSeconds
			if again > seconds {
				limit = L2Cache
			}
			seconds += again
		}
		return seconds + c*spillPasses*float64(l.SpillBytes*l.Threads)/fast, limit
	}
	t := GPUTime{Waves: float64(w.Programs) / float64(slots), Bytes: moved.memory}
	wave := func(blocks int64) {
		together := (blocks + cores - 1) / cores
		s, limit := step(together)
		edges := u.BlockSeconds / float64(together)
		if l.Persistent {
			edges = 0
		}
		t.Cores += float64(w.Steps)*s + edges + float64(together*(w.OutBytes+w.OnceBytes))/l2
		if t.Limit == "" {
			t.Step, t.Limit = s, limit
		}
	}
	full := w.Programs / slots
	if full > 0 {
		wave(slots)
		t.Cores *= float64(full)
	}
	if rest := w.Programs % slots; rest > 0 {
		wave(rest)
	}
	t.Memory = float64(moved.memory) / attained(d)
	if short {
		t.Memory *= shortRows
	}
	slower := Memory
	if moved.fabric > 0 && d.LastLevelBytesPerSecond.Known() {
		if through := float64(moved.fabric) / d.LastLevelBytesPerSecond.Value; through > t.Memory {
			t.Memory, slower = through, LastLevel
		}
	}
	if t.Memory > t.Cores {
		t.Limit = slower
	}
	t.Seconds = Overlap(t.Cores, t.Memory, gpuOverlap)
	return t
}

// memoryBytes is what main memory moves: every array once if the inputs stay in the L2 cache, else the
// outputs, and what waves of blocks read that the cache does not have of earlier ones.
func (w GPUWork) memoryBytes(slots int64, group int, cache float64) int64 {
	out, least := w.OutBytes*w.Programs, w.LeastBytes
	if float64(least-min(out, least)) <= cache || w.Programs <= slots {
		return least
	}
	return max(least, w.readBytes(slots, group, 1, cache)+out)
}

// readBytes is what waves of blocks read of the inputs through caches, to which blocks go in turn. What
// several blocks of a cache read counts once a wave, and not where the caches, of so many bytes together,
// have it of an earlier one; what was read longest ago gives way.
func (w GPUWork) readBytes(slots int64, group, caches int, cache float64) (bytes int64) {
	const most = 1 << 16 // programs to count one by one
	if w.Programs > most || w.Reads == nil {
		waves := math.Ceil(float64(w.Programs) / float64(slots))
		side := math.Sqrt(float64(slots) * float64(caches)) // of squares of blocks, which grouping comes near
		return int64(waves * side * float64(w.OnceBytes+w.Steps*w.StepBytes))
	}
	type part struct {
		GPURead
		cache int64
	}
	type kept struct {
		bytes int64
		wave  int64 // that read it last
	}
	type queued struct {
		part
		wave int64
	}
	held := int64(0)
	seen, order := map[part]kept{}, []queued(nil)
	for id := int64(0); id < w.Programs; id++ {
		wave := id / slots
		for ; id%slots == 0 && float64(held) > cache && len(order) > 0; order = order[1:] {
			oldest := order[0]
			if k := seen[oldest.part]; k.wave > oldest.wave {
				order = append(order, queued{oldest.part, k.wave})
			} else {
				held -= k.bytes
				delete(seen, oldest.part)
			}
		}
		w.Reads(group, id, func(r GPURead) {
			n := r.Bytes
			r.Bytes = 0
			p := part{r, id % int64(caches)}
			k := seen[p]
			bytes, held = bytes+max(0, n-k.bytes), held+max(0, n-k.bytes)
			if k.bytes == 0 {
				order = append(order, queued{p, wave})
			}
			seen[p] = kept{max(n, k.bytes), wave}
		})
	}
	return bytes
}

// ids are the places of a block along the axes: the last two axes of more than one
// go in groups, as package lower/triton numbers them.
func ids(axes []*tile.Axis, group int, id int64) []int {
	out := make([]int, len(axes))
	var long []int
	for i, a := range axes {
		if a.Size > 1 {
			long = append(long, i)
		}
	}
	rest := int(id)
	if len(long) > 1 {
		i, j := long[len(long)-2], long[len(long)-1]
		long = long[:len(long)-2]
		ni, nj := axes[i].Size, axes[j].Size
		in := rest % (ni * nj)
		rest /= ni * nj
		group = min(group, ni)
		g := in / (group * nj)
		size := min(ni-g*group, group)
		in %= group * nj
		out[i], out[j] = g*group+in%size, in/size
	}
	for k := len(long) - 1; k >= 0; k-- {
		out[long[k]] = rest % axes[long[k]].Size
		rest /= axes[long[k]].Size
	}
	return out
}
