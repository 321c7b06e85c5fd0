package mosaic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// vmemSpace is the number by which the compiler knows VMEM.
const vmemSpace = 1

// mainSpace is that of main memory.
const mainSpace = 0

// config is what the custom call carries.
type config struct {
	Call struct {
		Body          string        `json:"body"`
		Format        int           `json:"serialization_format"`
		LayoutPasses  bool          `json:"needs_layout_passes"`
		EstimatedCost *costEstimate `json:"cost_estimate,omitempty"`
		// HasCommunication must be said of a kernel that reaches other devices. CollectiveID
		// names its barrier: without one, libtpu aborts.
		HasCommunication bool `json:"has_communication,omitempty"`
		// Unchecked leaves out libtpu's checks of what a copy reaches at run time: Verify has
		// proved that it stays inside.
		Unchecked bool `json:"disable_bounds_checks,omitempty"`
		// What a kernel copies from main memory and to it has to be there: XLA may else put
		// arrays that are small enough into VMEM ahead of the kernel.
		InputColors  []color `json:"input_memory_space_colors,omitempty"`
		OutputColors []color `json:"output_memory_space_colors,omitempty"`
		CollectiveID *int    `json:"collective_id,omitempty"`
	} `json:"custom_call_config"`
	Scoped []scopedMemory `json:"scoped_memory_configs,omitempty"`
}

type costEstimate struct {
	FLOPs           int64 `json:"flops"`
	Transcendentals int64 `json:"transcendentals"`
	BytesAccessed   int64 `json:"bytes_accessed"`
}

