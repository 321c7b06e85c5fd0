package mosaic_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/lower/internal/lowertest"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// dtypes are the element types whose rounding package tile knows.
var dtypes = map[string]tile.Dtype{
	"f32": tile.Float32, "bf16": tile.BFloat16, "f8E4M3FN": tile.Float8E4M3FN, "f8E5M2": tile.Float8E5M2,
}

// kept is what a value of an element type keeps of x: floats round, integers
// lose the bits they have no room for.
func kept(elem string, x float64) float64 {
	switch elem {
	case "i1":
		return float64(int64(x) & 1)
	case "i4":
		return float64(int8(int64(x)<<4) >> 4)
	case "i8":
		return float64(int8(int64(x)))
	case "i32":
		return float64(int32(int64(x)))
	case "index":
		return x
	}
	return dtypes[elem].Round(x)
}

var floatFunctions = lowertest.Floats(
	"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf",
	"arith.negf", "math.absf", "math.exp", "math.exp2", "math.log", "math.tanh",
	"math.rsqrt", "math.roundeven",
)

var comparisons = map[string][]func(x, y float64) bool{
	"arith.cmpi": {
		func(x, y float64) bool { return x == y }, func(x, y float64) bool { return x != y }, func(x, y float64) bool { return x < y },
		func(x, y float64) bool { return x <= y }, func(x, y float64) bool { return x > y }, func(x, y float64) bool { return x >= y },
		6: func(x, y float64) bool { return uint32(int32(x)) < uint32(int32(y)) },
	},
	// The others are true of a NaN, or have no hardware.
	"arith.cmpf": {
		1: func(x, y float64) bool { return x == y }, func(x, y float64) bool { return x > y }, func(x, y float64) bool { return x >= y },
		func(x, y float64) bool { return x < y }, func(x, y float64) bool { return x <= y },
	},
}

// apply runs an operation without regions.
func (m *simulator) apply(op *operation, ins []*val) *val {
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("line %d: %s: ", op.line, op.name) + fmt.Sprintf(format, args...))
	}
	var to typed
	if len(op.to) == 1 {
		to = parseType(op.to[0])
	}
	from := make([]typed, len(ins))
	for i, t := range op.from {
		from[i] = parseType(t)
	}
	alike := func() { // operands and result are of one type
		for _, t := range op.from {
			if t != op.to[0] {
				fail("types %v", op.from)
			}
		}
	}
	float, isFloatOp := floatFunctions[op.name]
	integer, isIntegerOp := lowertest.Integers[op.name]
	switch {
	case isFloatOp:
		if alike(); to.elem != "f32" {
			fail("not of f32")
		}
		return map2(ins, func(x, y float64) float64 { return kept(to.elem, float(x, y)) })
	case isIntegerOp:
		alike()
		if mlir.IsFloat(to.elem) || to.vector && to.elem != "i32" && to.elem != "i1" {
			fail("of %s", to.elem)
		}
		return map2(ins, func(x, y float64) float64 { return kept(to.elem, float64(integer(int64(x), int64(y)))) })
	}
	switch op.name {
	case "arith.constant":
		return &val{data: repeat(constant(op.attrs["value"]), elements(to.dims))}
	case "arith.cmpi", "arith.cmpf":
		if op.from[0] != op.from[1] || to.elem != "i1" || mlir.IsFloat(from[0].elem) != (op.name == "arith.cmpf") {
			fail("types %v", op.from)
		}
		holds := comparisons[op.name][integers(op.attrs["predicate"])[0]]
		return map2(ins, func(x, y float64) float64 {
			if holds(x, y) {
				return 1
			}
			return 0
		})
	case "arith.bitcast":
		return map1(ins[0], func(x float64) float64 { return lowertest.Bitcast(to.elem, x) })
	case "arith.select":
		v := &val{data: slices.Clone(ins[2].data)}
		for i := range v.data {
			if c := ins[0].data; c[i%len(c)] != 0 {
				v.data[i] = ins[1].data[i]
			}
		}
		return v
	case "arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp", "arith.fptosi", "arith.index_cast":
		return map1(ins[0], func(x float64) float64 { return converted(op.name, from[0].elem, to.elem, x) })
	case "vector.load", "memref.load", "tpu.vector_store":
		return m.memory(op, ins, to)
	case "tpu.memref_slice", "tpu.memref_squeeze", "tpu.enqueue_dma", "tpu.wait_dma2", "tpu.sem_barrier", "tpu.sem_signal", "tpu.sem_wait":
		return m.copying(op, ins)
	case "vector.shape_cast":
		return &val{data: ins[0].data}
	case "vector.broadcast", "vector.extract_strided_slice", "tpu.concatenate", "tpu.iota":
		return gather(op, ins, from, to)
	case "vector.multi_reduction":
		dim := integers(op.attrs["reduction_dims"])[0]
		n, inner := from[0].dims[dim], elements(from[0].dims[dim+1:])
		if want := slices.Delete(slices.Clone(from[0].dims), dim, dim+1); !slices.Equal(want, to.dims) {
			fail("dimensions %v of %v", to.dims, from[0].dims)
		}
		kinds := map[string]string{"#vector.kind<add>": "arith.addf", "#vector.kind<maximumf>": "arith.maximumf", "#vector.kind<maxsi>": "arith.maxsi"}
		v := &val{data: slices.Clone(ins[1].data)}
		for i, x := range ins[0].data {
			at := i/inner/n*inner + i%inner
			y := v.data[at]
			switch kind := op.attrs["kind"]; {
			case mlir.IsFloat(to.elem):
				v.data[at] = kept(to.elem, floatFunctions[kinds[kind]](y, x))
			case kind == "#vector.kind<add>":
				v.data[at] = kept(to.elem, y+x)
			default:
				v.data[at] = max(y, x)
			}
		}
		return v
	case "tpu.matmul":
		return matmul(op, ins, from, to)
	}
	fail("no such operation")
	return nil
}

