package harness

import (
	"math"

	"matladder/problem"

	"gopkg.in/yaml.v3"
)

// maxShapes bounds the product of a sweep's sizes, so that a slip of the pen in
// a range is refused and not multiplied out.
const maxShapes = 100_000

// parseSizes reads sizes of a family in one word, and refuses what no problem can have.
func parseSizes(f *problem.Family, s string) (problem.Sizes, error) {
	sizes, err := f.ParseSizes(s)
	if err == nil {
		err = validate(f, sizes)
	}
	return sizes, err
}

// validate returns why no problem of f has such sizes.
func validate(f *problem.Family, s problem.Sizes) error {
	asked, err := f.Parse(f.Dtypes[0])
	if err != nil {
		return err
	}
	return f.Make(s, asked).Validate()
}

// sizes reads the value of the key sizes: one item or a list of them, an item being one
// word, a range of problems whose sizes are equal, or a product of lists of sizes by
// their names.
func (d document) sizes(f *problem.Family, n *yaml.Node) ([]problem.Sizes, error) {
	var shapes []problem.Sizes
	seen := map[problem.Sizes]bool{}
	for _, item := range items(n) {
		some, err := d.shapes(f, resolve(item), maxShapes-len(shapes))
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if err := validate(f, s); err != nil {
				return nil, d.errorf(item, "%v", err)
			}
			if seen[s] {
				return nil, d.errorf(item, "size %s is listed twice", f.Short(s))
			}
			seen[s] = true
		}
		shapes = append(shapes, some...)
	}
	if len(shapes) == 0 {
		return nil, d.errorf(n, "empty list")
	}
	return shapes, nil
}

// shapes reads one item of sizes, at most limit shapes.
func (d document) shapes(f *problem.Family, n *yaml.Node, limit int) ([]problem.Sizes, error) {
	if n.Kind == yaml.ScalarNode {
		s, err := parseSizes(f, n.Value)
		if err != nil {
			return nil, d.errorf(n, "%v", err)
		}
		return []problem.Sizes{s}, d.atMost(n, 1, limit)
	}
	if valueOf(n, "start", "end") != nil {
		squares, err := d.sizeRange(n)
		if err != nil {
			return nil, err
		}
		var shapes []problem.Sizes
		for _, s := range squares {
			shapes = append(shapes, f.Equal(s))
		}
		return shapes, d.atMost(n, len(shapes), limit)
	}
	axes, keys := make([][]int, len(f.Sizes)), fields{}
	var required []string
	for i, size := range f.Sizes {
		axes[i] = []int{size.Default}
		keys[size.Name] = func(n *yaml.Node) (err error) { axes[i], err = d.axis(n); return err }
		if size.Default == 0 {
			required = append(required, size.Name)
		}
	}
	if err := d.mapping(n, "a size", keys, required...); err != nil {
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
		return d.errorf(n, "more than %d sizes", maxShapes)
	}
	return nil
}

// axis reads the sizes under one name: a number, a list or a range.
func (d document) axis(n *yaml.Node) ([]int, error) {
	if n.Kind == yaml.MappingNode {
		return d.sizeRange(n)
	}
	if len(items(n)) == 0 {
		return nil, d.errorf(n, "empty list")
	}
	var list []int
	for _, item := range items(n) {
		v, err := d.size(resolve(item))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, d.atMost(n, len(list), maxShapes)
}

func (d document) size(n *yaml.Node) (int, error) {
	if n.Kind != yaml.ScalarNode {
		return 0, d.errorf(n, "want a number")
	}
	v, err := problem.ParseSize(n.Value)
	if err != nil {
		return 0, d.errorf(n, "%s: %v", n.Value, err)
	}
	return v, nil
}

// sizeRange reads {start, end, multiplier} or {start, end, step}; end is
// included if it is met.
func (d document) sizeRange(n *yaml.Node) ([]int, error) {
	var start, end, multiplier, step int
	number := func(v *int) field {
		return func(n *yaml.Node) (err error) { *v, err = d.size(n); return err }
	}
	err := d.mapping(n, "a range", fields{
		"start": number(&start), "end": number(&end), "multiplier": number(&multiplier), "step": number(&step),
	}, "start", "end")
	switch {
	case err != nil:
		return nil, err
	case (multiplier == 0) == (step == 0):
		return nil, d.errorf(n, "a range needs either multiplier or step")
	case multiplier == 1:
		return nil, d.errorf(n, "multiplier: 1 never reaches the end; it must be at least 2")
	case end < start:
		return nil, d.errorf(n, "end %d is below start %d", end, start)
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
