package mosaic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"matladder/internal/each"
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
		Body         string `json:"body"`
		Format       int    `json:"serialization_format"`
		LayoutPasses bool   `json:"needs_layout_passes"`
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

// Call writes one custom call.
func (k Kernel) Call(c mlir.Calls) {
	var operands []value
	var order []string
	for _, b := range k.bounds { // these come first
		i := int(b.At.(tile.Const))
		one := c.Op(shaped{Elem: "i32", Dims: []int{1}}, "slice", fmt.Sprintf("[%d:%d]", i, i+1), c.Arrays[b.Table.Name])
		operands, order = append(operands, c.Reshape(one, nil)), append(order, "dense<> : tensor<0xindex>")
	}
	for _, at := range coordinates(c, k.mesh) {
		operands, order = append(operands, at), append(order, "dense<0> : tensor<1xindex>")
	}
	operands = append(operands, each.Of(k.operands, func(r *tile.Ref) value { return c.Reshape(c.Arrays[r.Name], kernelShape(r)) })...)
	out := each.Of(k.results, func(r *tile.Ref) shaped { return mlir.Array(r.Dtype, kernelShape(r)...) })
	attrs := fmt.Sprintf("backend_config = \"%s\", kernel_name = %q", mlir.Escaped(k.config()), k.Name)
	made := c.Kernel("tpu_custom_call", attrs, operands, append(order, layouts(k.operands)...), out, layouts(k.results), k.Name)
	for i, r := range k.results {
		c.Arrays[r.Name] = c.Reshape(made[i], r.Array)
	}
}

// coordinates are those of the device along the axes of a mesh.
func coordinates(c mlir.Calls, mesh []*tile.Axis) []value {
	if len(mesh) == 0 {
		return nil
	}
	device := c.As(c.Op(shaped{Elem: "ui32"}, "partition_id", ""), "i32")
	number := func(n int) value { return c.Op(scalar, "constant", fmt.Sprint(n)) }
	all := make([]value, len(mesh))
	for i := len(mesh) - 1; i >= 0; i-- {
		at := c.Apply("remainder", device, number(mesh[i].Size))
		device = c.Apply("divide", device, number(mesh[i].Size))
		all[i] = c.Reshape(at, []int{1})
	}
	return all
}

// kernelShape is the shape of a ref's array as its kernel takes it: of two
// dimensions at least, as its blocks are.
func kernelShape(r *tile.Ref) []int {
	if r.Kind == tile.Table {
		return r.Array
	}
	return mlir.Physical(r.Array)
}

// layouts are row-major: the last dimension is the fastest.
func layouts(refs []*tile.Ref) []string {
	return each.Of(refs, func(r *tile.Ref) string {
		rank := len(kernelShape(r))
		order := each.Upto(rank, func(d int) int { return rank - 1 - d })
		return mlir.Layout(order...)
	})
}
