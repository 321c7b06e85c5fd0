package cpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"matladder/backend/cpu/internal/gemm"
	"matladder/tile"
)

// A strategy is a way for products to read B.
type strategy struct {
	read gemm.ReadB
	word string // of --param b=
	what string // for people
	most int    // rows of A up to which it is worth a look of the tuner: twice those up to which it has paid on any machine
}

// strategies are all of them. Of a B that lies in memory as it is multiplied, each costs
// what its micro-kernel was measured to take (gemm.ReadCosts), and the cheapest is taken.
var strategies = []strategy{
	{gemm.ReadPacked, "packed", "packed whole", gemm.AllRows},
	{gemm.ReadTiles, "tiles", "read in place by register tiles", 96},
	{gemm.ReadStreams, "streams", "read in place along its rows", 8},
	{gemm.ReadPieces, "pieces", "packed piece by piece into L2", 256},
	{gemm.ReadAlong, "along", "read in place by register tiles, which widen it", 96},
}

// strategyOf is that which reads B in a way.
func strategyOf(read gemm.ReadB) strategy {
	return strategies[slices.IndexFunc(strategies, func(s strategy) bool { return s.read == read })]
}

func wordsOf(strategies []strategy) []string {
	var words []string
	for _, s := range strategies {
		words = append(words, s.word)
	}
	return words
}

// An option is a strategy for one B, and the seconds that one core would take of a launch,
// while others are at work too, for reading and multiplying all of it.
type option struct {
	strategy
	seconds float64
}

// options lists what there is for the B of a product, which so many rows of A meet in all,
// the cheapest first. There are none where B is asked for in one way, where it is
// transposed or widened, or where so many rows meet it that packing it is no matter: then
// it is packed, or read by the rules of widened elements. Nor where nothing may be
// measured.
func (p *plan) options(e *tile.Expr, a, b side, rows int) []option {
	same := a.Dtype == a.factor && b.Dtype == b.factor && multiplied(a.factor) == a.factor && a.factor == b.factor
	if !p.machine.measures || p.machine.choices.B != gemm.ReadByRule || e.TransB || !same || rows > gemm.MostRead {
		return nil
	}
	whole, thin := productOf(p.machine.kernels, a.factor, b.factor, a.Dtype, b.Dtype), productOf(p.machine.kernels.Thin(), a.factor, b.factor, a.Dtype, b.Dtype)
	if whole == nil || thin == nil || thin.readCosts == nil {
		return nil
	}
	rowsOfBlock := a.rows
	if e.TransA {
		rowsOfBlock = a.cols
	}
	together := min(rows, rowsOfBlock)
	apart := b.ld * b.Dtype.Bits() / 8
	costs := thin.readCosts(p.machine.workers, together, b.ArrayBytes(), apart)
	packed := whole.readCosts(p.machine.workers, together, b.ArrayBytes(), apart)[gemm.ReadPacked]
	var list []option
	for _, s := range strategies {
		c, ok := costs[s.read]
		if s.read == gemm.ReadPacked {
			c = packed
		}
		if ok {
			seconds := c.Pack + c.Multiply*float64(rows)/float64(together)
			list = append(list, option{s, seconds * float64(tile.Elements(b.Array))})
		}
	}
	slices.SortStableFunc(list, func(x, y option) int { return cmp.Compare(x.seconds, y.seconds) })
	return list
}

// tellOptions says what the strategies of a B were estimated to take.
func tellOptions(options []option) string {
	var s []string
	for i, o := range options {
		if i == 0 {
			s = append(s, seconds(o.seconds)+" of one core; rather than")
			continue
		}
		s = append(s, fmt.Sprintf("%s %s", o.what, seconds(o.seconds)))
	}
	if len(s) == 1 {
		return seconds(options[0].seconds) + " of one core; there is no other way"
	}
	return s[0] + " " + strings.Join(s[1:], ", ")
}

// seconds prints a time of some µs or ms.
func seconds(v float64) string {
	if v < 1e-3 {
		return fmt.Sprintf("%.3g µs", v*1e6)
	}
	return fmt.Sprintf("%.3g ms", v*1e3)
}

// kernelsFor are those that read B by the first of options, or by what was asked for.
func (p *plan) kernelsFor(options []option) *gemm.Kernels {
	if len(options) == 0 {
		return p.machine.kernels
	}
	c := p.machine.choices.Choices
	c.B = options[0].read
	return p.machine.kernels.With(c)
}
