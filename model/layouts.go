package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/machine"
	"matladder/machine/mesh"
)

// FindSlice reads a slice of a pod as libtpu names it, v5e:16x16, or a chip alone, which is
// its whole pod. The error says what slices there are.
func FindSlice(text string) (machine.Device, []int, error) {
	name, shape, given := strings.Cut(text, ":")
	d, err := machine.Find(name)
	if err != nil {
		return d, nil, err
	}
	if len(d.Torus.Pod) == 0 || !d.LinkBytesPerSecond.Known() {
		return d, nil, fmt.Errorf("nothing is known of the links between chips of %s", d.CommonName())
	}
	if !given {
		return d, slices.Clone(d.Torus.Pod), nil
	}
	count, sides := 1, []int{}
	for _, word := range strings.Split(shape, "x") {
		side, err := strconv.Atoi(word)
		if err != nil || side < 1 || side > mesh.MaxDevices/count {
			return d, nil, fmt.Errorf("slice %q: want chips along each dimension, such as %s", shape, Placement{Chips: d.Torus.Pod}.Slice())
		}
		sides = append(sides, side)
		count *= side
	}
	if len(sides) != len(d.Torus.Pod) {
		return d, nil, fmt.Errorf("slice %q has %d dimensions, a pod of %s has %d: %s", shape, len(sides), d.CommonName(), len(d.Torus.Pod), Placement{Chips: d.Torus.Pod}.Slice())
	}
	slices.Sort(sides)
	if !slices.ContainsFunc(slices3(count, d.Torus), func(s []int) bool { return slices.Equal(s, sides) }) {
		rule := "sides are 1, 2 and 4 below 64 chips, and multiples of 4 from there on"
		if len(sides) == 2 {
			rule = "sides are powers of two, the longer at most twice the other"
		}
		return d, nil, fmt.Errorf("a pod of %s (%s) is not given out as %q: %s", d.CommonName(), Placement{Chips: d.Torus.Pod}.Slice(), shape, rule)
	}
	return d, sides, nil
}

// Layouts calls found with every way to lay a mesh of axes of some names along the
// dimensions of a slice, whatever sizes they then have, if wanted says so of these. Of
// axes that share a dimension the last runs fastest.
func Layouts(d machine.Device, sides []int, names []string, wanted func(mesh.Mesh) bool, found func(mesh.Mesh, Placement)) {
	slow, fast := d.Extremes()
	most := max(1, d.DevicesPerChip)
	ways := make([][][]int, len(sides)+1) // factors of each dimension, and of a chip's devices
	for i, side := range append(slices.Clone(sides), most) {
		ways[i] = splits(slices.Repeat(mesh.Mesh{{Size: side}}, len(names)), side)
	}
	chosen := make([][]int, len(ways))
	var each func(dim int)
	each = func(dim int) {
		if dim < len(ways) {
			for _, w := range ways[dim] {
				chosen[dim] = w
				each(dim + 1)
			}
			return
		}
		m := make(mesh.Mesh, len(names))
		for i, name := range names {
			m[i] = mesh.Axis{Name: name, Size: 1}
			for _, factors := range chosen {
				m[i].Size *= factors[i]
			}
		}
		if !wanted(m) {
			return
		}
		p := Placement{Chips: sides, mesh: m, chip: d, parts: map[string][]part{}, cores: map[string]int{}, slow: &slow, fast: &fast}
		for dim := range sides {
			shareDimension(dim, sides, chosen[dim], d.Torus, func(axis int, x part) {
				p.parts[names[axis]] = append(p.parts[names[axis]], x)
			})
		}
		for i, name := range names {
			p.cores[name] = chosen[len(sides)][i]
		}
		found(m, p)
	}
	each(0)
}

// Bandwidth is what a device can send along axes together, in bytes a second: all that the
// links of its chip have, shared with the chip's devices that are in other groups.
func (p Placement) Bandwidth(axes ...string) float64 {
	sum, shared := 0., float64(max(1, p.chip.DevicesPerChip))
	for _, axis := range axes {
		shared /= float64(max(1, p.cores[axis]))
	}
	for _, r := range p.along(axes) {
		links := 1.
		if r.ring {
			links = 2
		}
		sum += links * p.chip.LinkBytesPerSecond.Value / float64(r.stride)
	}
	return sum / shared
}
