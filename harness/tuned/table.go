// Package tuned holds tables of block shapes that were found best on a machine, and
// with them parameters of the compilation where other than the backend's own were
// found faster, each with its evidence: how long it took, how sure that is, what came
// second and by how much, what the parameters gain, how many candidates were launched
// and what ended the search, under which versions and when.
//
//	configs/tuned/<machine>.yaml ─► Parse ─► Table ─► Lookup(key) ─► block shape, parameters and how they were found
//
// A key is what was asked (kernel, problem, dtypes); a look-up that finds no such key falls back
// in steps that its result names, so that a row of results can say that its blocks were tuned for
// something else. Cost tells what these steps cost on the shapes that are known.
//
// The package does not measure, chooses no candidates and keeps no second best
// table: a machine has one. Tables in the formats of other projects stay apart (Format).
package tuned

import (
	"cmp"
	"fmt"
	"slices"

	"matladder/internal/words"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Key is what a block shape is tuned for.
type Key struct {
	Kernel  string // Kernel.Name()
	Variant string
	Problem problem.Problem
}

// KeyOf returns the key of a kernel's variant on a problem.
func KeyOf(kernel, variant string, p problem.Problem) Key { return Key{kernel, variant, p} }

// sizeless is the key with all sizes 1: what a fallback may not change.
func (k Key) sizeless() Key {
	f := k.Problem.Family()
	var ones problem.Sizes
	for i := range f.Sizes {
		ones[i] = 1
	}
	k.Problem = f.Make(ones, k.Problem.Asked())
	return k
}

func (k Key) String() string {
	f, asked := k.Problem.Family(), k.Problem.Asked()
	sizes := k.Problem.Sizes()
	dtypes := asked.A.String()
	if asked.B != tile.InvalidDtype {
		dtypes += "×" + asked.B.String()
	}
	if asked.Out != tile.InvalidDtype {
		dtypes += "→" + asked.Out.String()
	}
	batch, precision := "", ""
	if n := f.Batch(sizes); n > 1 {
		batch = fmt.Sprintf("batch %d", n)
	}
	if asked.Precision != tile.Default {
		precision = "precision " + asked.Precision.String()
	}
	return words.Joined(" ", k.Kernel, f.Joined(sizes), dtypes, k.Variant, string(asked.Quant), string(asked.Epilogue), asked.Options, f.Rest(sizes), batch, precision)
}

// Modes of evidence.
const (
	Measured  = "measured"
	Predicted = "predicted"
)

// Evidence is why a block shape is in a table.
type Evidence struct {
	Mode      string                  // Measured or Predicted
	Seconds   float64                 // of a launch: the median, or the prediction
	Low, High float64                 // 95 % interval of Seconds; equal to it if predicted
	Samples   int                     // launches timed, in rounds with the others; 0 if predicted
	RunnerUp  tile.Blocks             // the second best; zero if there was one candidate
	Behind    float64                 // the runner-up's time over the winner's, less 1
	Tried     map[tile.Blocks]float64 // time over the winner's, of each candidate that was timed; the winner's is 1
	Confirmed Confirmation            // of the choice, if there was one to make; zero if predicted
	Adjusted  Adjustment              // of the parameters; zero if the backend has none to adjust, or the row does not say

	Candidates int    // block shapes that tile the arrays and fit; 0 if the row does not say
	Launched   int    // of these: were launched, or compiled to predict
	Ended      string // what ended the search: ByEvidence or ByBudget; "" if the row does not say

	Versions string // of matladder and of what compiled or ran the kernel
	Date     string // YYYY-MM-DD
}

// What ends a search.
const (
	ByEvidence = "evidence" // it came to its own end: the race was decided
	ByBudget   = "budget"   // time was up: candidates or rounds were left out
)

// Confirmation is how a choice was made between the fastest of a race and the fastest
// of those that are used where nothing is tuned, in paired rounds after the race. If the
// interval is above 1, the choice is faster than the rival; if not, the choice is one of
// those that are used where nothing is tuned, and the rival is not clearly faster.
type Confirmation struct {
	Rival            tile.Blocks // zero if there was none
	Ratio, Low, High float64     // the rival's time over that of the choice: the median with its 95 % interval
	Rounds           int
}

// Adjustment is why a row has parameters, or none: what the backend's compiler decides beyond
// block shapes was raced against other decisions. Seconds of a row with parameters are with them;
// its Tried, RunnerUp and Confirmed compare block shapes without.
type Adjustment struct {
	Tried           int     // other decisions that were timed
	Gain, Low, High float64 // how many times as fast as the fastest block shape without: the median with its 95 % interval, of paired rounds; 0 if the row has no parameters
	Rounds          int
}

// Row is a block shape for a key.
type Row struct {
	Key
	Blocks   tile.Blocks
	Params   string // of the compilation, as the column params of results spells them: "b=pieces k_run=256"; "" for none
	Evidence Evidence
	Comment  string // what people have written above it and behind it in the file, lines with their #
}

// Table is what is known of a machine, at most one row a key.
type Table struct {
	Machine string // name of the machine, as of MachineName
	Rows    []Row
	Comment string // what people have written above and below the rows, as that of a row
}

// MachineName names what a table is for: the device, and for a CPU also the
// instruction set and the threads that its kernels use.
func MachineName(d machine.Device, isa string, threads int) string {
	if d.Kind != machine.CPU {
		return d.Key
	}
	return fmt.Sprintf("%s_%s_%d", d.Key, isa, threads)
}

// Row returns the row of just this key.
func (t *Table) Row(k Key) (Row, bool) {
	i, found := t.find(k)
	if !found {
		return Row{}, false
	}
	return t.Rows[i], true
}

// find returns where the row of a key is or would be.
func (t *Table) find(k Key) (int, bool) {
	return slices.BinarySearchFunc(t.Rows, Row{Key: k}, compare)
}

// Offer puts a row unless an earlier one of its key is better founded, and reports
// whether it did. knew says that the row's search began with the earlier one in the
// table, so that it took part.
func (t *Table) Offer(r Row, knew bool) bool {
	if old, found := t.Row(r.Key); found && !r.supersedes(old, knew) {
		return false
	}
	t.Put(r)
	return true
}

// supersedes reports whether a row may take the place of an earlier one. If its search was not
// ended by the budget it may, unless that of the earlier one was not either and it did not know
// that. If it was, it may if that of the earlier one was too and launched no more candidates. And
// it may if it is shown to be faster: its block shape was confirmed and the earlier one's was
// slower than it, or its parameters were and the earlier one's block shape was not faster. One
// with parameters is compared with no other in that way, as block shapes are compared without.
func (r Row) supersedes(old Row, knew bool) bool {
	e, o := r.Evidence, old.Evidence
	return e.Ended != ByBudget && (knew || o.Ended == ByBudget) ||
		o.Ended == ByBudget && o.Launched <= e.Launched && o.Adjusted.Tried <= e.Adjusted.Tried ||
		old.Params == "" && (e.Confirmed.Low > 1 && e.Tried[old.Blocks] > 1 || e.Adjusted.Low > 1 && e.Tried[old.Blocks] >= 1)
}

// Put adds a row in the table's order, in place of an earlier one of its key, whose
// comment stays if the row has none.
func (t *Table) Put(r Row) {
	i, found := t.find(r.Key)
	if found {
		r.Comment = cmp.Or(r.Comment, t.Rows[i].Comment)
		t.Rows[i] = r
		return
	}
	t.Rows = slices.Insert(t.Rows, i, r)
}

// compare orders rows by kernel, then by what is asked, then by size: of sizes the first,
// which counts rows, last.
func compare(a, b Row) int {
	x, y := a.Problem, b.Problem
	p, q := x.Asked(), y.Asked()
	s, t := x.Sizes(), y.Sizes()
	return cmp.Or(
		cmp.Compare(familyWord(x), familyWord(y)),
		cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B), cmp.Compare(p.Out, q.Out),
		cmp.Compare(p.Precision, q.Precision), cmp.Compare(p.Quant, q.Quant), cmp.Compare(p.Epilogue, q.Epilogue), cmp.Compare(p.Options, q.Options),
		cmp.Compare(x.Family().Batch(s), y.Family().Batch(t)), slices.Compare(s[1:], t[1:]), cmp.Compare(s[0], t[0]),
	)
}

// familyWord is the family of a problem as rows name it: "" for the first.
func familyWord(p problem.Problem) string {
	if f := p.Family(); f != problem.Families()[0] {
		return f.Name
	}
	return ""
}
