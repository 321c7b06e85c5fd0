package harness

import (
	"math"

	"matladder/internal/each"
	"matladder/internal/yamldoc"
	"matladder/problem"

	"gopkg.in/yaml.v3"
)

// maxShapes bounds the product of a sweep's sizes, so that a slip of the pen in
// a range is refused and not multiplied out.
const maxShapes = 100_000

// parseSizes reads sizes of a family in one word, and refuses what no problem can have.
func parseSizes(f *problem.Family, s string) (problem.Sizes, error) {
	sizes, err := f.ParseSizes(s)
	if err != nil {
		return sizes, err
	}
	return sizes, validate(f, sizes)
}

// validate returns why no problem of f has such sizes.
func validate(f *problem.Family, s problem.Sizes) error {
	asked, err := f.Parse(f.Dtypes[0])
	if err != nil {
		return err
	}
	return f.Make(s, asked).Validate()
}

// sizes reads the value of the key sizes: one item or a list of them, an item being one word, a
// range of problems whose sizes are equal, or a product of lists of sizes by their names.
func (d document) sizes(f *problem.Family, n *yaml.Node) ([]problem.Sizes, error) {
	var shapes []problem.Sizes
	seen := map[problem.Sizes]bool{}
	err := d.OneOrItems(n, func(item *yaml.Node) error {
		some, err := d.shapes(f, item, maxShapes-len(shapes))
		if err != nil {
			return err
		}
		for _, s := range some {
			if err := validate(f, s); err != nil {
				return d.Errorf(item, "%v", err)
			}
			if seen[s] {
				return d.Errorf(item, "size %s is listed twice", f.Short(s))
			}
			seen[s] = true
		}
		shapes = append(shapes, some...)
		return nil
	})
	return shapes, err
}

// shapes reads one item of sizes, at most limit shapes.
func (d document) shapes(f *problem.Family, n *yaml.Node, limit int) ([]problem.Sizes, error) {
	if n.Kind == yaml.ScalarNode {
		s, err := parseSizes(f, n.Value)
		if err != nil {
			return nil, d.Errorf(n, "%v", err)
		}
		return []problem.Sizes{s}, d.atMost(n, 1, limit)
	}
	if yamldoc.Get(n, "start") != nil || yamldoc.Get(n, "end") != nil {
		squares, err := d.sizeRange(n)
		if err != nil {
			return nil, err
		}
		shapes := each.Of(squares, f.Equal)
		return shapes, d.atMost(n, len(shapes), limit)
	}
	axes, keys := make([][]int, len(f.Sizes)), yamldoc.Fields{}
	var required []string
	for i, size := range f.Sizes {
		axes[i] = []int{size.Default}
		keys[size.Name] = func(n *yaml.Node) (err error) { axes[i], err = d.axis(n); return err }
		if size.Default == 0 {
			required = append(required, size.Name)
		}
	}
	if err := d.Mapping(n, "a size", keys, required...); err != nil {
		return nil, err
	}
	shapes := []problem.Sizes{{}}
	for i, axis := range axes {
		if err := d.atMost(n, len(shapes), limit/len(axis)); err != nil {
			return nil, err
		}
		var longer []problem.Sizes
		for _, s := range shapes {
			for _, size := range axis {
				s[i] = size
				longer = append(longer, s)
			}
		}
		shapes = longer
	}
	return shapes, nil
}

func (d document) atMost(n *yaml.Node, have, limit int) error {
	if have > limit {
		return d.Errorf(n, "more than %d sizes", maxShapes)
	}
	return nil
}

// axis reads the sizes under one name: a number, a list or a range.
func (d document) axis(n *yaml.Node) ([]int, error) {
	if n.Kind == yaml.MappingNode {
		return d.sizeRange(n)
	}
	var list []int
	err := d.OneOrItems(n, func(n *yaml.Node) error {
		v, err := d.size(n)
		list = append(list, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, d.atMost(n, len(list), maxShapes)
}

func (d document) size(n *yaml.Node) (int, error) {
	if n.Kind != yaml.ScalarNode {
		return 0, d.Errorf(n, "want a number")
	}
	v, err := problem.ParseSize(n.Value)
	if err != nil {
		return 0, d.Errorf(n, "%s: %v", n.Value, err)
	}
	return v, nil
}

// sizeRange reads {start, end, multiplier} or {start, end, step}; end is included if it is met.
func (d document) sizeRange(n *yaml.Node) ([]int, error) {
	var start, end, multiplier, step int
	number := func(v *int) yamldoc.Field {
		return func(n *yaml.Node) (err error) { *v, err = d.size(n); return err }
	}
	err := d.Mapping(n, "a range", yamldoc.Fields{
		"start": number(&start), "end": number(&end), "multiplier": number(&multiplier), "step": number(&step),
	}, "start", "end")
	switch {
	case err != nil:
		return nil, err
	case (multiplier == 0) == (step == 0):
		return nil, d.Errorf(n, "a range needs either multiplier or step")
	case multiplier == 1:
		return nil, d.Errorf(n, "multiplier: 1 never reaches the end; it must be at least 2")
	case end < start:
		return nil, d.Errorf(n, "end %d is below start %d", end, start)
	}
	var list []int
	for v := start; ; {
		list = append(list, v)
		if len(list) > maxShapes {
			return nil, d.atMost(n, len(list), maxShapes)
		}
		switch {
		case step > 0 && v <= end-step:
			v += step
		case multiplier > 0 && v <= end/multiplier && v <= math.MaxInt/multiplier:
			v *= multiplier
		default:
			return list, nil
		}
	}
}
