package hlo

import (
	"cmp"
	"fmt"
	"strings"

	"matladder/internal/each"
)

// Kernel is an instruction that a launch runs, and what its shapes tell of it.
type Kernel struct {
	*Instruction
	Arguments []Shape // of its operands
	Maybe     bool    // in a branch that may not be taken
	Ahead     bool    // a transfer that runs while kernels do
	Until     int     // of such: how many of the list come before its end
	Earlier   bool    // of such: it runs behind the launch before; another that copies the operand does so for the next
	Products  string  // the dtype of its first product's factors; "" without products
	FLOPs     int64   // of its products
	// Bytes are those of main memory that it needs at least: what it reads, each array once
	// and of slices only what they take, and what it writes.
	Bytes int64
	// Left and Right are those of Bytes that the first factor of its product is made of, and
	// the second; 0 where it has more than one product.
	Left, Right int64
	// Windows are XLA's blocks, if it notes them of a product of two matrices.
	Windows *Windows
	// Twin is what two kernels share that the compiler writes once.
	Twin string
}

// Kernels lists what a launch runs, in order, inside of loops and branches too. Instructions
// that name what others made, and run nothing, are left out.
func (m *Module) Kernels() []Kernel {
	windows := map[string]Windows{}
	for _, c := range m.Computations {
		for _, w := range windowsOf(c) {
			windows[w.Kernel] = w
		}
	}
	var all []Kernel
	var walk func(c *Computation, maybe bool)
	walk = func(c *Computation, maybe bool) {
		if c == nil {
			return
		}
		for _, i := range c.Instructions {
			switch i.Opcode {
			case "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier", "partition-id", "replica-id",
				"async-update":
				continue
			case "copy-done", "async-done", "slice-done":
				for n := range all {
					if len(i.Operands) > 0 && all[n].Name == i.Operands[0] {
						all[n].Until = len(all)
					}
				}
				continue
			case "while", "conditional", "call":
				for n, id := range i.computations {
					if i.Opcode != "while" || n == 0 { // the second is the condition
						walk(m.callee(c, id), maybe || i.Opcode == "conditional")
					}
				}
				continue
			}
			k := Kernel{Instruction: i, Maybe: maybe, Earlier: i.prefetch}
			if w, ok := windows[i.Name]; ok {
				k.Windows = &w
			}
			m.measure(&k, c)
			all = append(all, k)
		}
	}
	walk(m.Entry, false)
	return all
}

// measure fills in what shapes tell of an instruction of c.
func (m *Module) measure(k *Kernel, c *Computation) {
	var inner *Computation
	if k.Opcode == "fusion" && len(k.computations) > 0 {
		inner = m.callee(c, k.computations[0])
	}
	var twin strings.Builder
	fmt.Fprint(&twin, k.Opcode, k.Target, k.Shape)
	if _, config, ok := strings.Cut(k.Config, `"window_config"`); ok {
		config, _, _ = strings.Cut(config, "}")
		twin.WriteString(config)
	} else if k.Opcode == "custom-call" {
		twin.WriteString(k.Config)
	}
	for _, o := range k.Operands {
		fmt.Fprint(&twin, c.shape(o))
		k.Arguments = append(k.Arguments, c.shape(o))
	}
	var product *Instruction
	var factors [2]map[int64]bool // which operands each factor is made of
	products := 0
	m.visit(c, k.Instruction, func(in *Computation, i *Instruction) {
		fmt.Fprint(&twin, i.Opcode, i.Shape, i.parameter)
		if flops := i.flops(in); flops > 0 {
			k.FLOPs += flops
			if products++; products == 1 {
				product, k.Products = i, elementNames[in.shape(i.Operands[0]).Element]
			}
			if in == inner {
				factors = [2]map[int64]bool{inner.feeds(i.Operands[0]), inner.feeds(i.Operands[1])}
			}
		}
	})
	k.Twin = twin.String()
	for n, o := range k.Operands {
		bytes := c.shape(o).mainBytes()
		switch {
		case inner != nil && bytes > 0:
			bytes = min(bytes, m.taken(inner, int64(n)))
		case k.Opcode == "dynamic-slice" || k.Opcode == "gather":
			bytes = min(bytes, k.Shape.mainBytes())
		case k.Opcode == "dynamic-update-slice" && n == 0:
			bytes = 0
		}
		k.Bytes += bytes
		left, right := products == 1 && (factors[0][int64(n)] || k.Instruction == product && n == 0), products == 1 && (factors[1][int64(n)] || k.Instruction == product && n == 1)
		switch {
		case left && !right:
			k.Left += bytes
		case right && !left:
			k.Right += bytes
		}
	}
	k.Bytes += m.written(inner, k.Instruction, c)
	if k.Ahead = strings.HasSuffix(k.Opcode, "-start"); k.Ahead && len(k.Shape.Tuple) > 1 {
		k.Bytes = k.Shape.Tuple[0].bytes() // of the copy, else of a slice
		if k.Opcode == "async-start" {
			k.Bytes = k.Shape.Tuple[1].bytes()
		}
	}
}