func map1(x *val, f func(float64) float64) *val {
	v := &val{data: make([]float64, len(x.data))}
	for i := range v.data {
		v.data[i] = f(x.data[i])
	}
	return v
}

func map2(ins []*val, f func(x, y float64) float64) *val {
	last := ins[len(ins)-1]
	v := &val{data: make([]float64, len(last.data))}
	for i := range v.data {
		v.data[i] = f(ins[0].data[i], last.data[i])
	}
	return v
}

func repeat(x float64, n int) []float64 {
	data := make([]float64, n)
	for i := range data {
		data[i] = x
	}
	return data
}

// constant reads 0 : index or dense<1.0e+00> : vector<…>.
func constant(attr string) float64 {
	text, typ, _ := strings.Cut(attr, " : ")
	text = strings.TrimSuffix(strings.TrimPrefix(text, "dense<"), ">")
	elem := parseType(typ).elem
	switch {
	case text == "true":
		return 1
	case text == "false":
		return 0
	case mlir.IsFloat(elem) && strings.HasPrefix(text, "0x"):
		bits, err := strconv.ParseUint(text[2:], 16, 32)
		if err != nil {
			panic(err)
		}
		if elem == "bf16" {
			bits <<= 16
		}
		return float64(math.Float32frombits(uint32(bits)))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || mlir.IsFloat(elem) != strings.Contains(text, ".") {
		panic("constant " + attr)
	}
	return kept(elem, x)
}

// widths are those of elements that bits has been asked for.
var widths = map[string]int{"index": 64}

// bits is how many an element has: the first number in its name.
func bits(elem string) int {
	n, ok := widths[elem]
	if !ok {
		n, _ = strconv.Atoi(strings.FieldsFunc(elem, func(c rune) bool { return c < '0' || c > '9' })[0])
		widths[elem] = n
	}
	return n
}

func converted(op, from, to string, x float64) float64 {
	narrower := bits(to) < bits(from)
	ok := true
	switch op {
	case "arith.extf", "arith.truncf":
		ok = mlir.IsFloat(from) && mlir.IsFloat(to) && narrower == (op == "arith.truncf")
	case "arith.extsi", "arith.trunci", "arith.extui":
		ok = !mlir.IsFloat(from) && !mlir.IsFloat(to) && narrower == (op == "arith.trunci")
	case "arith.sitofp":
		ok = !mlir.IsFloat(from) && mlir.IsFloat(to)
	case "arith.fptosi": // of what does not fit, no two machines make the same
		ok = mlir.IsFloat(from) && to == "i32" && x >= math.MinInt32 && x <= math.MaxInt32
		x = math.Trunc(x)
	}
	if !ok {
		panic(fmt.Sprintf("%s of %v from %s to %s", op, x, from, to))
	}
	if op == "arith.extui" && x < 0 {
		x += float64(int(1) << bits(from))
	}
	return kept(to, x)
}

// memory runs loads and stores.
func (m *simulator) memory(op *operation, ins []*val, to typed) *val {
	store := op.name == "tpu.vector_store"
	mem, at, dims := 0, 1, to.dims
	if store {
		mem, at, dims = 1, 2, parseType(op.from[0]).dims
	}
	b := ins[mem].mem
	v := &val{data: make([]float64, elements(dims))}
	if len(ins)-at != len(b.dims) || op.name == "memref.load" != (dims == nil) {
		panic(fmt.Sprintf("line %d: %d indices of %v", op.line, len(ins)-at, b.dims))
	}
	for i := range v.data {
		rest, index, stride := i, 0, 1
		for d := len(b.dims) - 1; d >= 0; d-- {
			c := int(ins[at+d].data[0])
			if dims != nil {
				c += rest % dims[d]
				rest /= dims[d]
			}
			if c < 0 || c >= b.dims[d] {
				panic(fmt.Sprintf("line %d: element %d of dimension %d, whose size is %d", op.line, c, d, b.dims[d]))
			}
			index += c * stride
			stride *= b.dims[d]
		}
		if store {
			b.data[index] = ins[0].data[i]
		} else {
			v.data[i] = b.data[index]
		}
	}
	return v
}

// gather moves elements: for each one of the result, where it comes from.
func gather(op *operation, ins []*val, from []typed, to typed) *val {
	v := &val{data: make([]float64, elements(to.dims))}
	at := make([]int, len(to.dims))
	for i := range v.data {
		for d, rest := len(at)-1, i; d >= 0; d-- {
			at[d], rest = rest%to.dims[d], rest/to.dims[d]
		}
		switch op.name {
		case "tpu.iota":
			v.data[i] = float64(at[integers(op.attrs["dimensions"])[0]])
		case "vector.broadcast":
			v.data[i] = ins[0].data[flat(at[len(at)-len(from[0].dims):], from[0].dims)]
		case "vector.extract_strided_slice":
			offsets := integers(op.attrs["offsets"])
			c := slices.Clone(at)
			for d := range c {
				c[d] += offsets[d]
			}
			v.data[i] = ins[0].data[flat(c, from[0].dims)]
		case "tpu.concatenate":
			d := integers(op.attrs["dimension"])[0]
			c, part := slices.Clone(at), 0
			for c[d] >= from[part].dims[d] {
				c[d] -= from[part].dims[d]
				part++
			}
			v.data[i] = ins[part].data[flat(c, from[part].dims)]
		}
	}
	return v
}

// flat is the number of an element; a dimension of size 1 is repeated.
func flat(at, dims []int) int {
	n := 0
	for d, size := range dims {
		c := at[d]
		if size == 1 {
			c = 0
		}
		if c >= size {
			panic(fmt.Sprintf("element %v of %v", at, dims))
		}
		n = n*size + c
	}
	return n
}

// matmul adds the product of two matrices to a third. Floats are summed in
// float64 and rounded once; integers wrap.
func matmul(op *operation, ins []*val, from []typed, to typed) *val {
	numbers := strings.Split(strings.Trim(op.attrs["dimension_numbers"], "#tpu.dot_dimension_numbers<>"), "], [")
	ka, kb := integers(numbers[0])[0], integers(numbers[1])[0]
	a, b := from[0].dims, from[1].dims
	m, n := integers(numbers[2])[0], integers(numbers[3])[0]
	valid := map[string]string{"f32": "f32", "bf16": "f32", "f8E4M3FN": "f32", "f8E5M2": "f32", "i8": "i32", "i4": "i32"}
	if ka == m || kb == n || a[ka] != b[kb] || !slices.Equal(to.dims, []int{a[m], b[n]}) || op.from[2] != op.to[0] ||
		valid[from[0].elem] != to.elem || valid[from[1].elem] != to.elem || from[0].elem != from[1].elem && !strings.HasPrefix(from[0].elem, "f8") ||
		strings.Contains(op.attrs["precision"], "fp32") != (op.attrs["precision"] != "") || op.attrs["precision"] != "" && from[0].elem != "f32" {
		panic(fmt.Sprintf("line %d: matmul %s %v", op.line, op.attrs["dimension_numbers"], op.from))
	}
	aRow, aCol, bRow, bCol := a[1], 1, b[1], 1
	if ka == 0 {
		aRow, aCol = 1, a[1]
	}
	if kb == 1 {
		bRow, bCol = 1, b[1]
	}
	v := &val{data: slices.Clone(ins[2].data)}
	for i := range a[m] {
		row := v.data[i*b[n] : (i+1)*b[n]]
		for k := range a[ka] {
			x := ins[0].data[i*aRow+k*aCol]
			for j := range row {
				row[j] += x * ins[1].data[k*bRow+j*bCol]
			}
		}
		for j := range row {
			row[j] = kept(to.elem, row[j])
		}
	}
	return v
}
