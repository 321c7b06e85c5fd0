package stablehlo

import (
	"slices"

	"matladder/problem"
	"matladder/tile"
)

// Baseline returns the vendor's own way to compute p, named xla: what XLA makes of p's
// meaning as plain array operations, inputs and outputs by their names. Families that
// have none are refused with an *UnsupportedError.
func Baseline(p problem.Problem) (*Launch, error) {
	of := baselines[p.Family().Name]
	if of == nil {
		return nil, refused(p, p.Family().Name, "nothing says how XLA computes it")
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return of(p)
}

// take makes the operands of a problem those of l.
func (l *Launch) take(p problem.Problem) error {
	for _, o := range p.Operands() {
		if slices.ContainsFunc(o.Shape, func(n int) bool { return !countable(n) }) {
			return refused(p, o.Name, "a dimension does not fit 32 bits")
		}
		if o.Out {
			l.Out = append(l.Out, o)
		} else {
			l.In = append(l.In, o)
		}
	}
	return nil
}

// baselines are the families that have one. A family whose outputs follow from its
// operands alone, of which all arrays are operands, is written by a function of values:
//
//	func norm(t *text, p problem.Norm, in map[string]value) []value
//
// in has the operands that are no outputs, by name, in the dtypes that they are stored in.
// What comes back are the outputs in the order of the operands, each in float32 (int32) or
// stored already. The text is held to the family's reference by TestFamilies, and by
// TestBaseline of package pjrt with a plugin.
var baselines = map[string]func(p problem.Problem) (*Launch, error){
	problem.MatmulFamily.Name:    matmulBaseline,
	problem.SoftmaxFamily.Name:   written(softmax),
	problem.AttentionFamily.Name: attentionBaseline,
	problem.NormFamily.Name:      written(norm),
	problem.RopeFamily.Name:      written(rope),
	problem.MLPFamily.Name:       written(mlp),
}

// written is the baseline of problems that body computes.
func written[P problem.Problem](body func(t *text, p P, in map[string]value) []value) func(problem.Problem) (*Launch, error) {
	return func(p problem.Problem) (*Launch, error) {
		l := &Launch{Name: "xla"}
		if err := l.take(p); err != nil {
			return nil, err
		}
		l.write(func(t *text, in map[string]value) []value { return body(t, p.(P), in) })
		return l, nil
	}
}

// write makes body what l launches.
func (l *Launch) write(body func(t *text, in map[string]value) []value) {
	t := newText()
	args, named := l.arguments(l.In, ""), map[string]value{}
	for i, array := range l.In {
		named[array.Name] = args[i]
	}
	l.text = t.Function("private", "launch", args, storedTypes(l.Out), func() []value {
		made := body(t, named)
		for i, array := range l.Out {
			if made[i].Elem != storage(array.Dtype) {
				made[i] = t.output(made[i], accumulated(made[i]), array.Dtype)
			}
		}
		return made
	})
}

// accumulated is the dtype of a working value.
func accumulated(v value) tile.Dtype {
	if v.IsFloat() {
		return tile.Float32
	}
	return tile.Int32
}

// matmulBaseline is Baseline: a, b, and what scales and a bias need, to o. Arrays have a leading dimension of p.Batch where that is
// more than 1.
//
// The product comes out in p.Acc; quantization and activation are applied to
// that, and the cast to p.Out is last, as in the epilogue of a kernel. p.Precision
// is the precision of float32 products: the device chooses at Default.
func matmulBaseline(asked problem.Problem) (*Launch, error) {
	p := asked.(problem.Matmul)
	scheme, _ := p.Scheme() // Validate has seen it
	if reason := refusedScheme(p, scheme); reason != "" {
		return nil, refused(p, "quantization "+string(p.Quant), reason)
	}
	l := &Launch{Name: "xla"}
	if err := l.take(p); err != nil {
		return nil, err
	}
	l.In = slices.Insert(l.In, 2, scales(p, scheme)...)
	l.write(func(t *text, stored map[string]value) []value {
		in := map[string]value{}
		for _, array := range l.In {
			in[array.Name] = t.numbers(stored[array.Name], array.Dtype)
		}
		var o value
		if p.Quant == problem.NoQuant {
			o = t.matmul(p, stored["a"], stored["b"])
		} else {
			o = t.scaledProduct(p, scheme, in)
		}
		if p.Bias {
			o = t.Apply("add", o, t.broadcast(in["bias"], o.Dims))
		}
		return []value{t.activation(p.Activation, o)}
	})
	return l, nil
}

// batched is a shape with the batch of p ahead of it, if there is one.
func batched(p problem.Matmul, shape ...int) []int {
	if p.Batch > 1 {
		return append([]int{p.Batch}, shape...)
	}
	return shape
}
