package harness

import (
	"matladder/internal/each"
	"matladder/internal/yamldoc"
	"matladder/problem"
	"matladder/results"

	"gopkg.in/yaml.v3"
)

// Layer is one layer of a model: problems of any families that run one after another.
type Layer struct {
	Name  string
	Parts []Part
}

// Part is a problem of a layer, and how often the layer has it.
type Part struct {
	Name    string
	Times   int
	Problem problem.Problem
	Kernels []int // rungs of its family's ladder
}

// sweeps has one sweep for each part of the layers, with its family, problem and kernels. A
// sweep without layers is its own.
func (c Config) sweeps() []Config {
	if len(c.Layers) == 0 {
		return []Config{c}
	}
	var list []Config
	for _, layer := range c.Layers {
		for _, part := range layer.Parts {
			one := Default(part.Problem.Family())
			one.Sizes, one.Kernels, one.Asked = []problem.Sizes{part.Problem.Sizes()}, part.Kernels, []problem.Asked{part.Problem.Asked()}
			one.FirstBlocks, one.AllBlocks, one.Tuned, one.Inputs, one.Duty = c.FirstBlocks, c.AllBlocks, c.Tuned, c.Inputs, c.Duty
			list = append(list, one)
		}
	}
	return list
}

// Families are those of the sweep's problems, each once.
func (c Config) Families() []*problem.Family {
	var list []*problem.Family
	for _, one := range c.sweeps() {
		list = each.With(list, one.Family)
	}
	return list
}

// uses spells which parts of the sweep's layers a problem is, as column layers has them.
func (c Config) uses(p problem.Problem) string {
	var list []results.LayerUse
	for _, l := range c.Layers {
		for i, part := range l.Parts {
			if part.Problem == p {
				list = append(list, results.LayerUse{Layer: l.Name, Part: i + 1, Parts: len(l.Parts), Name: part.Name, Times: part.Times})
			}
		}
	}
	return results.FormatUses(list)
}

// layers reads the layers of a sweep into c.
func (d document) layers(c *Config, n *yaml.Node) error {
	return d.OneOrItems(n, func(n *yaml.Node) error {
		var l Layer
		err := d.Mapping(n, "a layer", yamldoc.Fields{
			"layer": d.Text(&l.Name, results.LayerName),
			"parts": func(n *yaml.Node) error { return d.OneOrItems(n, func(n *yaml.Node) error { return d.part(&l, n) }) },
		}, "layer", "parts")
		c.Layers = append(c.Layers, l)
		return err
	})
}

// part reads one part and adds it to l.
func (d document) part(l *Layer, n *yaml.Node) error {
	f, err := d.family(n)
	if err != nil {
		return err
	}
	p := Part{Times: 1, Kernels: Default(f).Kernels}
	var sizes []problem.Sizes
	asked := Default(f).Asked[0]
	err = d.Mapping(n, "a part", yamldoc.Fields{
		"part":    d.Text(&p.Name, results.LayerName),
		familyKey: func(*yaml.Node) error { return nil }, // read before
		"times":   yamldoc.Value(d.Doc, &p.Times, positive(whole)),
		"size":    func(n *yaml.Node) (err error) { sizes, err = d.sizes(f, n); return err },
		"dtype":   func(n *yaml.Node) (err error) { asked, err = d.asked(f, n); return err },
		"kernels": yamldoc.List(d.Doc, &p.Kernels, yamldoc.Scalar(d.Doc, func(s string) (int, error) { return parseKernel(f, s) })),
	}, "part", "size")
	switch {
	case err != nil:
		return err
	case len(sizes) != 1:
		return d.Errorf(n, "part %s has %d sizes: want one", p.Name, len(sizes))
	}
	p.Problem = f.Make(sizes[0], asked)
	if err := p.Problem.Validate(); err != nil {
		return d.Errorf(n, "part %s: %v", p.Name, err)
	}
	l.Parts = append(l.Parts, p)
	return nil
}
