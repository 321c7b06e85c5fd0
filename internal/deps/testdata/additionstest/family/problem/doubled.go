package problem

import (
	"fmt"

	"matladder/tile"
)

// Doubled is o = 2·x.
type Doubled struct {
	Items, Parts int
	X            tile.Dtype
}

// DoubledFamily is the family of Doubled.
var DoubledFamily = &Family{
	Name: "doubled", Title: "doubled numbers", Figure: PerBytes,
	Sizes:  []Size{{Name: "items"}, {Name: "parts"}},
	Dtypes: []string{"float32"},
	Sample: Sizes{150, 190},
	Parse: func(words string) (Asked, error) {
		a, err := ParseDtypes(words)
		a.Out = a.A
		return a, err
	},
	Complete: func(a Asked) (Asked, error) { a.Out = a.A; return a, nil },
	Make:     func(s Sizes, a Asked) Problem { return Doubled{s[0], s[1], a.A} },
}

// Family is DoubledFamily.
func (Doubled) Family() *Family { return DoubledFamily }

// Sizes are items and parts.
func (p Doubled) Sizes() Sizes { return Sizes{p.Items, p.Parts} }

// Asked is all but the sizes.
func (p Doubled) Asked() Asked { return Asked{A: p.X, Out: p.X} }

// Operands are x and o.
func (p Doubled) Operands() []Operand {
	shape := []int{p.Items, p.Parts}
	return []Operand{{Name: "x", Dtype: p.X, Shape: shape}, {Name: "o", Dtype: p.X, Shape: shape, Out: true}}
}

// Sides are the items of a block.
func (p Doubled) Sides() []Side { return []Side{{Name: "items", Size: p.Items, Dtype: p.X}} }

// FLOPs is one for each element.
func (p Doubled) FLOPs() int64 { return int64(p.Items) * int64(p.Parts) }

// Bytes are those of x and o, each once.
func (p Doubled) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtype.
func (p Doubled) String() string { return fmt.Sprintf("%s %s", short(p.Items, p.Parts), p.X) }

// Validate returns an error if the problem makes no sense.
func (p Doubled) Validate() error { return positive(dim{"items", p.Items}, dim{"parts", p.Parts}) }
