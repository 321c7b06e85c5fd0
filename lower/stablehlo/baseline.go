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
		array := Array{o.Name, o.Dtype, o.Shape}
		if o.Out {
			l.Out = append(l.Out, array)
		} else {
			l.In = append(l.In, array)
		}
	}
	return nil
}

// baselines are the families that have one. A family whose outputs follow from its
// operands alone, of which all arrays are operands, is written by a function of values:
//
//	func norm(t *text, p problem.Norm, in map[string]value) ([]value, error)
//
// in has the operands that are no outputs, by name, in the dtypes that they are stored in.
// What comes back are the outputs in the order of the operands, each in float32 (int32) or
// stored already. The text is held to the family's reference by TestFamilies, and by
// TestBaseline of package pjrt with a plugin.
var baselines = map[string]func(p problem.Problem) (*Launch, error){
	problem.MatmulFamily.Name:    func(p problem.Problem) (*Launch, error) { return matmulBaseline(p.(problem.Matmul)) },
	problem.SoftmaxFamily.Name:   written(softmax),
	problem.AttentionFamily.Name: written(attention),
	problem.NormFamily.Name:      written(norm),
	problem.RopeFamily.Name:      written(rope),
	problem.MLPFamily.Name:       written(mlp),
}

// written is the baseline of problems that body computes.
func written[P problem.Problem](body func(t *text, p P, in map[string]value) ([]value, error)) func(problem.Problem) (*Launch, error) {
	return func(asked problem.Problem) (*Launch, error) {
		p := asked.(P)
		l, t := &Launch{Name: "xla"}, newText()
		if err := l.take(p); err != nil {
			return nil, err
		}
		args, named := l.arguments(l.In, ""), map[string]value{}
		for i, array := range l.In {
			named[array.Name] = args[i]
		}
		var err error
		l.text = t.Function("private", "launch", args, storedTypes(l.Out), func() []value {
			var made []value
			if made, err = body(t, p, named); err != nil {
				return nil
			}
			for i, array := range l.Out {
				if made[i].Elem != storage(array.Dtype) {
					made[i] = t.output(made[i], accumulated(made[i]), array.Dtype)
				}
			}
			return made
		})
		if err != nil {
			return nil, err
		}
		return l, nil
	}
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
func matmulBaseline(p problem.Matmul) (*Launch, error) {
	refuse := func(op, reason string) (*Launch, error) { return nil, refused(p, op, reason) }
	for _, d := range []int{p.Batch, p.M, p.K, p.N} {
		if !countable(d) {
			return refuse("dot", "a dimension does not fit 32 bits")
		}
	}
	in := []Array{{"a", p.A, batched(p, p.M, p.K)}, {"b", p.B, batched(p, p.K, p.N)}}
	if p.TransB {
		in[1].Shape = batched(p, p.N, p.K)
	}
	scheme, err := p.Scheme()
	if err != nil {
		return nil, err
	}
	if reason := refusedScheme(p, scheme); reason != "" {
		return refuse("quantization "+string(p.Quant), reason)
	}
	in = append(in, quantizedArrays(p, scheme)...)
	out := []Array{{"o", p.Out, batched(p, p.M, p.N)}}

	l := &Launch{Name: "xla", In: in, Out: out}
	t := newText()
	args := l.arguments(in, "")
	l.text = t.Function("private", "launch", args, storedTypes(out), func() []value {
		var o value
		named := map[string]value{}
		for i, array := range in {
			named[array.Name] = t.numbers(args[i], array.Dtype)
		}
		if p.Quant == problem.NoQuant {
			o = t.matmul(p, args[0], args[1])
		} else {
			o = t.scaledProduct(p, scheme, named)
		}
		if p.Bias {
			o = t.Apply("add", o, t.broadcast(named["bias"], o.Dims))
		}
		if o, err = t.activation(p.Activation, o); err != nil {
			return nil
		}
		return []value{t.output(o, accDtype(p), p.Out)}
	})
	if err != nil {
		return refuse("activation "+string(p.Activation), err.Error())
	}
	return l, nil
}

// accDtype is the dtype of what the last cast takes.
func accDtype(p problem.Matmul) tile.Dtype {
	if p.Quant != problem.NoQuant {
		return tile.Float32
	}
	return p.Acc
}

func batched(p problem.Matmul, rows, cols int) []int {
	if p.Batch > 1 {
		return []int{p.Batch, rows, cols}
	}
	return []int{rows, cols}
}
