package plots

import (
	"slices"

	"matladder/internal/each"
	"matladder/plots/figure"
	"matladder/stats"
)

// A Kind is a way to look at results.
type Kind string

// The kinds of picture; the table of kinds says what each shows.
const (
	Size      Kind = "size"
	Kernels   Kind = "kernels"
	Ladder    Kind = "ladder"
	Roofline  Kind = "roofline"
	Blocks    Kind = "blocks"
	Waterfall Kind = "waterfall"
	Dispatch  Kind = "dispatch"
	Compare   Kind = "compare"
	Errors    Kind = "error"
	Peers     Kind = "peers"
	Accuracy  Kind = "accuracy"
	Scaling   Kind = "scaling"
	Work      Kind = "work"
	Layers    Kind = "layers"
	Anatomy   Kind = "anatomy"
	Inputs    Kind = "inputs"
	Load      Kind = "load"
)

// A Scope is what one request for a kind covers.
type Scope int

// The scopes.
const (
	PerKernel Scope = iota // one kernel and dtype
	PerDtype               // all kernels of one dtype
	Whole                  // everything of a family
	All                    // everything
)

// A kindOf is one row of the table of kinds.
type kindOf struct {
	name     Kind
	scope    Scope
	allChips bool // one picture shows all chips; otherwise each has its own
	alike    bool // one picture shows one kind of inputs; otherwise its labels tell them apart
	pictures func(q Request, d data) ([]figure.Picture, error)
}

// table holds every kind, and behind each what it shows: to add one, add a row.
var table = []kindOf{
	{Size, PerKernel, false, false, sizePictures},          // rate against size, a line for each block shape
	{Kernels, PerDtype, false, false, kernelPictures},      // rate against size, a line for each kernel with its fastest blocks
	{Ladder, PerDtype, true, true, ladderPictures},         // bars at one size: % of peak, and times over the rung below; of several machines % of peak
	{Roofline, PerDtype, false, false, rooflinePictures},   // rate against arithmetic intensity at one size, under the roofs of memory and peak
	{Blocks, PerKernel, false, false, blockPictures},       // block shapes by size, coloured by rate; what is too big is hatched
	{Waterfall, PerDtype, false, false, waterfallPictures}, // one grid step by the step model, and the measured time beside it
	{Dispatch, PerDtype, false, false, dispatchPictures},   // device time of a launch beside the dispatch of a call
	{Compare, PerDtype, true, false, comparePictures},      // two runs: ratio of rates with interval and verdict
	{Errors, Whole, false, true, errorPictures},            // the error by K, in the dtype that rounds most
	{Peers, PerDtype, false, true, peersPictures},          // rate against size: the fastest kernel and other libraries, for each number of threads
	{Accuracy, Whole, false, false, accuracyPictures},      // error against rate, a point for each quantization of one shape
	{Scaling, PerDtype, false, false, scalingPictures},     // % of the peak against devices, a line for each way to spread a product over a mesh
	{Work, PerDtype, false, true, workPictures},            // rate against size, of what is asked beside what is computed for it, where they differ
	{Anatomy, Whole, false, true, anatomyPictures},         // the rate of one product with one pass of the CPU backend after another, and what limits each
	{Inputs, PerDtype, false, false, inputsPictures},       // the rate by what numbers the operands hold, against that of uniform ones, and power
	{Load, PerDtype, false, false, loadPictures},           // the rate against time under load, a line for each kernel and duty
	{Layers, All, false, true, layerPictures},              // where the time of a layer of a model goes, and how far each part is from its roof
}

// data is what the pictures of one request are made of, baseline included.
type data struct{ asked []stats.Summary }

// Kinds lists the kinds that exist.
func Kinds() []Kind { return each.Of(table, func(k kindOf) Kind { return k.name }) }

// Scope returns what one request for the kind covers.
func (k Kind) Scope() Scope { return k.row().scope }

// row returns the kind's row of the table, an empty one for an unknown kind.
func (k Kind) row() kindOf {
	if i := slices.IndexFunc(table, func(o kindOf) bool { return o.name == k }); i >= 0 {
		return table[i]
	}
	return kindOf{}
}
