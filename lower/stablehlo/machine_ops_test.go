package stablehlo_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// operate runs one operation with one result: "stablehlo.name operands,
// attributes : types".
func operate(op string, s *scope) tensor {
	text, types, ok := cutLast(op, " : ")
	name, rest, _ := strings.Cut(text, " ")
	name = strings.TrimPrefix(name, "stablehlo.")
	if !ok {
		panic(fmt.Errorf("no types"))
	}
	if i := strings.Index(name, "("); i >= 0 { // reduce(%x init: %y)
		name, rest = name[:i], name[i+1:]+" "+rest
	}
	var args []tensor
	for _, operand := range operandPattern.FindAllString(rest, -1) {
		args = append(args, s.find(operand))
	}
	operands, result, functional := strings.Cut(types, " -> ")
	if !functional {
		result = types[strings.LastIndex(types, "tensor<"):]
	} else if name != "chlo.erfc" {
		mustBe(args, operands)
	}
	out := parseTypes(result)[0]
	out.v = make([]float64, tile.Elements(out.dims))
	run, known := operations[name]
	switch {
	case known:
		run(&out, args, attributes{rest})
	case len(args) > 0 && elementwise(name, &out, args):
	default:
		panic(fmt.Errorf("no such operation"))
	}
	d := dtypeOf(out.elem)
	for i, x := range out.v {
		if out.elem == "f32" {
			out.v[i] = float64(float32(x))
		}
		if y := out.v[i]; y == y && d.Round(y) != y {
			panic(fmt.Errorf("%v is no %s", y, out.elem))
		}
	}
	return out
}

var operandPattern = regexp.MustCompile(`%[A-Za-z0-9_.]+(#\d+)?`)

// ranges are those of a slice: [0:2, 4:8].
var ranges = regexp.MustCompile(`(\d+):(\d+)`)

func cutLast(s, sep string) (before, after string, ok bool) {
	// Types of a functional form hold no separator, so the last one is it.
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// attributes are what stands between operands and types.
type attributes struct{ text string }

// ints is the list [1, 2] behind a key.
func (a attributes) ints(key string) []int {
	_, rest, ok := strings.Cut(a.text, key+" = [")
	if !ok {
		panic(fmt.Errorf("no attribute %s", key))
	}
	list, _, _ := strings.Cut(rest, "]")
	ns := []int{}
	for _, n := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		ns = append(ns, atoi(n))
	}
	return ns
}

// pair is the two lists [0] x [1] behind a key, of one number each; ok is false
// if there are none.
func (a attributes) pair(key string) (x, y int, ok bool) {
	m := regexp.MustCompile(key + ` = \[(\d+)\] x \[(\d+)\]`).FindStringSubmatch(a.text)
	if m == nil {
		return 0, 0, false
	}
	return atoi(m[1]), atoi(m[2]), true
}

// each calls f with the coordinates of every element, in order.
func each(dims []int, f func(i int, at []int)) {
	at := make([]int, len(dims))
	for i := range int(tile.Elements(dims)) {
		f(i, at)
		for d := len(dims) - 1; d >= 0; d-- {
			if at[d]++; at[d] < dims[d] {
				break
			}
			at[d] = 0
		}
	}
}

// offset is where an element stands; it fails outside.
func offset(dims, at []int) int {
	n := 0
	for d, c := range at {
		if c < 0 || c >= dims[d] {
			panic(fmt.Errorf("element %v of %v", at, dims))
		}
		n = n*dims[d] + c
	}
	return n
}

func plus(a, b []int) []int {
	c := slices.Clone(a)
	for i := range c {
		c[i] += b[i]
	}
	return c
}

// starts are the values of index operands.
func starts(args []tensor) []int {
	var at []int
	for _, a := range args {
		at = append(at, int(a.v[0]))
	}
	return at
}

// sameType fails unless every operand is of o's type, as an elementwise form says.
func sameType(o *tensor, args []tensor) {
	for _, a := range args {
		if a.String() != o.String() {
			panic(fmt.Errorf("operand %s, result %s", a, o))
		}
	}
}

