package anatomy

import (
	"iter"
	"math"
)

// A Core is what limits a product on one core: nominal figures of makers' optimization guides,
// for the vectors of an instruction set.
type Core struct {
	Lanes   int     // float32 in a vector
	MR, NR  int     // of the backend's register tile
	FMAs    float64 // vectors multiplied and added a cycle
	Loads   float64 // a cycle
	Issue   float64 // instructions a cycle
	Latency float64 // cycles from one sum to the next
	Window  float64 // instructions in flight
	Misses  float64 // cache lines in flight
	Words   bool    // products take words of A out of vectors of a panel; else a load spreads each
	Levels  [4]Level
}

// A Level is a cache, or the memory behind the last one, and what it delivers to the one above.
type Level struct {
	Bytes, Ways int
	PerCycle    float64 // bytes that are read one after another
	Cycles      float64 // until a line arrives that no prefetcher foresees
}

// CoreOf is the core of an instruction set; ok is false where there is none. Figures are of
// Cascade Lake (AVX2, AVX-512) and of Neoverse N1.
func CoreOf(isa string) (c Core, ok bool) {
	c = Core{Lanes: 8, MR: 6, NR: 16, FMAs: 2, Loads: 2, Issue: 4, Latency: 4, Window: 224, Misses: 10,
		Levels: [4]Level{{32 << 10, 8, 128, 5}, {1 << 20, 16, 32, 14}, {32 << 20, 16, 10, 70}, {0, 0, 4, 250}}}
	switch isa {
	case "avx2":
	case "avx512", "amx":
		c.Lanes, c.MR, c.NR = 16, 12, 32
	case "neon":
		c.Lanes, c.MR, c.NR, c.Window, c.Words = 4, 12, 8, 128, true
		c.Levels = [4]Level{{64 << 10, 4, 32, 4}, {1 << 20, 8, 32, 11}, {32 << 20, 16, 11, 75}, {0, 0, 4, 250}}
	default:
		return Core{}, false
	}
	return c, true
}

// Counts are cycles of one core for each multiplication and addition, by what is busy: those of
// Limits, in their order.
type Counts [6]float64

// Limits are issuing instructions, waiting for the last sum, loading from L1, and the lines that
// other levels deliver.
var Limits = [...]string{"issue", "latency", "L1", "L2", "L3", "memory"}

// Limit names what is busy the longest, and its cycles.
func (c Counts) Limit() (what string, cycles float64) {
	for i, v := range c {
		if v > cycles {
			what, cycles = Limits[i], v
		}
	}
	return what, cycles
}

// Count counts a step of Steps for float32, m×k by k×n: instructions from its innermost loop, and
// cache lines by caches that see the addresses of its loops. What threads share is not counted.
func (c Core) Count(step, m, k, n int) Counts {
	issue, loads, latency := 8.0, 2.0, c.Latency // two loads, a product, a sum, an index, an address, a bound and a jump
	switch {
	case step == Order: // a store more; no address, no bound
		issue, latency = 7, 0
	case step > Order:
		rows, vectors := 1.0, float64(c.NR/c.Lanes)
		if step >= Registers {
			rows = float64(c.MR)
		}
		if loads = rows + vectors; step >= Packing && c.Words {
			loads = rows/float64(c.Lanes) + vectors
		}
		products, all := rows*vectors, rows*float64(c.NR)
		issue, loads, latency = max(products+loads+1, products*c.Issue/c.FMAs)/all, loads/all, latency/all
	}
	var missed [3]float64 // lines, by the last level that has not got them
	var caches [3]cache
	for i := range caches {
		caches[i] = cache{c.Levels[i].Ways, make([]int, c.Levels[i].Bytes/lineBytes)}
	}
	for line := range min((m*k+k*n+m*n)*wordBytes, 2*c.Levels[2].Bytes) / lineBytes { // what an earlier launch leaves
		caches[2].has(line)
	}
	const warm, window = 1 << 17, 1 << 18 // lines
	seen, all := 0, 0.0
	for line, part := range c.lines(step, m, k, n) {
		last := -1
		for last+1 < len(caches) && !caches[last+1].has(line) {
			last++
		}
		if seen++; seen > warm {
			if all += part; last >= 0 {
				missed[last]++
			}
		}
		if seen == warm+window {
			break
		}
	}
	// Lines a row apart come as late as they are far, as many at once as instructions in flight
	// ask for; those that follow each other come as fast as a level delivers.
	all = max(all, 1)
	flight := math.Inf(1)
	if step <= Registers && step != Order {
		flight = min(c.Misses, max(1, c.Window/issue*(missed[0]+missed[1]+missed[2])/all))
	}
	x := Counts{issue / c.Issue, latency, loads / c.Loads}
	for i, lines := range missed {
		x[3+i] = lines / all * max(lineBytes/c.Levels[i+1].PerCycle, c.Levels[i+1].Cycles/flight)
	}
	return x
}

const lineBytes, wordBytes = 64, 4

// lines are the cache lines that a step's loops touch, one after another and again from the start,
// each with the multiplications and additions that go with it.
func (c Core) lines(step, m, k, n int) iter.Seq2[int, float64] {
	rows, cols, kc, mc := 1, c.NR, k, 1
	if step >= Registers {
		rows, mc = c.MR, c.MR
	}
	switch {
	case step == Loops:
		cols = 1
	case step == Order: // for one element of A, all of a row
		kc, cols = 1, n
	case step >= Blocking: // as package gemm divides k and m
		kc = min(k, max(128, c.Levels[1].Bytes>>10))
		mc = max(1, c.Levels[1].Bytes*3/8/(kc*rows*wordBytes)) * rows
	}
	return func(yield func(int, float64) bool) {
		touch := func(word, words int, part float64) bool {
			for line := word * wordBytes / lineBytes; line <= ((word+words)*wordBytes-1)/lineBytes; line++ {
				if !yield(line, part) {
					return false
				}
				part = 0
			}
			return true
		}
		tile := func(i, j, l int) bool {
			if step >= Packing {
				return touch(i*k+l*rows, rows, 0) && touch(m*k+j*k+l*cols, cols, float64(rows*cols))
			}
			for r := range rows {
				if !touch((i+r)*k+l, 1, 0) {
					return false
				}
			}
			return touch(m*k+l*n+j, cols, float64(rows*cols)) && (step != Order || touch(m*k+k*n+i*n, n, 0))
		}
		tiles := (k + kc - 1) / kc * (n / cols) * (mc / rows) * kc // of a piece of m
		for at := 0; m >= mc && tiles > 0; at++ {
			l, i, j, l0 := at%kc, at/kc%(mc/rows)*rows, at/kc/(mc/rows)%(n/cols)*cols, at%tiles/(kc*(mc/rows)*(n/cols))*kc
			if l += l0; l < k && !tile(i+at/tiles%(m/mc)*mc, j, l) {
				return
			}
		}
	}
}

// A cache holds the lines of each set that were used last.
type cache struct {
	ways int
	tags []int // lines from 1, set by set, the last used first; 0 for none
}

// has reports whether a line is in the cache, and brings it.
func (c *cache) has(line int) bool {
	set := c.tags[line%(len(c.tags)/c.ways)*c.ways:][:c.ways]
	at := 0
	for at < c.ways-1 && set[at] != line+1 {
		at++
	}
	hit := set[at] == line+1
	copy(set[1:at+1], set[:at])
	set[0] = line + 1
	return hit
}
