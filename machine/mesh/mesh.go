// Package mesh says how a product is spread over devices: a mesh of named axes, and
// for each array the axes that its rows and columns are split over.
//
//	mesh.Parse("data=16,model=16") ─► Mesh ─┐
//	mesh.FindSharding("gather") ─► Sharding ─┴► Part: what device 17 has of array a
//
// It knows nothing of chips and wires (package machine), and of what moving costs (package model).
package mesh

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// The axes that a mesh may have.
const (
	Data    = "data"    // rows of A, the examples of a batch, are split over it
	Model   = "model"   // the weights B are split over it
	Expert  = "expert"  // the experts of a mixture are split over it
	Context = "context" // the tokens of a sequence are split over it
)

// Names are the axes of a mesh for one product.
var Names = []string{Data, Model}

// MaxDevices bounds a mesh: more than any pod has.
const MaxDevices = 1 << 20

// Axis is one dimension of a mesh.
type Axis struct {
	Name string
	Size int
}

// Mesh arranges devices: the last axis changes fastest from one to the next.
type Mesh []Axis

// Parse reads a mesh as data=16,model=16: each axis once, of the names given, or of Names.
func Parse(text string, names ...string) (Mesh, error) {
	if len(names) == 0 {
		names = Names
	}
	wrong := func(format string, args ...any) (Mesh, error) {
		return nil, fmt.Errorf("mesh %q: "+format, append([]any{text}, args...)...)
	}
	var m Mesh
	for _, item := range strings.Split(text, ",") {
		name, digits, ok := strings.Cut(strings.TrimSpace(item), "=")
		size, err := strconv.Atoi(digits)
		switch {
		case !ok:
			return wrong("want axes and sizes, such as data=16,model=16")
		case !slices.Contains(names, name):
			return wrong("unknown axis %q (known: %s)", name, strings.Join(names, ", "))
		case slices.ContainsFunc(m, func(a Axis) bool { return a.Name == name }):
			return wrong("axis %s is there twice", name)
		case err != nil || size < 1:
			return wrong("the size of axis %s, %q, is not a whole number from 1", name, digits)
		case size > MaxDevices/m.Devices():
			return wrong("more than %d devices", MaxDevices)
		}
		m = append(m, Axis{name, size})
	}
	return m, nil
}

// String is what Parse reads.
func (m Mesh) String() string {
	return strings.Join(each.Of(m, func(a Axis) string { return fmt.Sprintf("%s=%d", a.Name, a.Size) }), ",")
}

// Devices is how many there are.
func (m Mesh) Devices() int {
	n := 1
	for _, a := range m {
		n *= a.Size
	}
	return n
}

// Size is that of the axes of some names together; of an axis that m lacks it is 1.
func (m Mesh) Size(names ...string) int {
	n := 1
	for _, a := range m {
		if slices.Contains(names, a.Name) {
			n *= a.Size
		}
	}
	return n
}

// Smaller are meshes of the same axes from one device up to m, which is the last: each axis is half
// as long from one mesh to the one before, as long as it can be halved. Where fits, which may be
// nil, refuses such a mesh, it is the one with the most devices of those that it takes, have fewer,
// and whose axes divide the ones before; of several the one whose axes are most like them.
func (m Mesh) Smaller(fits func(Mesh) bool) []Mesh {
	list := []Mesh{m}
	for list[0].Devices() > 1 {
		half := slices.Clone(list[0])
		for i, a := range half {
			half[i].Size = 1
			if a.Size%2 == 0 {
				half[i].Size = a.Size / 2
			}
		}
		if fits != nil && !fits(half) {
			half = list[0].divided(half, fits)
		}
		list = slices.Insert(list, 0, half)
	}
	return list
}

// divided is, of the meshes whose axes divide those of m, the one that fits with the most
// devices, but no more than most has; one device if none does.
func (m Mesh) divided(most Mesh, fits func(Mesh) bool) Mesh {
	one := slices.Clone(m)
	for i := range one {
		one[i].Size = 1
	}
	var list []Mesh
	var each func(i int, d Mesh)
	each = func(i int, d Mesh) {
		if i == len(m) {
			list = append(list, slices.Clone(d))
			return
		}
		for f := 1; f <= m[i].Size && d.Devices()/d[i].Size*f <= most.Devices(); f++ {
			if m[i].Size%f == 0 {
				d[i].Size = f
				each(i+1, d)
			}
			d[i].Size = 1
		}
	}
	each(0, slices.Clone(one))
	uneven := func(d Mesh) (widest float64) { // how much more one axis shrinks than another
		for i := range m {
			for j := range m {
				widest = max(widest, float64(m[i].Size*d[j].Size)/float64(d[i].Size*m[j].Size))
			}
		}
		return widest
	}
	slices.SortStableFunc(list, func(a, b Mesh) int {
		return cmp.Or(b.Devices()-a.Devices(), cmp.Compare(uneven(a), uneven(b)))
	})
	for _, d := range list {
		if d.Devices() > 1 && fits(d) {
			return d
		}
	}
	return one
}

// place is where a device is on each axis.
func (m Mesh) place(device int) []int {
	at := make([]int, len(m))
	for i := len(m) - 1; i >= 0; i-- {
		at[i] = device % m[i].Size
		device /= m[i].Size
	}
	return at
}
