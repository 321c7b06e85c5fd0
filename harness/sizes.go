package harness

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matladder/problem"
	"matladder/tile"

	"gopkg.in/yaml.v3"
)

// maxShapes bounds the product of a sweep's sizes, so that a slip of the pen in
// a range is refused and not multiplied out.
const maxShapes = 100_000

// parseShape reads a square (512) or m×k×n, written with x or × (512x1024x2048).
func parseShape(s string) (Shape, error) {
	parts := strings.Split(strings.ReplaceAll(s, "×", "x"), "x")
	if len(parts) != 1 && len(parts) != 3 {
		return Shape{}, fmt.Errorf("size %q: want one number, or m×k×n as in 512x1024x2048", s)
	}
	var v [3]int
	for i, part := range parts {
		n, err := parseSize(part)
		if err != nil {
			return Shape{}, fmt.Errorf("size %q: %w", s, err)
		}
		v[i] = n
	}
	shape := Shape{v[0], v[1], v[2]}
	if len(parts) == 1 {
		shape = Shape{v[0], v[0], v[0]}
	}
	return shape, shape.validate()
}

func (s Shape) validate() error {
	return problem.New(s.M, s.K, s.N, tile.Float32).Validate()
}

func parseSize(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("overflows 64 bits")
	case err != nil:
		return 0, errors.New("not a whole number")
	case n < 1:
		return 0, errors.New("must be at least 1")
	}
	return n, nil
}

// sizes reads the value of the key sizes: one item or a list of them, an item
// being a square, a "m×k×n", a range of squares, or a product of m, k and n.
func (d document) sizes(n *yaml.Node) ([]Shape, error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var shapes []Shape
	seen := map[Shape]bool{}
	for _, item := range items {
		some, err := d.shapes(resolve(item), maxShapes-len(shapes))
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			if err := s.validate(); err != nil {
				return nil, d.errorf(item, "%v", err)
			}
			if seen[s] {
				return nil, d.errorf(item, "size %s is listed twice", s)
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
func (d document) shapes(n *yaml.Node, limit int) ([]Shape, error) {
	if n.Kind == yaml.ScalarNode {
		s, err := parseShape(n.Value)
		if err != nil {
			return nil, d.errorf(n, "%v", err)
		}
		return []Shape{s}, d.atMost(n, 1, limit)
	}
	if has(n, "start") || has(n, "end") {
		squares, err := d.sizeRange(n)
		if err != nil {
			return nil, err
		}
		var shapes []Shape
		for _, s := range squares {
			shapes = append(shapes, Shape{s, s, s})
		}
		return shapes, d.atMost(n, len(shapes), limit)
	}
	var m, k, nn []int
	axis := func(list *[]int) field {
		return func(n *yaml.Node) (err error) { *list, err = d.axis(n); return err }
	}
	if err := d.mapping(n, "a size", fields{"m": axis(&m), "k": axis(&k), "n": axis(&nn)}, "m", "k", "n"); err != nil {
		return nil, err
	}
	if err := d.atMost(n, len(m)*len(k), limit/len(nn)); err != nil {
		return nil, err
	}
	var shapes []Shape
	for _, m := range m {
		for _, k := range k {
			for _, n := range nn {
				shapes = append(shapes, Shape{m, k, n})
			}
		}
	}
	return shapes, nil
}

func (d document) atMost(n *yaml.Node, have, limit int) error {
	if have > limit {
		return d.errorf(n, "more than %d sizes", maxShapes)
	}
	return nil
}

// axis reads the sizes of one of m, k, n: a number, a list or a range.
func (d document) axis(n *yaml.Node) ([]int, error) {
	switch n.Kind {
	case yaml.MappingNode:
		return d.sizeRange(n)
	case yaml.SequenceNode:
		if len(n.Content) == 0 {
			return nil, d.errorf(n, "empty list")
		}
		var list []int
		for _, item := range n.Content {
			v, err := d.size(resolve(item))
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, d.atMost(n, len(list), maxShapes)
	}
	v, err := d.size(n)
	return []int{v}, err
}

func (d document) size(n *yaml.Node) (int, error) {
	if n.Kind != yaml.ScalarNode {
		return 0, d.errorf(n, "want a number")
	}
	v, err := parseSize(n.Value)
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
