package mesh

import (
	"fmt"
	"slices"
	"strings"

	"matladder/internal/known"
)

// Split says, for each dimension of an array, over which axes it is split; the first of them is
// the outer one. An array is whole on all devices along the axes that it does not name.
type Split [2][]string

// Sharding is a way to spread a product O = A·B.
type Sharding struct {
	Name    string
	Help    string // what moves, in one line
	A, B, O Split
	// Inner is the axis over which each device has a part of the sums alone; "" if
	// each has whole ones.
	Inner string
}

// Shardings are the ways there are: rows of A are always split over data.
var Shardings = []Sharding{
	{
		Name: "split", Help: "columns of B and O over model: nothing moves",
		A: Split{{Data}, nil}, B: Split{nil, {Model}}, O: Split{{Data}, {Model}},
	}, {
		Name: "gather", Help: "rows of A over model too, columns of B and O: A is gathered, then multiplied",
		A: Split{{Data, Model}, nil}, B: Split{nil, {Model}}, O: Split{{Data}, {Model}},
	}, {
		Name: "scatter", Help: "columns of A and rows of B over model: sums are added up and their rows scattered over model",
		A: Split{{Data}, {Model}}, B: Split{{Model}, nil}, O: Split{{Data, Model}, nil}, Inner: Model,
	}, {
		Name: "reduce", Help: "columns of A and rows of B over model: sums are added up on every device",
		A: Split{{Data}, {Model}}, B: Split{{Model}, nil}, O: Split{{Data}, nil}, Inner: Model,
	},
}

// FindSharding returns the sharding of a name.
func FindSharding(name string) (Sharding, error) {
	return known.Find("sharding", name, Shardings, func(s Sharding) string { return s.Name })
}

// Of is how the array called a, b or o is split.
func (s Sharding) Of(array string) Split {
	switch array {
	case "a":
		return s.A
	case "b":
		return s.B
	}
	return s.O
}

// Local are the sizes of the product that each device multiplies, of one of m·k·n. The
// error names a size that the mesh does not divide.
func (s Sharding) Local(m Mesh, rows, inner, columns int) (localRows, localInner, localColumns int, err error) {
	for _, array := range []struct {
		name  string
		shape [2]int
	}{{"a", [2]int{rows, inner}}, {"b", [2]int{inner, columns}}, {"o", [2]int{rows, columns}}} {
		if _, err := m.Shape(array.name, array.shape, s.Of(array.name)); err != nil {
			return 0, 0, 0, err
		}
	}
	return rows / m.Size(Data), inner / m.Size(s.Inner), columns / m.Size(s.B[1]...), nil
}

// Shape is that of the part of an array that each device has. The error names the
// dimension that the mesh does not divide.
func (m Mesh) Shape(array string, shape [2]int, s Split) ([2]int, error) {
	for i, axes := range s {
		if parts := m.Size(axes...); shape[i]%parts != 0 {
			return shape, fmt.Errorf("%d %s of %s cannot be split evenly over %d devices (%s): parts of different sizes are not supported",
				shape[i], []string{"rows", "columns"}[i], array, parts, strings.Join(axes, " × "))
		} else {
			shape[i] /= parts
		}
	}
	return shape, nil
}

// Start is the first row and column of the part of an array that a device has, parts
// being of a shape.
func (m Mesh) Start(device int, part [2]int, s Split) (start [2]int) {
	at := m.place(device)
	for i, axes := range s {
		index := 0
		for _, name := range axes {
			if axis := slices.IndexFunc(m, func(a Axis) bool { return a.Name == name }); axis >= 0 {
				index = index*m[axis].Size + at[axis]
			}
		}
		start[i] = index * part[i]
	}
	return start
}
