package results

import (
	"fmt"
	"hash/maphash"
)

// keys are what must be unique among rows: (point, round, rep), as hashes, each with the
// line of the first row that has it. A collision among a million rows has a chance of
// about 1 in 40 million.
type keys struct {
	seed  maphash.Seed
	runs  bool // of each run by itself: files that were joined have those of several
	lines map[uint64]int32
}

func newKeys() keys { return keys{seed: maphash.MakeSeed(), lines: map[uint64]int32{}} }

func (k keys) of(r *Record) uint64 {
	run := ""
	if k.runs {
		run = r.RunID
	}
	return maphash.Comparable(k.seed, struct {
		run        string
		point      PointKey
		round, rep int
	}{run, r.Point(), r.Round, r.Rep})
}

// add takes a row up and returns the line of an earlier one of the same key, if there
// is one.
func (k keys) add(r *Record) (line int, again bool) {
	key := k.of(r)
	if line, again := k.lines[key]; again {
		return int(line), true
	}
	k.lines[key] = int32(r.Pos.Line)
	return 0, false
}

// repeated says that a row has the key of the one in line first.
func repeated(r *Record, first int) *SyntaxError {
	return &SyntaxError{r.Pos.File, r.Pos.Line, "rep", fmt.Sprintf("the same repetition as line %d: %s %s round %d rep %d", first, r.Kernel, r.Sizes(), r.Round, r.Rep)}
}