// callee is a computation that c calls: it stands before c, or is none.
func (m *Module) callee(c *Computation, id int64) *Computation {
	for _, before := range m.Computations {
		switch {
		case before == c:
			return nil
		case before.id == id:
			return before
		}
	}
	return nil
}

// visit goes through an instruction and what it is fused of.
func (m *Module) visit(c *Computation, i *Instruction, each func(*Computation, *Instruction)) {
	each(c, i)
	for _, id := range i.computations {
		if inner := m.callee(c, id); inner != nil && i.Opcode == "fusion" {
			for _, i := range inner.Instructions {
				m.visit(inner, i, each)
			}
		}
	}
}

func (c *Computation) find(name string) *Instruction {
	for _, i := range c.Instructions {
		if i.Name == name {
			return i
		}
	}
	return &Instruction{}
}

func (c *Computation) shape(name string) Shape { return c.find(name).Shape }

// mainBytes are those of arrays in main memory.
func (s Shape) mainBytes() (sum int64) {
	for _, a := range s.Arrays() {
		if a.Space == 0 {
			sum += a.bytes()
		}
	}
	return sum
}

// feeds are the parameters that a value is computed from.
func (c *Computation) feeds(name string) map[int64]bool {
	all := map[int64]bool{}
	todo, seen := []string{name}, map[string]bool{}
	for len(todo) > 0 {
		i := c.find(todo[len(todo)-1])
		if todo = todo[:len(todo)-1]; seen[i.Name] {
			continue
		}
		if seen[i.Name] = true; i.Opcode == "parameter" {
			all[i.parameter] = true
		}
		todo = append(todo, i.Operands...)
	}
	return all
}

// taken are the bytes that a computation needs of a parameter: of one that it only slices, those
// of the slices, and none of one that it only writes a slice of.
func (m *Module) taken(c *Computation, parameter int64) (sum int64) {
	for _, p := range c.Instructions {
		if p.Opcode != "parameter" || p.parameter != parameter {
			continue
		}
		for _, i := range c.Instructions {
			for n, o := range i.Operands {
				switch {
				case o != p.Name:
				case i.Opcode == "fusion" && len(i.computations) > 0 && m.callee(c, i.computations[0]) != nil:
					sum += m.taken(m.callee(c, i.computations[0]), int64(n))
				case n == 0 && (i.Opcode == "dynamic-slice" || i.Opcode == "slice" || i.Opcode == "gather"):
					sum += i.Shape.bytes()
				case n == 0 && i.Opcode == "dynamic-update-slice":
				default:
					sum += p.Shape.bytes()
				}
			}
		}
	}
	return sum
}

// written are the bytes of main memory that an instruction of c writes, of a slice those alone.
func (m *Module) written(inner *Computation, i *Instruction, c *Computation) int64 {
	if inner != nil && len(inner.Instructions) > 0 {
		if root := inner.Instructions[len(inner.Instructions)-1]; root.Opcode == "dynamic-update-slice" && len(root.Operands) > 1 && i.Shape.mainBytes() > 0 {
			return inner.shape(root.Operands[1]).bytes()
		}
	}
	if i.Opcode == "dynamic-update-slice" && len(i.Operands) > 1 {
		return c.shape(i.Operands[1]).bytes()
	}
	return i.Shape.mainBytes()
}