type scopedMemory struct {
	Space  int   `json:"memory_space"`
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// color is the memory, by number, in which XLA has to put an operand, or a result of several.
type color struct {
	Operand *int  `json:"operand_index,omitempty"`
	Color   int   `json:"color"`
	Result  []int `json:"shape_index,omitempty"`
}

// colors are those of arrays that are in main memory or are to stay there. Operands are counted as kernel writes them.
func (k *Kernel) colors() (in, out []color) {
	first := len(k.bounds) + len(k.mesh)
	for i, r := range k.operands {
		if r.Main || k.stays[r.Name] {
			in = append(in, color{Operand: new(first + i), Color: mainSpace})
		}
	}
	for i, r := range k.results {
		switch {
		case !r.Main:
		case len(k.results) == 1:
			out = append(out, color{Color: mainSpace})
		default:
			out = append(out, color{Color: mainSpace, Result: []int{i}})
		}
	}
	return in, out
}

// config is the backend_config of a kernel's custom call, as JSON.
func (k *Kernel) config() string {
	var c config
	c.Call.Body = base64.StdEncoding.EncodeToString([]byte(k.Body))
	c.Call.Format, c.Call.LayoutPasses = 1, true
	if k.cost != nil {
		c.Call.EstimatedCost = &costEstimate{k.cost.FLOPs, k.cost.Transcendentals, k.cost.BytesAccessed}
	}
	c.Call.Unchecked = k.proven
	c.Call.InputColors, c.Call.OutputColors = k.colors()
	if c.Call.HasCommunication = k.communicates; k.barrier {
		c.Call.CollectiveID = new(int)
	}
	if n := k.options.VMEMBytes; n > 0 {
		c.Scoped = []scopedMemory{{vmemSpace, 0, n}}
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // no field of config can fail
	}
	return string(text)
}

// Module returns a StableHLO program whose @main runs one launch: it takes In
// and returns Out.
func (l *Launch) Module() string {
	return mlir.Module(l.Name, l.Function("public", "main"))
}

// Function returns a StableHLO function that runs one launch.
func (l *Launch) Function(visibility, name string) string {
	var c call
	return c.Function(visibility, name, l.In, l.Out, func(r *tile.Ref) string { return tensor(r, r.Array) }, func() {
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
	var operands, in, order []string
	for _, b := range k.bounds { // these come first
		operands, in, order = append(operands, c.element(b)), append(in, "tensor<i32>"), append(order, "dense<> : tensor<0xindex>")
	}
	for _, at := range c.coordinates(k.mesh) {
		operands, in, order = append(operands, at), append(in, "tensor<1xi32>"), append(order, "dense<0> : tensor<1xindex>")
	}
	for _, r := range k.operands {
		operands = append(operands, c.reshaped(c.Values[r.Name], r, r.Array, kernelShape(r)))
	}
	in, order = append(in, tensors(k.operands)...), append(order, layouts(k.operands)...)
	out := tensors(k.results)
	result := c.Fresh()
	name, typ := result, out[0]
	if len(out) > 1 {
		name, typ = fmt.Sprintf("%s:%d", result, len(out)), "("+strings.Join(out, ", ")+")"
	}
	fmt.Fprintf(&c.B, "    %s = stablehlo.custom_call @tpu_custom_call(%s) {backend_config = \"%s\", kernel_name = %q, operand_layouts = [%s], result_layouts = [%s]} : (%s) -> %s loc(%q)\n",
		name, strings.Join(operands, ", "), escaped(k.config()), k.Name, strings.Join(order, ", "), strings.Join(layouts(k.results), ", "), strings.Join(in, ", "), typ, k.Name)
	for i, r := range k.results {
		v := result
		if len(out) > 1 {
			v = fmt.Sprintf("%s#%d", result, i)
		}
		c.Values[r.Name] = c.reshaped(v, r, kernelShape(r), r.Array)
	}
}

// coordinates are those of the device along the axes of a mesh.
func (c *call) coordinates(mesh []*tile.Axis) []string {
	if len(mesh) == 0 {
		return nil
	}
	const typ = "tensor<i32>"
	op := func(format string, args ...any) string {
		v := c.Fresh()
		fmt.Fprintf(&c.B, "    %s = stablehlo."+format+"\n", append([]any{v}, args...)...)
		return v
	}
	number := func(n int) string { return op("constant dense<%d> : %s", n, typ) }
	device := op("convert %s : (tensor<ui32>) -> %s", op("partition_id : tensor<ui32>"), typ)
	all := make([]string, len(mesh))
	for i := len(mesh) - 1; i >= 0; i-- {
		at := op("remainder %s, %s : %s", device, number(mesh[i].Size), typ)
		device = op("divide %s, %s : %s", device, number(mesh[i].Size), typ)
		all[i] = op("reshape %s : (%s) -> tensor<1xi32>", at, typ)
	}
	return all
}

// element is an element of a table.
func (c *call) element(l tile.Lookup) string {
	table, i := l.Table, int(l.At.(tile.Const))
	one, v := c.Fresh(), c.Fresh()
	fmt.Fprintf(&c.B, "    %s = stablehlo.slice %s [%d:%d] : (%s) -> tensor<1xi32>\n", one, c.Values[table.Name], i, i+1, tensor(table, table.Array))
	fmt.Fprintf(&c.B, "    %s = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>\n", v, one)
	return v
}

// reshaped gives an array the shape in which a kernel takes it, or back.
func (c *call) reshaped(v string, r *tile.Ref, from, to []int) string {
	if slices.Equal(from, to) {
		return v
	}
	w := c.Fresh()
	fmt.Fprintf(&c.B, "    %s = stablehlo.reshape %s : (%s) -> %s\n", w, v, tensor(r, from), tensor(r, to))
	return w
}

// kernelShape is the shape of a ref's array as its kernel takes it: of two
// dimensions at least, as its blocks are.
func kernelShape(r *tile.Ref) []int {
	if r.Kind == tile.Table {
		return r.Array
	}
	return physical(r.Array)
}

func tensor(r *tile.Ref, dims []int) string {
	elem := storage[r.Dtype]
	if r.Dtype == tile.Uint8 {
		elem = "ui8"
	}
	return "tensor<" + mlir.Cross(dims) + elem + ">"
}

func tensors(refs []*tile.Ref) []string {
	ts := make([]string, len(refs))
	for i, r := range refs {
		ts[i] = tensor(r, kernelShape(r))
	}
	return ts
}

// layouts are row-major: the last dimension is the fastest.
func layouts(refs []*tile.Ref) []string {
	parts := make([]string, len(refs))
	for i, r := range refs {
		rank := len(kernelShape(r))
		order := make([]int, rank)
		for d := range order {
			order[d] = rank - 1 - d
		}
		parts[i] = fmt.Sprintf("dense<[%s]> : tensor<%dxindex>", commas(order), rank)
	}
	return parts
}

// escaped writes JSON inside an MLIR string.
func escaped(json string) string {
	return strings.ReplaceAll(strings.ReplaceAll(json, `\`, `\5C`), `"`, `\22`)
}
