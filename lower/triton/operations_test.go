package triton_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/lower/internal/lowertest"
	"matladder/lower/internal/mlir"
	"matladder/tile"
)

// known are the element types; floats whose rounding package tile knows.
var known = map[string]tile.Dtype{
	"f32": tile.Float32, "bf16": tile.BFloat16, "f8E4M3FN": tile.Float8E4M3FN, "f8E5M2": tile.Float8E5M2,
	"f16": tile.Float16, "i1": 0, "i8": 0, "i32": 0, "i64": 0,
}

// kept is what a value of an element type keeps of x: floats round, integers
// lose the bits they have no room for.
func kept(elem string, x float64) float64 {
	switch elem {
	case "i1":
		return float64(int64(x) & 1)
	case "i8":
		return float64(int8(int64(x)))
	case "i32":
		return float64(int32(int64(x)))
	case "i64":
		return x
	case "f32":
		return float64(float32(x))
	}
	return known[elem].Round(x)
}

var floatFunctions = lowertest.Floats(
	"arith.addf", "arith.subf", "arith.mulf", "tt.precise_divf", "arith.maximumf", "arith.minimumf",
	"arith.negf", "math.absf", "math.exp", "tt.precise_sqrt",
)

var comparisons = map[string]func(x, y float64) bool{
	"eq": func(x, y float64) bool { return x == y }, "ne": func(x, y float64) bool { return x != y },
	"slt": func(x, y float64) bool { return x < y }, "sle": func(x, y float64) bool { return x <= y },
	"sgt": func(x, y float64) bool { return x > y }, "sge": func(x, y float64) bool { return x >= y },
}

func init() {
	for name, as := range map[string]string{"oeq": "eq", "une": "ne", "olt": "slt", "ole": "sle", "ogt": "sgt", "oge": "sge"} {
		comparisons[name] = comparisons[as]
	}
}

var attribute = regexp.MustCompile(`(\w+) = (?:array<i32: ([\d, ]+)>|(\d+) : i32)`)

// attributes are the integers that an operation names.
func attributes(text string) map[string][]int {
	all := map[string][]int{}
	for _, m := range attribute.FindAllStringSubmatch(text, -1) {
		for _, s := range strings.Split(m[2]+m[3], ", ") {
			n, _ := strconv.Atoi(s)
			all[m[1]] = append(all[m[1]], n)
		}
	}
	return all
}

// apply runs an operation without regions.
func (m *simulator) apply(op *operation, ins []*val) []*val {
	var to typed
	if len(op.to) > 0 {
		to = parseType(op.to[0])
	}
	from := make([]typed, len(ins))
	for i, t := range op.from {
		from[i] = parseType(t)
	}
	if f, ok := floatFunctions[op.name]; ok {
		if to.elem != "f32" {
			panic(op.name + " of " + to.elem)
		}
		return one(map2(ins, func(x, y float64) float64 { return kept("f32", f(x, y)) }))
	}
	if f, ok := lowertest.Integers[op.name]; ok {
		if mlir.IsFloat(to.elem) {
			panic(op.name + " of " + to.elem)
		}
		return one(map2(ins, func(x, y float64) float64 { return kept(to.elem, float64(f(int64(x), int64(y)))) }))
	}
	switch op.name {
	case "tt.return":
		return nil
	case "gpu.barrier":
		m.epoch++
		return nil
	case "tt.get_program_id":
		return one(&val{data: []float64{float64(m.id - 1)}})
	case "arith.constant":
		return one(op.value)
	case "tt.load":
		return one(m.load(ins))
	case "tt.store":
		m.store(ins)
		return nil
	case "tt.addptr":
		if len(ins[0].data) != len(ins[1].data) {
			panic("tt.addptr of other shapes")
		}
		v := map2(ins, func(x, y float64) float64 { return x + y })
		v.array = ins[0].array
		return one(v)
	case "arith.cmpi", "arith.cmpf":
		name, _, _ := strings.Cut(op.text, ",")
		if mlir.IsFloat(from[0].elem) != (op.name == "arith.cmpf") || (name == "une" || strings.HasPrefix(name, "o")) != mlir.IsFloat(from[0].elem) {
			panic(op.name + " " + name + " of " + from[0].elem)
		}
		holds := comparisons[name]
		return one(map2(ins, func(x, y float64) float64 {
			if holds(x, y) {
				return 1
			}
			return 0
		}))
	case "arith.select":
		v := &val{data: slices.Clone(ins[2].data)}
		for i := range v.data {
			if c := ins[0].data; c[i%len(c)] != 0 {
				v.data[i] = ins[1].data[i]
			}
		}
		return one(v)
	case "arith.extf", "arith.truncf", "tt.fp_to_fp", "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp", "arith.fptosi":
		if !slices.Equal(from[0].dims, to.dims) || op.name == "tt.fp_to_fp" && len(to.dims) == 0 {
			panic(op.name + " to another shape, or of a scalar")
		}
		v := &val{data: make([]float64, len(ins[0].data))}
		for i, x := range ins[0].data {
			v.data[i] = converted(op, from[0].elem, to.elem, x)
		}
		return one(v)
	case "tt.bitcast":
		v := &val{data: make([]float64, len(ins[0].data))}
		for i, x := range ins[0].data {
			v.data[i] = lowertest.Bitcast(to.elem, x)
		}
		return one(v)
	case "tt.reduce":
		return one(reduced(op, ins[0], from[0]))
	case "tt.dot_scaled":
		return one(scaledProduct(op, ins, from, to))
	case "tt.dot":
		return one(product(op, ins, from, to))
	case "tt.split":
		a, b := &val{}, &val{}
		for i, x := range ins[0].data {
			if i%2 == 0 {
				a.data = append(a.data, x)
			} else {
				b.data = append(b.data, x)
			}
		}
		return []*val{a, b}
	}
	v := moved(op, ins, from, to)
	v.array = ins0(ins).array
	return one(v)
}