// elementNames are numbers of xla_data.proto, as dtypes are called here.
var elementNames = map[int64]string{
	2: "int8", 4: "int32", 10: "float16", 11: "float32", 16: "bfloat16", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4",
}

// mlirNames are the same as MLIR spells them.
var mlirNames = map[int64]string{
	1: "i1", 2: "i8", 3: "i16", 4: "i32", 5: "i64", 6: "ui8", 7: "ui16", 8: "ui32", 9: "ui64",
	10: "f16", 11: "f32", 12: "f64", 16: "bf16", 19: "f8E5M2", 20: "f8E4M3FN", 21: "i4", 22: "ui4",
}

// Signature is what the program takes and returns, spelled as in MLIR: tensor<4x8xbf16>.
func (m *Module) Signature() (in, out []string) {
	return spelled(m.Entry.Parameters), spelled(m.Entry.Result.Leaves())
}

func spelled(shapes []Shape) (all []string) {
	for _, s := range shapes {
		text := "tensor<"
		for _, d := range s.Dimensions {
			text += fmt.Sprintf("%dx", d)
		}
		all = append(all, text+cmp.Or(mlirNames[s.Element], "?")+">")
	}
	return all
}

// flops are those of a product in c; 0 of what is none. Positions of a convolution that lie in
// its padding, or in the holes of a dilation, are none.
func (i *Instruction) flops(c *Computation) int64 {
	if len(i.Operands) < 2 {
		return 0
	}
	left, right := c.shape(i.Operands[0]).Dimensions, c.shape(i.Operands[1]).Dimensions
	at := func(dims []int64, n int64) int64 {
		if n < 0 || n >= int64(len(dims)) {
			return 1
		}
		return dims[n]
	}
	flops := int64(2)
	switch d := i.dims; i.Opcode {
	case "dot":
		flops *= each.Product(i.Shape.Dimensions)
		for _, n := range d.contracted {
			flops *= at(left, n)
		}
	case "convolution":
		flops *= at(i.Shape.Dimensions, d.outBatch) * at(i.Shape.Dimensions, d.outFeature) * at(right, d.kernelFeature)
		for n, w := range d.window {
			if n < len(d.outSpatial) && n < len(d.inSpatial) {
				flops *= w.positions(at(i.Shape.Dimensions, d.outSpatial[n]), at(left, d.inSpatial[n]))
			}
		}
	default:
		return 0
	}
	return flops
}

// dimensions are what a product says of those of its operands.
type dimensions struct {
	contracted                          []int64 // of a dot's left operand
	outBatch, outFeature, kernelFeature int64
	inSpatial, outSpatial               []int64
	window                              []window
}

// window is a convolution along one dimension.
type window struct{ size, stride, low, dilation, base int64 }

// positions counts the pairs of an output and a place in the window that meet an input.
func (w window) positions(out, in int64) (n int64) {
	const most = 1 << 22
	if w.size < 1 || out < 1 || out > most/w.size {
		return max(0, w.size) * max(0, out)
	}
	for k := range w.size {
		for o := range out {
			at := o*w.stride - w.low + k*w.dilation
			if at >= 0 && at%w.base == 0 && at/w.base < in {
				n++
			}
		}
	}
	return n
}

var windowFields = fieldsOf[window]{
	1: number(func(w *window) *int64 { return &w.size }),
	2: number(func(w *window) *int64 { return &w.stride }),
	3: number(func(w *window) *int64 { return &w.low }),
	5: number(func(w *window) *int64 { return &w.dilation }),
	6: number(func(w *window) *int64 { return &w.base }),
}

func readWindow(message []byte) (window, error) {
	w := window{1, 1, 0, 1, 1}
	err := windowFields.read(&w, message)
	w.base = max(1, w.base)
	return w, err
}