var operations = map[string]func(o *tensor, args []tensor, a attributes){
	"constant": func(o *tensor, _ []tensor, a attributes) {
		text := strings.TrimSuffix(strings.TrimPrefix(a.text, "dense<"), ">")
		x, err := strconv.ParseFloat(text, 64)
		if bits, hex := strings.CutPrefix(text, "0x"); hex {
			var n uint64
			n, err = strconv.ParseUint(bits, 16, 32)
			x = float64(math.Float32frombits(uint32(n)))
		} else if o.elem == "i1" {
			x, err = map[string]float64{"true": 1, "false": 0}[text], nil
		}
		if err != nil {
			panic(err)
		}
		for i := range o.v {
			o.v[i] = x
		}
	},
	"convert": func(o *tensor, args []tensor, _ attributes) {
		for i, x := range args[0].v {
			if o.v[i] = x; dtypeOf(o.elem).IsFloat() {
				o.v[i] = dtypeOf(o.elem).Round(x)
			} else if x != x {
				panic(fmt.Errorf("a NaN becomes an integer"))
			}
		}
	},
	"reshape": func(o *tensor, args []tensor, _ attributes) { copy(o.v, args[0].v) },
	"bitcast_convert": func(o *tensor, args []tensor, _ attributes) {
		for i, x := range args[0].v {
			if from := args[0].elem; from == "ui8" || from == "i4" {
				o.v[i] = meant(dtypeOf(o.elem), x)
			} else if o.elem == "ui8" || o.elem == "i4" {
				o.v[i] = held(dtypeOf(from), x)
			} else if o.elem == "f32" {
				o.v[i] = float64(math.Float32frombits(uint32(int32(x))))
			} else {
				o.v[i] = float64(int32(math.Float32bits(float32(x))))
			}
		}
	},
	"reduce_precision": func(o *tensor, args []tensor, a attributes) {
		sameType(o, args)
		d, ok := map[string]tile.Dtype{"format = e8m7": tile.BFloat16, "format = e5m10": tile.Float16}[a.text[max(0, strings.LastIndex(a.text, "format")):]]
		if !ok {
			panic(fmt.Errorf("not the format of a dtype"))
		}
		for i, x := range args[0].v {
			o.v[i] = d.Round(x)
		}
	},
	"broadcast_in_dim": func(o *tensor, args []tensor, a attributes) {
		where := a.ints("dims")
		each(o.dims, func(i int, at []int) {
			from := make([]int, len(where))
			for d, w := range where {
				if args[0].dims[d] != 1 {
					from[d] = at[w]
				}
			}
			o.v[i] = args[0].v[offset(args[0].dims, from)]
		})
	},
	"iota": func(o *tensor, _ []tensor, a attributes) {
		dim := atoi(strings.TrimPrefix(a.text, "dim = "))
		each(o.dims, func(i int, at []int) { o.v[i] = float64(at[dim]) })
	},
	"compare": func(o *tensor, args []tensor, a attributes) {
		if float := args[0].elem == "f32"; float != strings.HasSuffix(a.text, "FLOAT") {
			panic(fmt.Errorf("compares %s", args[0].elem))
		}
		c := slices.Index([]string{"EQ", "NE", "LT", "LE", "GT", "GE"}, a.text[:2])
		for i, x := range args[0].v {
			if tile.Comparison(c).Holds(x, args[1].v[i]) {
				o.v[i] = 1
			}
		}
	},
	"select": func(o *tensor, args []tensor, _ attributes) {
		sameType(o, args[1:])
		for i, c := range args[0].v {
			o.v[i] = args[1].v[i]
			if c == 0 {
				o.v[i] = args[2].v[i]
			}
		}
	},
	"clamp": func(o *tensor, args []tensor, _ attributes) {
		sameType(o, args)
		for i, x := range args[1].v {
			o.v[i] = max(args[0].v[i], min(args[2].v[i], x))
		}
	},
	"dynamic_slice": func(o *tensor, args []tensor, a attributes) {
		if !slices.Equal(a.ints("sizes"), o.dims) {
			panic(fmt.Errorf("sizes are not the result's"))
		}
		from := starts(args[1:])
		each(o.dims, func(i int, at []int) { o.v[i] = args[0].v[offset(args[0].dims, plus(at, from))] })
	},
	"dynamic_update_slice": func(o *tensor, args []tensor, _ attributes) {
		copy(o.v, args[0].v)
		from := starts(args[2:])
		each(args[1].dims, func(i int, at []int) { o.v[offset(o.dims, plus(at, from))] = args[1].v[i] })
	},
	"slice": func(o *tensor, args []tensor, a attributes) {
		from := make([]int, len(o.dims))
		for d, r := range ranges.FindAllStringSubmatch(a.text, -1) {
			if from[d] = atoi(r[1]); atoi(r[2])-from[d] != o.dims[d] {
				panic(fmt.Errorf("the slice %s is not of the result's shape", r[0]))
			}
		}
		each(o.dims, func(i int, at []int) { o.v[i] = args[0].v[offset(args[0].dims, plus(at, from))] })
	},
	"pad": func(o *tensor, args []tensor, a attributes) {
		if !slices.Equal(plus(args[0].dims, a.ints("high")), o.dims) {
			panic(fmt.Errorf("the padding does not make the result's shape"))
		}
		for i := range o.v {
			o.v[i] = args[1].v[0]
		}
		each(args[0].dims, func(i int, at []int) { o.v[offset(o.dims, at)] = args[0].v[i] })
	},
	"concatenate": func(o *tensor, args []tensor, a attributes) {
		dim := atoi(a.text[strings.LastIndex(a.text, " ")+1:])
		from := make([]int, len(o.dims))
		for _, x := range args {
			each(x.dims, func(i int, at []int) { o.v[offset(o.dims, plus(at, from))] = x.v[i] })
			from[dim] += x.dims[dim]
		}
	},
	"transpose": func(o *tensor, args []tensor, a attributes) {
		order := a.ints("dims")
		each(o.dims, func(i int, at []int) {
			from := make([]int, len(order))
			for d, o := range order {
				from[o] = at[d]
			}
			o.v[i] = args[0].v[offset(args[0].dims, from)]
		})
	},
	"reduce": func(o *tensor, args []tensor, a attributes) {
		across := a.ints("dimensions")
		for i := range o.v {
			o.v[i] = args[1].v[0]
		}
		each(args[0].dims, func(i int, at []int) {
			var left []int
			for d, x := range at {
				if !slices.Contains(across, d) {
					left = append(left, x)
				}
			}
			to, x := offset(o.dims, left), args[0].v[i]
			if strings.Contains(a.text, "stablehlo.maximum") {
				o.v[to] = larger(o.v[to], x)
			} else {
				o.v[to] = wrapOrRound(o.elem, o.v[to]+x)
			}
		})
	},
	"dot_general": func(o *tensor, args []tensor, a attributes) {
		ka, kb, _ := a.pair("contracting_dims")
		_, _, batched := a.pair("batching_dims")
		batch, first := 1, 0
		if batched {
			batch, first = args[0].dims[0], 1
		}
		n, depth := o.dims[len(o.dims)-1], args[0].dims[ka]
		m := len(args[0].v) / (batch * depth) // rows of all matrices of the left that meet one of the right
		if len(o.dims) > first+2 && ka != len(o.dims)-1 {
			panic(fmt.Errorf("more than a matrix, transposed"))
		}
		for i := range o.v {
			g, row, col := i/(m*n), i/n%m, i%n
			if g >= batch {
				panic(fmt.Errorf("more results than batches"))
			}
			sum := 0.0
			for k := range depth {
				x, y := k*m+row, col*depth+k
				if ka > first {
					x = row*depth + k
				}
				if kb == first {
					y = k*n + col
				}
				sum = wrapOrRound(o.elem, sum+args[0].v[g*m*depth+x]*args[1].v[g*n*depth+y])
			}
			o.v[i] = sum
		}
	},
}

