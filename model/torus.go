package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/machine"
	"matladder/machine/mesh"
)

// Placement says where the devices of a mesh are in a pod: for each axis of the mesh, what
// it has of each dimension of the torus.
type Placement struct {
	Chips []int // of the slice, by dimension
	mesh  mesh.Mesh
	parts map[string][]part
	cores map[string]int // devices of one chip that are along an axis
	chip  machine.Device

	slow, fast *machine.Device // its extremes, where many exchanges are asked for
}

// part is what a mesh axis has of one dimension of a torus.
type part struct {
	dim     int
	devices int
	stride  int  // chips from one to the next; as many rings of stride share the links
	ring    bool // the last is linked with the first
}

// Slice is the slice of a pod as libtpu names it: 16x16.
func (p Placement) Slice() string { return strings.Join(each.Of(p.Chips, strconv.Itoa), "x") }

// Place finds the slice of a pod of d that a mesh fits, and lays its axes along the
// dimensions such that collectives over each are fast: whole dimensions, which wrap round,
// before parts of them. The error says why none fits.
func Place(m mesh.Mesh, d machine.Device) (Placement, error) {
	if len(d.Torus.Pod) == 0 || !d.LinkBytesPerSecond.Known() {
		return Placement{}, fmt.Errorf("nothing is known of the links between chips of %s", d.Key)
	}
	most := d.DevicesPerChip * each.Product(d.Torus.Pod)
	if m.Devices() > most {
		return Placement{}, fmt.Errorf("mesh %s has %d devices, and a pod of %s has %d", m, m.Devices(), d.CommonName(), most)
	}
	// The last axis, which changes fastest, has the devices of a chip, as runtimes number them.
	best := placeBy(m, d, true)
	if best.mesh == nil { // parts of dimensions only where it must be
		best = placeBy(m, d, false)
	}
	if best.mesh == nil {
		return Placement{}, fmt.Errorf("mesh %s does not fit the topology of %s: no slice of a pod has %d devices", m, d.CommonName(), m.Devices())
	}
	return best, nil
}

// placeBy is Place, with whole dimensions for each axis alone, or with parts of them.
func placeBy(m mesh.Mesh, d machine.Device, whole bool) (best Placement) {
	least := 0.0
	for _, cores := range splits(m, min(d.DevicesPerChip, m.Devices())) {
		count := m.Devices()
		for _, c := range cores {
			count /= c
		}
		for _, sides := range slices3(count, d.Torus) {
			lay(m, cores, sides, d, whole, func(p Placement) {
				cost := 0.0
				for _, a := range m {
					if a.Size > 1 {
						cost += p.Collective("all-gather", 1<<30, a.Name).Seconds
					}
				}
				if best.mesh == nil || cost < least*(1-1e-9) {
					best, least = p, cost
				}
			})
		}
	}
	return best
}

// splits are the ways to write n as a product of one factor for each axis, which divides it.
func splits(m mesh.Mesh, n int) [][]int {
	if len(m) == 0 {
		if n == 1 {
			return [][]int{nil}
		}
		return nil
	}
	var list [][]int
	for f := 1; f <= n && f <= m[0].Size; f++ {
		if n%f == 0 && m[0].Size%f == 0 {
			for _, rest := range splits(m[1:], n/f) {
				list = append(list, append([]int{f}, rest...))
			}
		}
	}
	return list
}

// wraps says whether a dimension of a slice is a ring.
func wraps(side int, sides []int, t machine.Torus) bool {
	return len(sides) == 2 && side == t.Wrap || len(sides) == 3 && sides[0]%t.Wrap == 0
}

// slices3 are the slices of n chips that a pod is given out in: sides of 1, 2 and 4 below a
// cube of 4, or a host of 2 × 2; multiples of 4 above; powers of two in two dimensions.
func slices3(n int, t machine.Torus) [][]int {
	allowed := func(side, most int) bool {
		if len(t.Pod) == 2 {
			return side <= most && side&(side-1) == 0
		}
		return side <= most && (n >= 64 && side%4 == 0 || n < 64 && (side == 1 || side == 2 || side == 4))
	}
	var list [][]int
	var extend func(sides []int, left int)
	extend = func(sides []int, left int) {
		i := len(sides)
		if i == len(t.Pod) {
			if left == 1 && (len(t.Pod) != 2 || sides[1] <= 2*sides[0]) {
				list = append(list, slices.Clone(sides))
			}
			return
		}
		for side := 1; side <= left; side++ {
			if left%side == 0 && allowed(side, t.Pod[i]) && (i == 0 || side >= sides[i-1]) {
				extend(append(sides, side), left/side)
			}
		}
	}
	extend(nil, n)
	return list
}

// shareDimension calls add with what each of some axes has of a dimension of a slice that
// they share, by their factors of it, the last axis innermost.
func shareDimension(dim int, sides, factors []int, t machine.Torus, add func(axis int, x part)) {
	side, stride := sides[dim], 1
	for i := len(factors) - 1; i >= 0; i-- {
		if f := factors[i]; f > 1 {
			// An outer part goes all the way round, an inner one is a piece of the ring.
			add(i, part{dim, f, stride, wraps(side, sides, t) && f*stride == side})
			stride *= f
		}
	}
}

// lay calls found with every way to lay a mesh along the sides of a slice, devices of a
// chip being along the axes as cores say.
func lay(m mesh.Mesh, cores, sides []int, d machine.Device, whole bool, found func(Placement)) {
	rest := slices.Clone(m)
	p := Placement{Chips: sides, mesh: m, chip: d, cores: map[string]int{}}
	for i := range rest {
		rest[i].Size /= cores[i]
		p.cores[m[i].Name] = cores[i]
	}
	var each func(dim int, left mesh.Mesh, parts map[string][]part)
	each = func(dim int, left mesh.Mesh, parts map[string][]part) {
		if dim == len(sides) {
			if left.Devices() == 1 {
				p.parts = parts
				found(p)
			}
			return
		}
		for _, factors := range splits(left, sides[dim]) {
			if whole && sides[dim] > 1 && !slices.Contains(factors, sides[dim]) {
				continue
			}
			next, more := slices.Clone(left), map[string][]part{}
			for name, list := range parts {
				more[name] = slices.Clone(list)
			}
			shareDimension(dim, sides, factors, d.Torus, func(axis int, x part) {
				next[axis].Size /= x.devices
				more[left[axis].Name] = append(more[left[axis].Name], x)
			})
			each(dim+1, next, more)
		}
	}
	each(0, rest, map[string][]part{})
}

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