func one(v *val) []*val { return []*val{v} }

func ins0(ins []*val) *val {
	if len(ins) == 0 {
		return &val{}
	}
	return ins[0]
}

func map2(ins []*val, f func(x, y float64) float64) *val {
	last := ins[len(ins)-1]
	v := &val{data: make([]float64, len(last.data))}
	for i := range v.data {
		v.data[i] = f(ins[0].data[i], last.data[i])
	}
	return v
}

// constantOf reads 0 : index or dense<1.0e+00> : tensor<…>.
func constantOf(text, typ string) *val {
	t := parseType(typ)
	text, dense := strings.CutPrefix(strings.TrimSuffix(text, ">"), "dense<")
	if dense != t.tensor {
		panic("constant " + text + " : " + typ)
	}
	v := &val{data: make([]float64, elements(t.dims))}
	x := number(text, t.elem)
	for i := range v.data {
		v.data[i] = x
	}
	return v
}

func number(text, elem string) float64 {
	hex, bits := strings.CutPrefix(text, "0x")
	switch {
	case text == "true":
		return 1
	case text == "false":
		return 0
	case bits && elem == "f8E5M2":
		return map[string]float64{"7C": math.Inf(1), "FC": math.Inf(-1)}[hex]
	case bits:
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || elem != "f32" {
			panic("constant " + text)
		}
		return float64(math.Float32frombits(uint32(n)))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || mlir.IsFloat(elem) != strings.Contains(text, ".") || !mlir.IsFloat(elem) && kept(elem, x) != x {
		panic("constant " + text + " of " + elem)
	}
	return kept(elem, x)
}

var width = map[string]int{"i1": 1, "i8": 8, "i32": 32, "i64": 64, "f32": 32, "bf16": 16, "f16": 16, "f8E4M3FN": 8, "f8E5M2": 8}

func converted(op *operation, from, to string, x float64) float64 {
	narrower, ok := width[to] < width[from], true
	switch op.name {
	case "arith.extf", "arith.truncf":
		ok = mlir.IsFloat(from) && mlir.IsFloat(to) && narrower == (op.name == "arith.truncf") && width[from] > 8 && width[to] > 8
	case "tt.fp_to_fp":
		ok = mlir.IsFloat(from) && mlir.IsFloat(to) && from != to && strings.Contains(op.text, "rounding = rtne") == narrower
		if narrower { // the hardware saturates
			_, most := known[to].Range()
			if math.Abs(x) > most {
				x = math.Copysign(most, x)
			}
		}
	case "arith.extsi", "arith.trunci", "arith.extui":
		ok = !mlir.IsFloat(from) && !mlir.IsFloat(to) && narrower == (op.name == "arith.trunci")
	case "arith.sitofp":
		ok = !mlir.IsFloat(from) && mlir.IsFloat(to)
	case "arith.fptosi": // of what does not fit, no two machines make the same
		ok = mlir.IsFloat(from) && to == "i32"
		if !(x >= math.MinInt32 && x <= math.MaxInt32) {
			x = -77
		}
		x = math.Trunc(x)
	}
	if !ok {
		panic(fmt.Sprintf("%s of %v from %s to %s", op.name, x, from, to))
	}
	if op.name == "arith.extui" && x < 0 {
		x += float64(int(1) << width[from])
	}
	return kept(to, x)
}

// reduced combines the elements along a dimension, which goes.
func reduced(op *operation, x *val, from typed) *val {
	axis, name, _ := strings.Cut(op.text, " ")
	dim, _ := strconv.Atoi(axis)
	inner, n := elements(from.dims[dim+1:]), from.dims[dim]
	v := &val{data: make([]float64, len(x.data)/n)}
	for i := range v.data {
		at := i/inner*inner*n + i%inner
		sum := x.data[at]
		for j := 1; j < n; j++ {
			y := x.data[at+j*inner]
			if f, ok := floatFunctions[name]; ok {
				sum = kept(from.elem, f(sum, y))
			} else {
				sum = kept(from.elem, float64(lowertest.Integers[name](int64(sum), int64(y))))
			}
		}
		v.data[i] = sum
	}
	return v
}

// moved runs what makes elements of places or of other elements.
func moved(op *operation, ins []*val, from []typed, to typed) *val {
	attrs := attributes(op.text)
	if op.name == "tt.reshape" {
		return &val{data: ins[0].data}
	}
	v := &val{data: make([]float64, elements(to.dims))}
	at := make([]int, len(to.dims))
	for i := range v.data {
		for d := len(at) - 1; d >= 0 && i > 0; d-- { // the next element
			if at[d]++; at[d] < to.dims[d] {
				break
			}
			at[d] = 0
		}
		switch op.name {
		case "tt.make_range":
			if attrs["start"][0] != 0 || attrs["end"][0] != to.dims[0] {
				panic("tt.make_range " + op.text)
			}
			v.data[i] = float64(i)
		case "tt.splat":
			v.data[i] = ins[0].data[0]
		case "tt.expand_dims":
			axis := attrs["axis"][0]
			if i == 0 && !slices.Equal(slices.Insert(slices.Clone(from[0].dims), axis, 1), to.dims) {
				panic("tt.expand_dims to " + fmt.Sprint(to.dims))
			}
			v.data[i] = ins[0].data[i]
		case "tt.broadcast":
			if len(from[0].dims) != len(to.dims) {
				panic("tt.broadcast to another rank")
			}
			v.data[i] = ins[0].data[flat(at, from[0].dims, true)]
		case "tt.trans":
			if !slices.Equal(attrs["order"], []int{1, 0}) || !slices.Equal(to.dims, []int{from[0].dims[1], from[0].dims[0]}) {
				panic("tt.trans")
			}
			v.data[i] = ins[0].data[flat([]int{at[1], at[0]}, from[0].dims, false)]
		case "tt.join":
			v.data[i] = ins[at[len(at)-1]].data[i/2]
		case "tt.gather":
			c := slices.Clone(at)
			c[attrs["axis"][0]] = int(ins[1].data[i])
			v.data[i] = ins[0].data[flat(c, from[0].dims, false)]
		default:
			panic("no such operation: " + op.name)
		}
	}
	return v
}

// flat is the number of an element; if repeat, a dimension of size 1 is repeated.
func flat(at, dims []int, repeat bool) int {
	n := 0
	for d, size := range dims {
		c := at[d]
		if size == 1 && repeat {
			c = 0
		}
		if c < 0 || c >= size {
			panic(fmt.Sprintf("element %v of %v", at, dims))
		}
		n = n*size + c
	}
	return n
}

// product adds the product of two matrices to a third. Floats are summed in
// float64 and rounded once; integers wrap.
func product(op *operation, ins []*val, from []typed, to typed) *val {
	a, b := from[0].dims, from[1].dims
	valid := map[string]string{"f32": "f32", "bf16": "f32", "f16": "f32", "f8E4M3FN": "f32", "f8E5M2": "f32", "i8": "i32"}
	least := 16
	if width[from[0].elem] == 8 {
		least = 32
	}
	if a[1] != b[0] || !slices.Equal(to.dims, []int{a[0], b[1]}) || min(a[0], b[1]) < 16 || a[1] < least ||
		valid[from[0].elem] != to.elem || from[0].elem != from[1].elem && !strings.HasPrefix(from[0].elem, "f8") || valid[from[1].elem] != to.elem ||
		strings.Contains(op.text, "inputPrecision") != (from[0].elem == "f32") {
		panic(fmt.Sprintf("tt.dot %s %v", op.text, op.from))
	}
	v := &val{data: slices.Clone(ins[2].data)}
	n := b[1]
	for i := range a[0] {
		row := v.data[i*n : (i+1)*n]
		for k := range a[1] {
			x := ins[0].data[i*a[1]+k]
			for j, y := range ins[1].data[k*n : (k+1)*n] {
				row[j] += x * y
			}
		}
		for j := range row {
			row[j] = kept(to.elem, row[j])
		}
	}
	return v
}

var scaledText = regexp.MustCompile(`^%\S+ scale %\S+, %\S+ scale %\S+, %\S+ lhs = (\w+) rhs = (\w+) \{fastMath = false(, rhs_k_pack = false)?\}$`)

// scaledProduct adds the product of numbers by the scales of their groups, as Triton documents
// tt.dot_scaled: a pair of e2m1 has its first number, along k or n, in the low half of a byte.
func scaledProduct(op *operation, ins []*val, from []typed, to typed) *val {
	form := scaledText.FindStringSubmatch(op.text)
	if form == nil {
		panic("tt.dot_scaled " + op.text)
	}
	m, n := to.dims[0], to.dims[1]
	elems := map[string]string{"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m1": "i8"}
	side := func(v *val, t typed, format string, dim, pairs int) (at func(i, k int) float64, depth int) {
		if elems[format] != t.elem || t.elem == "" {
			panic("tt.dot_scaled of " + format + " in " + t.elem)
		}
		depth, cols := t.dims[dim], t.dims[1]
		if format != "e2m1" {
			pairs = -1
		} else if pairs == dim {
			depth *= 2
		}
		return func(i, k int) float64 {
			c := [2]int{i, k}
			if dim == 0 {
				c = [2]int{k, i}
			}
			if pairs < 0 {
				return v.data[c[0]*cols+c[1]]
			}
			high := c[pairs] % 2
			c[pairs] /= 2
			return e2m1(int(v.data[c[0]*cols+c[1]]) >> (4 * high) & 15)
		}, depth
	}
	pairs := 0
	if form[3] != "" {
		pairs = 1
	}
	x, depth := side(ins[0], from[0], form[1], 1, 1)
	y, other := side(ins[2], from[2], form[2], 0, pairs)
	groups := from[1].dims[1]
	size := depth / groups
	if depth != other || from[1].elem != from[3].elem || !slices.Equal(from[1].dims, []int{m, groups}) || !slices.Equal(from[3].dims, []int{n, groups}) ||
		size != map[string]int{"i8": 32, "f8E4M3FN": 16}[from[1].elem] {
		panic(fmt.Sprintf("tt.dot_scaled of %v", op.from))
	}
	scale := func(v *val, i, g int) float64 {
		s := v.data[i*groups+g]
		if from[1].elem == "i8" {
			if s = math.Ldexp(1, int(uint8(int8(s)))-127); s > 0x1p127 {
				return math.NaN()
			}
		}
		return s
	}
	v := &val{data: slices.Clone(ins[4].data)}
	for i := range m {
		for j := range n {
			for g := range groups {
				sum := 0.0
				for k := g * size; k < (g+1)*size; k++ {
					sum += x(i, k) * y(j, k)
				}
				v.data[i*n+j] += sum * scale(ins[1], i, g) * scale(ins[3], j, g)
			}
			v.data[i*n+j] = kept("f32", v.data[i*n+j])
		}
	}
	return v
}

// e2m1 is the number of a code.
func e2m1(code int) float64 {
	x := []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}[code&7]
	if code > 7 {
		return -x
	}
	return x
}
