package problem

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matladder/tile"
)

// Rope asks for rotary position embeddings (Su et al., 2021): of each row of x (Batch,
// Heads, Rows, Dim) the first Rotary columns are pairs, which are points of a plane, and o
// has them turned by position · frequency of the pair; the columns behind stay. The position
// of a row is its number plus At.
//
//	o₁ = x₁ · cos − x₂ · sin
//	o₂ = x₂ · cos + x₁ · sin
//
// The pairs are (d, d + Rotary/2) (GPT-NeoX, Hugging Face's Llama) or, Interleaved,
// (2d, 2d + 1) (GPT-J, the original Llama). cos and sin come as float32 tables with a row
// for each position; products and sums are float32.
type Rope struct {
	Batch, Heads, Rows, Dim int
	Dtype                   tile.Dtype // of x and o: float32 or bfloat16
	Rotation
}

// Rotation is which columns are turned, and by which angles.
type Rotation struct {
	Rotary          int // 0 for all
	Interleaved     bool
	At              int     // position of the first row
	Base            float64 // 0 for 10000
	Scaling         RopeScaling
	Longer, Context int // of YaRN: how many times as long contexts are as the one trained on
}

// RopeScaling is how frequencies are changed for contexts beyond those trained on.
type RopeScaling string

// The scalings.
const (
	NoRopeScaling RopeScaling = ""
	Llama3        RopeScaling = "llama3" // of Llama 3.1
	YaRN          RopeScaling = "yarn"   // Peng et al., 2023
)

// RopeFamily is the family of Rope. What is asked is spelled as a dtype and, behind a colon,
// words joined by +: interleaved, rotary and a number of columns, at and a position, base and
// a number, llama3, yarn with the factor and the context trained on (yarn16,4096).
//
//	bfloat16
//	float32:interleaved+rotary64
//	bfloat16:base500000+llama3+at4095
var RopeFamily = &Family{
	Name: "rope", Title: "rotary position embeddings", Figure: PerBytes,
	Sizes:    []Size{{Name: "rows"}, {"heads", 8}, {"dim", 128}, {BatchSize, 1}},
	Dtypes:   []string{"float32", "bfloat16", "bfloat16:interleaved"},
	Examples: []string{"float32:interleaved+rotary32+at1000", "bfloat16:rotary32+base500000+llama3", "float32:yarn16,4096+at9000"},
	Sample:   Sizes{135, 2, 48, 1},
	Parse:    parseWords(completeRope),
	Complete: completeRope,
	Make:     fromWords(makeRope),
}

func completeRope(a Asked) (Asked, error) {
	if a.B != tile.InvalidDtype || a.Quant != NoQuant || a.Epilogue != "" {
		return a, fmt.Errorf("rope has one dtype of operands, and neither quantization nor epilogue")
	}
	if a.Out != tile.InvalidDtype && a.Out != a.A {
		return a, fmt.Errorf("o of rope is of the dtype of x, %s, not %s", a.A, a.Out)
	}
	return completed(makeRope(Sizes{1, 1, math.MaxInt32 - 1, 1}, a))
}

func makeRope(s Sizes, a Asked) (Rope, error) {
	p := Rope{Rows: s[0], Heads: s[1], Dim: s[2], Batch: s[3], Dtype: a.A}
	err := eachWord(a.Options, p.read)
	return p, err
}

// rotationWords are those of a Rotation, and rotationForm what they are for people.
var rotationWords = []word[Rotation]{
	flag("interleaved", func(p *Rotation) *bool { return &p.Interleaved }),
	count("rotary", "2", func(p *Rotation) *int { return &p.Rotary }),
	count("at", "0", func(p *Rotation) *int { return &p.At }),
	number("base", "want base and a number above 1, as in base500000", 1, 'f', func(p *Rotation) *float64 { return &p.Base }),
	{string(Llama3), "", func(p *Rotation, _ string) bool { p.Scaling = Llama3; return true }, func(p *Rotation) (string, bool) { return "", p.Scaling == Llama3 }},
	{string(YaRN), "want yarn, how much longer contexts are, and the one trained on, as in yarn16,4096", func(p *Rotation, rest string) bool {
		factor, context, two := strings.Cut(rest, ",")
		var wrong, wrong2 error
		p.Longer, wrong = strconv.Atoi(factor)
		p.Context, wrong2 = strconv.Atoi(context)
		p.Scaling = YaRN
		return two && wrong == nil && wrong2 == nil && p.Longer >= 1 && p.Context >= 1
	}, func(p *Rotation) (string, bool) { return fmt.Sprintf("%d,%d", p.Longer, p.Context), p.Scaling == YaRN }},
}

const rotationForm = "interleaved, rotary64, at4095, base500000, llama3 or yarn16,4096"

// read sets what one word says.
func (p *Rope) read(word string) error {
	err := readWord(rotationWords, &p.Rotation, word)
	if err == errUnread {
		return fmt.Errorf("%q: want %s, joined by +", word, rotationForm)
	}
	return err
}

// options are the words of p, in one order.
func (p Rotation) options() string { return saidWords(rotationWords, &p) }

// Turned is how many columns of a row are turned.
func (p Rope) Turned() int {
	if p.Rotary > 0 {
		return p.Rotary
	}
	return p.Dim
}

