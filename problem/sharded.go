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

// Operands are a, b and o, whole.
func (p Sharded) Operands() []Operand {
	return []Operand{
		{Name: "a", Dtype: p.Dtype, Shape: []int{p.M, p.K}},
		{Name: "b", Dtype: p.Dtype, Shape: []int{p.K, p.N}},
		{Name: "o", Dtype: p.Dtype, Shape: []int{p.M, p.N}, Out: true},
	}
}

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
