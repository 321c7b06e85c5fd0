package stablehlo

import (
	"matladder/problem"
	"matladder/tile"
)

// Baseline returns the vendor's own matmul for p, named xla: a and b, and with
// per-tensor scales sa and sb of shape (1, 1), to o. Arrays have a leading
// dimension of p.Batch where that is more than 1.
//
// The product comes out in p.Acc; quantization and activation are applied to
// that, and the cast to p.Out is last, as in the epilogue of a kernel. p.Precision
// is the precision of float32 products: the device chooses at Default.
func Baseline(p problem.Matmul) (*Launch, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	refuse := func(op, reason string) (*Launch, error) {
		return nil, &UnsupportedError{Program: "xla " + p.String(), Op: op, Reason: reason}
	}
	for _, d := range []int{p.Batch, p.M, p.K, p.N} {
		if !int32Fits(d) {
			return refuse("dot", "a dimension does not fit 32 bits")
		}
	}
	in := []Array{{"a", p.A, batched(p, p.M, p.K)}, {"b", p.B, batched(p, p.K, p.N)}}
	if p.TransB {
		in[1].Shape = batched(p, p.N, p.K)
	}
	switch p.Quant {
	case problem.NoQuant:
		if p.Acc.IsInteger() && p.Activation != problem.NoActivation && p.Activation != problem.Relu {
			return refuse(string(p.Activation), "it needs a float, the accumulator is "+p.Acc.String())
		}
	case problem.PerTensor:
		in = append(in, Array{"sa", tile.Float32, []int{1, 1}}, Array{"sb", tile.Float32, []int{1, 1}})
	default:
		return refuse("quantization "+string(p.Quant), "no such scheme")
	}
	out := []Array{{"o", p.Out, batched(p, p.M, p.N)}}

	l := &Launch{Name: "xla", In: in, Out: out}
	t := &text{depth: 1}
	args := l.arguments(t, in, "")
	var err error
	t.function("private", "launch", args, storedTypes(out), func() []value {
		o := t.matmul(p, args[0], args[1])
		if p.Quant == problem.PerTensor {
			scale := t.reshape(t.op("multiply", args[2], args[3]), nil)
			o = t.op("multiply", t.as(o, "f32"), t.broadcast(scale, o.dims))
		}
		if o, err = t.activation(p.Activation, o); err != nil {
			return nil
		}
		return []value{t.output(o, accDtype(p), p.Out)}
	})
	if err != nil {
		return refuse("activation "+string(p.Activation), err.Error())
	}
	l.text = t.b.String()
	return l, nil
}

// accDtype is the dtype of what the last cast takes.
func accDtype(p problem.Matmul) tile.Dtype {
	if p.Quant == problem.PerTensor {
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