// elementwise runs an operation on elements of one type.
func elementwise(name string, o *tensor, args []tensor) bool {
	sameType(o, args)
	float := o.elem == "f32"
	unary := map[string]func(float64) float64{
		"negate": func(x float64) float64 { return -x }, "abs": math.Abs, "not": func(x float64) float64 { return 1 - x },
		"exponential": math.Exp, "log": math.Log, "tanh": math.Tanh, "logistic": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }, "round_nearest_even": math.RoundToEven, "chlo.erfc": math.Erfc,
	}
	binary := map[string]func(x, y float64) float64{
		"add": func(x, y float64) float64 { return x + y }, "subtract": func(x, y float64) float64 { return x - y },
		"multiply": func(x, y float64) float64 { return x * y }, "maximum": larger,
		"minimum": func(x, y float64) float64 { return -larger(-x, -y) },
		"divide": func(x, y float64) float64 {
			if float {
				return x / y
			}
			return math.Trunc(x / y)
		},
		"remainder":              math.Mod,
		"and":                    func(x, y float64) float64 { return float64(int32(x) & int32(y)) },
		"or":                     func(x, y float64) float64 { return float64(int32(x) | int32(y)) },
		"shift_left":             func(x, y float64) float64 { return float64(int32(x) << uint(y)) },
		"shift_right_logical":    func(x, y float64) float64 { return float64(int32(uint32(int32(x)) >> uint(y))) },
		"shift_right_arithmetic": func(x, y float64) float64 { return float64(int32(x) >> uint(y)) },
	}
	if f := unary[name]; f != nil && len(args) == 1 {
		for i, x := range args[0].v {
			o.v[i] = wrapOrRound(o.elem, f(x))
		}
		return true
	}
	f := binary[name]
	if f == nil || len(args) != 2 {
		return false
	}
	for i, x := range args[0].v {
		o.v[i] = wrapOrRound(o.elem, f(x, args[1].v[i]))
	}
	return true
}

func larger(x, y float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return math.Max(x, y)
}

// wrapOrRound makes x a value of i32 or f32.
func wrapOrRound(elem string, x float64) float64 {
	if elem == "f32" {
		return float64(float32(x))
	}
	return float64(int32(int64(x)))
}
