package harness

import (
	"fmt"
	"slices"

	"matladder/internal/each"
	"matladder/kernels"
	"matladder/machine"
	"matladder/machine/mesh"
	"matladder/model"
	"matladder/problem"
	"matladder/results"
)

// How a sweep over meshes grows.
const (
	Strong = "strong" // one product on more and more devices
	Weak   = "weak"   // as many rows for each device
)

func sharding(s string) (string, error) {
	w, err := mesh.FindSharding(s)
	return w.Name, err
}

func scaling(s string) (string, error) {
	if s != Strong && s != Weak {
		return "", fmt.Errorf("unknown scaling %q (known: %s, %s)", s, Strong, Weak)
	}
	return s, nil
}

// ParseMesh reads --mesh: names and sizes of axes.
func ParseMesh(s string) (string, error) {
	m, err := mesh.Parse(s)
	return m.String(), err
}

// spread is a product on a mesh.
type spread struct {
	problem problem.Problem
	mesh    string
}

// spreads are what becomes of a problem on the meshes of a sweep: itself, on one device, if
// the sweep has none. Errors are *ConfigErrors.
func spreads(p problem.Problem, c Config, d machine.Device) ([]spread, error) {
	if c.Mesh == "" {
		if len(c.Scaling)+len(c.Shardings) > 0 {
			return nil, &ConfigError{Msg: fmt.Sprintf("sweep %s is for several devices: say how many by --mesh, such as --mesh data=16,model=16", c.Name)}
		}
		return []spread{{problem: p}}, nil
	}
	m, err := mesh.Parse(c.Mesh)
	if err == nil && d.Kind == machine.TPU {
		_, err = model.Place(m, d)
	}
	whole, ok := p.(problem.Matmul)
	if err == nil && !ok {
		err = fmt.Errorf("only problems of family %s are spread over devices", problem.MatmulFamily.Name)
	}
	if err != nil {
		return nil, &ConfigError{Msg: "--mesh: " + err.Error()}
	}
	var list []spread
	add := func(s spread) { list = each.With(list, s) }
	if len(c.Scaling) == 0 {
		add(spread{p, m.String()})
	}
	var fits func(mesh.Mesh) bool // a slice of a pod
	if d.Kind == machine.TPU {
		fits = func(m mesh.Mesh) bool { _, err := model.Place(m, d); return err == nil }
	}
	for _, kind := range c.Scaling {
		for _, smaller := range m.Smaller(fits) {
			grown := whole
			if kind == Weak {
				grown.M = whole.M / m.Devices() * smaller.Devices() // the whole mesh has the sweep's product
				if whole.M%m.Devices() != 0 {
					return nil, &ConfigError{Msg: fmt.Sprintf("--mesh %s: %d rows cannot be split evenly over %d devices, for weak scaling", m, whole.M, m.Devices())}
				}
			}
			add(spread{grown, smaller.String()})
		}
	}
	return list, nil
}

// spreadPoints are the points of a kernel on a product that is spread.
func spreadPoints(s spread, number int, c Config, d machine.Device, point Point) []Point {
	point.Problem, point.Mesh = s.problem, s.mesh
	if number != kernels.BaselineNumber {
		k, _ := kernels.Rung(c.Family, number)
		point.Contender = Rung{Kernel: k}
		point.Status, point.Reason = results.Unsupported, "this kernel runs on one device: on a mesh there is XLA's own product, kernel 0"
		return []Point{point}
	}
	point.Contender, point.Params = Vendor{}, vendorParams(d, point.Params)
	var list []Point
	for _, way := range mesh.Shardings {
		if len(c.Shardings) == 0 || slices.Contains(c.Shardings, way.Name) {
			point.Variant = way.Name
			list = append(list, point)
		}
	}
	return list
}

// devices is how many the point is spread over.
func (p Point) devices() int {
	m, err := mesh.Parse(p.Mesh)
	if p.Mesh == "" || err != nil {
		return 1
	}
	return m.Devices()
}