// Family is RopeFamily.
func (Rope) Family() *Family { return RopeFamily }

// Sizes are rows, heads, dim and batch.
func (p Rope) Sizes() Sizes { return Sizes{p.Rows, p.Heads, p.Dim, p.Batch} }

// Asked is all but the sizes.
func (p Rope) Asked() Asked {
	return Asked{A: p.Dtype, Acc: tile.Float32, Out: p.Dtype, Options: p.options()}
}

// Operands are x, the tables with a column for each pair, and o.
func (p Rope) Operands() []Operand {
	x, table := []int{p.Batch, p.Heads, p.Rows, p.Dim}, []int{p.Rows, p.Turned() / 2}
	return []Operand{
		{Name: "x", Dtype: p.Dtype, Shape: x},
		{Name: "cos", Dtype: tile.Float32, Shape: table}, {Name: "sin", Dtype: tile.Float32, Shape: table},
		{Name: "o", Dtype: p.Dtype, Shape: x, Out: true},
	}
}

// Sides are the rows of a block, or where there is only one its heads; its columns are all.
func (p Rope) Sides() []Side {
	if p.Rows == 1 {
		return []Side{{"heads", p.Heads, p.Dtype, 0}}
	}
	return []Side{{"rows", p.Rows, p.Dtype, 0}}
}

// FLOPs is 3 for each element that is turned: two products and a sum.
func (p Rope) FLOPs() int64 {
	return 3 * int64(p.Batch) * int64(p.Heads) * int64(p.Rows) * int64(p.Turned())
}

// Bytes are those of all operands, each once.
func (p Rope) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtype.
func (p Rope) String() string { return fmt.Sprintf("%s %s", RopeFamily.Short(p.Sizes()), p.Dtype) }

// Validate returns an error if the problem makes no sense on any machine.
func (p Rope) Validate() error {
	if err := positive(dim{"batch", p.Batch}, dim{"heads", p.Heads}, dim{"rows", p.Rows}, dim{"dim", p.Dim}); err != nil {
		return err
	}
	if 8*float64(p.Batch)*float64(p.Heads)*float64(p.Rows)*float64(p.Dim) > math.MaxInt64 {
		return fmt.Errorf("size %s overflows: its bytes do not fit 64 bits", short(p.Batch, p.Heads, p.Rows, p.Dim))
	}
	switch n := p.Turned(); {
	case n%2 != 0:
		return fmt.Errorf("rope turns pairs of columns: %d are none", n)
	case n > p.Dim:
		return fmt.Errorf("rope cannot turn %d of %d columns", n, p.Dim)
	}
	return floats(p.Dtype)
}

// Llama 3.1's scaling: frequencies whose waves are longer than the context trained on divided
// by the low factor are divided by the factor, those shorter than it divided by the high one
// stay, and between them both are mixed.
const (
	llama3Factor  = 8
	llama3Low     = 1
	llama3High    = 4
	llama3Context = 8192
)

// YaRN's bounds: pairs that turn more often than fast within the context trained on keep
// their frequency, and those that turn less often than slow have it divided by the factor.
const (
	yarnFast = 32
	yarnSlow = 1
)

// Frequency is by how much pair d turns from one position to the next, in radians.
func (p Rope) Frequency(d int) float64 {
	base := p.Base
	base = cmp.Or(base, 10000)
	turned := float64(p.Turned())
	f := math.Pow(base, -2*float64(d)/turned)
	switch p.Scaling {
	case Llama3:
		waves := llama3Context * f / (2 * math.Pi) // of the pair, in the context trained on
		keep := min(max((waves-llama3Low)/(llama3High-llama3Low), 0), 1)
		return f * (keep + (1-keep)/llama3Factor)
	case YaRN:
		// The pair, not a whole number, that turns so often within the context.
		pair := func(turns float64) float64 {
			return turned * math.Log(float64(p.Context)/(turns*2*math.Pi)) / (2 * math.Log(base))
		}
		first, last := max(math.Floor(pair(yarnFast)), 0), min(math.Ceil(pair(yarnSlow)), turned-1)
		if first == last {
			last += 0.001
		}
		divided := min(max((float64(d)-first)/(last-first), 0), 1)
		return f * (1 - divided + divided/float64(p.Longer))
	}
	return f
}

// Magnitude is what cos and sin are multiplied by: YaRN makes scores a little sharper in
// longer contexts.
func (p Rope) Magnitude() float64 {
	if p.Scaling == YaRN {
		return 0.1*math.Log(float64(p.Longer)) + 1
	}
	return 1
}

// CosSin are the numbers that pair d of row i turns by.
func (p Rope) CosSin(i, d int) (cos, sin float64) {
	angle, m := float64(p.At+i)*p.Frequency(d), p.Magnitude()
	return m * math.Cos(angle), m * math.Sin(angle)
}

// Pair is the pair that column j, one of those that are turned, is of.
func (p Rope) Pair(j int) int {
	if p.Interleaved {
		return j / 2
	}
	return j % (p.Turned() / 2)
}

// Columns are those of pair d.
func (p Rope) Columns(d int) (first, second int) {
	if p.Interleaved {
		return 2 * d, 2*d + 1
	}
	return d, d + p.Turned()/2
}
