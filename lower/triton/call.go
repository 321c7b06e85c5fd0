package triton

import (
	"fmt"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// Module returns a StableHLO program whose @main runs one launch: it takes In
// and returns Out.
func (l *Launch) Module() string {
	return mlir.Module(l.Name, l.Function("public", "main"))
}

// Function returns a StableHLO function that runs one launch.
func (l *Launch) Function(visibility, name string) string {
	return mlir.Launch(visibility, name, l.In, l.Out, func(c mlir.Calls) {
		for i := range l.Kernels {
			l.Kernels[i].call(c)
		}
	})
}

// call writes one custom call.
func (k *Kernel) call(c mlir.Calls) {
	operands, out := make([]value, len(k.operands)), make([]shaped, len(k.results))
	for i, r := range k.operands {
		operands[i] = packed(c, r)
		if k.alongK[r] {
			operands[i] = c.Arrays[turnedName(r)]
		}
	}
	for i, r := range k.results {
		out[i] = mlir.Array(r.Dtype, r.Array...)
		switch {
		case inBytes(r):
			out[i].Elem = "i8"
		case r.Dtype == tile.Int4: // rows of an even number
			out[i] = shaped{Elem: "i8", Dims: []int{int(tile.Elements(r.Array) / 2)}}
		}
	}
	made := c.Kernel("__gpu$xla.gpu.triton", "api_version = 4 : i32, backend_config = {"+k.config()+"}",
		operands, k.layouts(k.operands), out, k.layouts(k.results), k.Name)
	for i, r := range k.results {
		c.Arrays[r.Name] = unpacked(c, made[i], r)
	}
}

// config is the backend_config of a kernel's custom call.
func (k *Kernel) config() string {
	return fmt.Sprintf(`debug = false, grid_x = %d : i32, grid_y = 1 : i32, grid_z = 1 : i32, ir = "%s", name = %q, num_stages = %d : i32, num_warps = %d : i32`,
		k.Programs, mlir.Escaped(k.Body), k.Name, k.Params.Stages, k.Params.Warps)
}

// packed is an array as a kernel takes it: int4 as bytes of two.
func packed(c mlir.Calls, r *tile.Ref) value {
	v := c.Arrays[r.Name]
	if r.Dtype != tile.Int4 {
		return v
	}
	n := int(tile.Elements(r.Array))
	even := n + n%2
	v = c.Op(shaped{Elem: v.Elem, Dims: []int{n}}, "reshape", "", v)
	v = c.Reshape(c.Pad(v, 0, []int{even}), []int{even / 2, 2})
	return c.Op(shaped{Elem: "i8", Dims: []int{even / 2}}, "bitcast_convert", "", v)
}

// unpacked is an array as a program takes it.
func unpacked(c mlir.Calls, v value, r *tile.Ref) value {
	switch {
	case r.Dtype != tile.Int4:
		return v
	case inBytes(r):
		return c.As(v, "i4")
	}
	pairs := shaped{Elem: "i4", Dims: append(v.Dims, 2)}
	return c.Op(mlir.Array(r.Dtype, r.Array...), "reshape", "", c.Op(pairs, "bitcast_convert", "", v))
}

// layouts are the dimensions of arrays, the fastest first.
func (k *Kernel) layouts(refs []*tile.Ref) []string {
	parts := make([]string, len(refs))
	for i, r := range refs {
		order := fastest(r, k.alongK[r])
		if r.Dtype == tile.Int4 && !inBytes(r) {
			order = []int{0}
		}
		parts[i] = mlir.Layout(order...)
	}
	return parts
}
