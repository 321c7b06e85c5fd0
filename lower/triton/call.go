package triton

import (
	"fmt"
	"strings"

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
	var c call
	return c.Function(visibility, name, l.In, l.Out, tensor, func() {
		for i := range l.Kernels {
			c.kernel(&l.Kernels[i])
		}
	})
}

// call is the body of a launch being written.
type call struct{ mlir.Calls }

// kernel writes one custom call. Its location gives the kernel's name to the
// compiled instruction, to dumps and to errors.
func (c *call) kernel(k *Kernel) {
	operands := make([]string, len(k.operands))
	for i, r := range k.operands {
		operands[i] = c.packed(c.Values[r.Name], r)
		if k.alongK[r] {
			operands[i] = c.Values[turnedName(r)]
		}
	}
	in, out := arrays(k.operands), arrays(k.results)
	result := c.Fresh()
	name, typ := result, out[0]
	if len(out) > 1 {
		name, typ = fmt.Sprintf("%s:%d", result, len(out)), "("+strings.Join(out, ", ")+")"
	}
	fmt.Fprintf(&c.B, "    %s = stablehlo.custom_call @__gpu$xla.gpu.triton(%s) {api_version = 4 : i32, backend_config = {%s}, operand_layouts = [%s], result_layouts = [%s]} : (%s) -> %s loc(%q)\n",
		name, strings.Join(operands, ", "), k.config(), k.layouts(k.operands), k.layouts(k.results), strings.Join(in, ", "), typ, k.Name)
	for i, r := range k.results {
		v := result
		if len(out) > 1 {
			v = fmt.Sprintf("%s#%d", result, i)
		}
		c.Values[r.Name] = c.unpacked(v, r)
	}
}

// config is the backend_config of a kernel's custom call.
func (k *Kernel) config() string {
	return fmt.Sprintf(`debug = false, grid_x = %d : i32, grid_y = 1 : i32, grid_z = 1 : i32, ir = "%s", name = %q, num_stages = %d : i32, num_warps = %d : i32`,
		k.Programs, escaped(k.Body), k.Name, k.Params.Stages, k.Params.Warps)
}

// packed is an array as a kernel takes it: int4 as bytes of two.
func (c *call) packed(v string, r *tile.Ref) string {
	if r.Dtype != tile.Int4 {
		return v
	}
	n := tile.Elements(r.Array)
	flat := c.Fresh()
	fmt.Fprintf(&c.B, "    %s = stablehlo.reshape %s : (%s) -> tensor<%dxi4>\n", flat, v, tensor(r), n)
	if n%2 != 0 {
		zero, even := c.Fresh(), c.Fresh()
		fmt.Fprintf(&c.B, "    %s = stablehlo.constant dense<0> : tensor<i4>\n", zero)
		fmt.Fprintf(&c.B, "    %s = stablehlo.pad %s, %s, low = [0], high = [1], interior = [0] : (tensor<%dxi4>, tensor<i4>) -> tensor<%dxi4>\n", even, flat, zero, n, n+1)
		flat, n = even, n+1
	}
	pairs, bytes := c.Fresh(), c.Fresh()
	fmt.Fprintf(&c.B, "    %s = stablehlo.reshape %s : (tensor<%dxi4>) -> tensor<%dx2xi4>\n", pairs, flat, n, n/2)
	fmt.Fprintf(&c.B, "    %s = stablehlo.bitcast_convert %s : (tensor<%dx2xi4>) -> tensor<%dxi8>\n", bytes, pairs, n/2, n/2)
	return bytes
}

// unpacked is an array as a program takes it.
func (c *call) unpacked(v string, r *tile.Ref) string {
	if r.Dtype != tile.Int4 {
		return v
	}
	if inBytes(r) {
		w := c.Fresh()
		fmt.Fprintf(&c.B, "    %s = stablehlo.convert %s : (%s) -> %s\n", w, v, arrays([]*tile.Ref{r})[0], tensor(r))
		return w
	}
	n := tile.Elements(r.Array) // even, as rows are
	pairs, w := c.Fresh(), c.Fresh()
	fmt.Fprintf(&c.B, "    %s = stablehlo.bitcast_convert %s : (tensor<%dxi8>) -> tensor<%dx2xi4>\n", pairs, v, n/2, n/2)
	fmt.Fprintf(&c.B, "    %s = stablehlo.reshape %s : (tensor<%dx2xi4>) -> %s\n", w, pairs, n/2, tensor(r))
	return w
}

// tensor is the type of a ref's array.
func tensor(r *tile.Ref) string {
	elem := storage[r.Dtype]
	switch r.Dtype {
	case tile.Uint8:
		elem = "ui8"
	case tile.Int4:
		elem = "i4"
	}
	return "tensor<" + mlir.Cross(r.Array) + elem + ">"
}

// arrays are the types of arrays as a kernel takes them.
func arrays(refs []*tile.Ref) []string {
	ts := make([]string, len(refs))
	for i, r := range refs {
		ts[i] = tensor(r)
		switch {
		case inBytes(r):
			ts[i] = "tensor<" + mlir.Cross(r.Array) + "i8>"
		case r.Dtype == tile.Int4:
			ts[i] = fmt.Sprintf("tensor<%dxi8>", (tile.Elements(r.Array)+1)/2)
		}
	}
	return ts
}

// layouts are the dimensions of arrays, the fastest first.
func (k *Kernel) layouts(refs []*tile.Ref) string {
	parts := make([]string, len(refs))
	for i, r := range refs {
		order := fastest(r, k.alongK[r])
		if r.Dtype == tile.Int4 && !inBytes(r) {
			order = []int{0}
		}
		parts[i] = fmt.Sprintf("dense<%s> : tensor<%dxindex>", strings.ReplaceAll(fmt.Sprint(order), " ", ", "), len(order))
	}
	return strings.Join(parts, ", ")
}

// escaped writes text inside an MLIR string.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\5C`, `"`, `\22`, "\n", `\0A`).Replace(text)
}
