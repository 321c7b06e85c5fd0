// Package problem says what is asked of a kernel: which family of problems it is of, its
// sizes and dtypes, and whatever else the family leaves open; what a kernel is (Rung), and
// what one may know of a machine (Machine). It knows nothing of devices or time.
//
//	Family ─► Parse(dtypes and words), ParseSizes(sizes) ─► Make ─► Problem ─► what is asked, counted and stored
//
// Matmul is one family; its file says what quantization and epilogue are. To add a family
// of your own: a type that is a Problem, a Family around it, and a line in families.go.
package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/tile"
)

// Problem is one thing to compute. Its type is a plain struct that == compares and gob
// keeps: problems are keys of maps and cross to other processes.
type Problem interface {
	// Family is what the problem is one of.
	Family() *Family
	// Sizes are those of the family's names, in their order.
	Sizes() Sizes
	// Asked is everything but the sizes. Family().Make of both is the problem again.
	Asked() Asked
	// Operands are the arrays, inputs first, as they are stored.
	Operands() []Operand
	// Sides are what a block shape is a choice of: at most three.
	Sides() []Side
	// FLOPs is a count, for integers of operations.
	FLOPs() int64
	// Bytes are those of the operands, each once: the least that can move.
	Bytes() int64
	// Validate returns an error if the problem makes no sense on any machine.
	Validate() error
	// String names sizes and dtypes.
	String() string
}

// Operand is an array of a problem, known to kernels by its name.
type Operand struct {
	Name  string
	Dtype tile.Dtype
	Shape []int
	Out   bool
}

// Side is one side of a problem's block shapes. In their order they are M, K and N of
// tile.Blocks, and columns bm, bk and bn of the results:
//
//	matmul         bm, rows of a and o     bk, steps of k     bn, columns of b and o
//	attention      bq, rows of q and o     bk, keys and values    keys of a piece (Family.Pieces)
//	softmax, norm  rows of x and o
//
// People see and write the names of the family alone (--blocks, BlockForm). Three places
// with names are enough for these; a map of names in tile.Blocks would cost every kernel
// and table its plain comparison and gain nothing until a family has four.
type Side struct {
	Name  string     // as people write it: bm
	Size  int        // of the arrays: no block is longer
	Dtype tile.Dtype // of the array whose alignment it has to keep
	Dim   int        // 0 where it counts rows of that array, 1 for columns
}

// Elements counts those of all operands.
func Elements(p Problem) int64 {
	return each.Sum(p.Operands(), func(o Operand) int64 { return tile.Elements(o.Shape) })
}

// BytesOf are the bytes of all operands, each once.
func BytesOf(p Problem) int64 {
	return each.Sum(p.Operands(), func(o Operand) int64 { return o.Dtype.Bytes(tile.Elements(o.Shape)) })
}

// Words is everything of p that is neither size nor dtype and not usual, for people;
// after p.String() it names the problem whole.
func Words(p Problem) []string { return p.Asked().words() }

// Title is p.String() with Words.
func Title(p Problem) string { return strings.Join(append([]string{p.String()}, Words(p)...), " ") }

// Asked is everything of a problem but its sizes. Families use what they need of it; it
// is what rows of results hold beside sizes.
type Asked struct {
	A, B, Acc, Out tile.Dtype     // of the first and the second operand, of what sums are made in, and of the output; InvalidDtype where there is none
	Precision      tile.Precision // of float32 products
	Quant          Quant
	Epilogue       Epilogue
	Options        string // words of the family's own, joined by +
}

// String spells what is asked as in a sweep, for messages.
func (a Asked) String() string {
	s := a.A.String()
	same := func(d tile.Dtype) bool { return d == tile.InvalidDtype || d == a.A }
	if !same(a.B) {
		s += "×" + a.B.String()
	}
	if !same(a.Out) {
		s += "→" + a.Out.String()
	}
	for _, word := range a.words() {
		s += " " + word
	}
	return s
}

// Factor is the dtype whose peak, at Precision, bounds FLOPs: what the first operand is multiplied
// as.
func (a Asked) Factor() tile.Dtype {
	factor, _ := Matmul{A: a.A, B: a.B, Quant: a.Quant}.Factors()
	return factor
}

func (a Asked) words() []string {
	var list []string
	if a.Precision != tile.Default {
		list = append(list, "precision "+a.Precision.String())
	}
	return append(list, each.That([]string{string(a.Quant), string(a.Epilogue), a.Options}, isSaid)...)
}

// Figure is what a problem's speed is told in.
type Figure string

// The figures.
const (
	PerFLOPs Figure = "flops" // FLOP/s (OP/s of integers), against the peak of the dtype: of what multiplies
	PerBytes Figure = "bytes" // bytes/s of the least bytes that can move, against the bandwidth of memory: of what does little with each
)

// Sizes are the sizes of a problem in the order of its family's names; those behind are 0.
type Sizes [MostSizes]int

// MostSizes is how many sizes a family may name.
const MostSizes = 8

// A dim is a size with its name.
type dim struct {
	name string
	size int
}

// positive returns an error for the first size that is none.
func positive(dims ...dim) error {
	for _, d := range dims {
		if d.size < 1 {
			return fmt.Errorf("%s = %d: a size must be at least 1", d.name, d.size)
		}
	}
	return nil
}

// short is one number if all sizes are equal, else all joined by x.
func short(sizes ...int) string {
	if !slices.ContainsFunc(sizes, func(n int) bool { return n != sizes[0] }) {
		return strconv.Itoa(sizes[0])
	}
	return joined(sizes)
}

func joined(sizes []int) string { return strings.Join(each.Of(sizes, strconv.Itoa), "x") }
