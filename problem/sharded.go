package problem

import (
	"fmt"
	"math"
	"strings"

	"matladder/tile"
)

// Way is how a product is divided over devices.
type Way string

// The ways. Of a product of P devices each has
//
//	gather   rows of a (M/P×K), columns of b (K×N/P), columns of o (M×N/P): needs all of a
//	scatter  columns of a (M×K/P), rows of b (K/P×N), rows of o (M/P×N): has a part of each sum
const (
	Gather  Way = "gather"
	Scatter Way = "scatter"
)

// Sharded asks for one product of devices that each have a part of its operands:
//
//	o (M×N) = a (M×K) · b (K×N)
//
// Sums are float32; those that travel between devices too.
type Sharded struct {
	M, K, N int // of the whole product
	Devices int
	Dtype   tile.Dtype // of a, b and o: float32 or bfloat16
	Way     Way
}

// ShardedFamily is the family of Sharded. What is asked is spelled as a dtype, with :scatter
// behind it where the sums are scattered instead of a gathered. It is not registered: no
// sweep has a machine of many devices to measure it on.
var ShardedFamily = &Family{
	Name: "sharded", Title: "matrix products of several devices", Figure: PerFLOPs,
	Sizes:  []Size{{Name: "m"}, {Name: "k"}, {Name: "n"}, {"devices", 4}},
	Dtypes: []string{"float32", "bfloat16", "bfloat16:scatter"},
	Sample: Sizes{128, 64, 256, 4},
	Parse:  parseWords(completeSharded), Complete: completeSharded,
	Make: func(s Sizes, a Asked) Problem {
		return Sharded{M: s[0], K: s[1], N: s[2], Devices: s[3], Dtype: a.A, Way: wayOf(a)}
	},
}

func wayOf(a Asked) Way {
	if a.Options == "" {
		return Gather
	}
	return Way(a.Options)
}

func completeSharded(a Asked) (Asked, error) {
	if a.B != tile.InvalidDtype && a.B != a.A || a.Out != tile.InvalidDtype && a.Out != a.A || a.Quant != NoQuant || a.Epilogue != "" {
		return a, fmt.Errorf("a sharded product has one dtype, and neither quantization nor epilogue")
	}
	p := Sharded{1, 1, 1, 1, a.A, wayOf(a)}
	return p.Asked(), p.Validate()
}

// Whole is the product that the devices compute together.
func (p Sharded) Whole() Matmul { return New(p.M, p.K, p.N, p.Dtype) }

// Split is the dimension of a, b or o that is divided over the devices.
func (p Sharded) Split(name string) int {
	columns := map[Way]string{Gather: "bo", Scatter: "a"}
	if strings.Contains(columns[p.Way], name) {
		return 1
	}
	return 0
}

// Local is what shape of a, b or o one device has.
func (p Sharded) Local(name string) []int {
	for _, o := range p.Operands() {
		if o.Name == name {
			o.Shape[p.Split(name)] /= p.Devices
			return o.Shape
		}
	}
	return nil
}

// Family is ShardedFamily.
func (Sharded) Family() *Family { return ShardedFamily }

// Sizes are m, k, n and devices.
func (p Sharded) Sizes() Sizes { return Sizes{p.M, p.K, p.N, p.Devices} }

// Asked is all but the sizes.
func (p Sharded) Asked() Asked {
	a := Asked{A: p.Dtype, B: p.Dtype, Acc: tile.Float32, Out: p.Dtype}
	if p.Way != Gather {
		a.Options = string(p.Way)
	}
	return a
}

// Operands are a, b and o, whole.
func (p Sharded) Operands() []Operand {
	return []Operand{
		{Name: "a", Dtype: p.Dtype, Shape: []int{p.M, p.K}},
		{Name: "b", Dtype: p.Dtype, Shape: []int{p.K, p.N}},
		{Name: "o", Dtype: p.Dtype, Shape: []int{p.M, p.N}, Out: true},
	}
}

// Sides are those of a block of what one device multiplies at once.
func (p Sharded) Sides() []Side { return productSides(p.M, p.K, p.N, p.Dtype, p.Dtype) }

// FLOPs are those of all devices.
func (p Sharded) FLOPs() int64 { return p.Whole().FLOPs() }

// Bytes are those of all operands, each once.
func (p Sharded) Bytes() int64 { return BytesOf(p) }

// String is the sizes and the dtype.
func (p Sharded) String() string {
	return fmt.Sprintf("%s on %d devices %s", short(p.M, p.K, p.N), p.Devices, p.Dtype)
}

// Validate returns an error if the problem makes no sense on any machine.
func (p Sharded) Validate() error {
	if err := positive(dim{"m", p.M}, dim{"k", p.K}, dim{"n", p.N}, dim{"devices", p.Devices}); err != nil {
		return err
	}
	m, k, n := float64(p.M), float64(p.K), float64(p.N)
	if 8*m*k > math.MaxInt64 || 8*k*n > math.MaxInt64 || 8*m*n > math.MaxInt64 || 2*m*k*n > math.MaxInt64 {
		return fmt.Errorf("size %s overflows: its bytes or operations do not fit 64 bits", short(p.M, p.K, p.N))
	}
	if err := floats(p.Dtype); err != nil {
		return err
	}
	split := []dim{{"m", p.M}, {"n", p.N}}
	switch p.Way {
	case Gather:
	case Scatter:
		split = []dim{{"m", p.M}, {"k", p.K}}
	default:
		return fmt.Errorf("way %q: want %s or %s", p.Way, Gather, Scatter)
	}
	for _, d := range split {
		if d.size%p.Devices != 0 {
			return fmt.Errorf("%s = %d: %d devices cannot have equal parts of it: take a multiple of %d", d.name, d.size, p.Devices, p.Devices)
		}
	}
	return nil
}
