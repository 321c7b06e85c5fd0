package stablehlo_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// machine runs the text that this package writes, line by line, so that what it
// means can be tested without a plugin. It is stricter than a plugin: an index
// out of range, a conversion that does not fit, a type that is not what was said,
// or a region of a while that looks outside itself is an error.
type machine struct {
	lines     []string
	functions map[string]int // line of each
}

// tensor is a value. Elements of f32 are rounded to float32 by whoever makes them.
type tensor struct {
	elem string
	dims []int
	v    []float64
}

func (t tensor) String() string {
	s := "tensor<"
	for _, d := range t.dims {
		s += fmt.Sprint(d, "x")
	}
	return s + t.elem + ">"
}

// scope has the values that can be seen.
type scope struct {
	values map[string]tensor
	outer  *scope
}

func (s *scope) find(name string) tensor {
	for at := s; at != nil; at = at.outer {
		if v, ok := at.values[name]; ok {
			return v
		}
	}
	panic(fmt.Errorf("%s is not defined here", name))
}

func (s *scope) define(name string, v tensor) {
	for at := s; at != nil; at = at.outer {
		if _, taken := at.values[name]; taken {
			panic(fmt.Errorf("%s is defined twice", name))
		}
	}
	s.values[name] = v
}

// names splits a list of operands and looks them up.
func (s *scope) names(list string) []tensor {
	var vs []tensor
	if list == "" {
		return vs
	}
	for _, name := range strings.Split(list, ", ") {
		vs = append(vs, s.find(name))
	}
	return vs
}

// typePattern takes a tensor type apart.
var typePattern = regexp.MustCompile(`tensor<((?:\d+x)*)([a-zA-Z0-9]+)>`)

func parseTypes(text string) []tensor {
	var ts []tensor
	for _, m := range typePattern.FindAllStringSubmatch(text, -1) {
		t := tensor{elem: m[2], dims: []int{}}
		for _, d := range strings.Split(strings.TrimSuffix(m[1], "x"), "x") {
			if d != "" {
				t.dims = append(t.dims, atoi(d))
			}
		}
		ts = append(ts, t)
	}
	return ts
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// mustBe fails unless the values are of the types written.
func mustBe(vs []tensor, types string) {
	want := parseTypes(types)
	if len(vs) != len(want) {
		panic(fmt.Errorf("%d values for types %s", len(vs), types))
	}
	for i, v := range vs {
		if v.elem != want[i].elem || !slices.Equal(v.dims, want[i].dims) {
			panic(fmt.Errorf("value %d is %s, the text says %s", i, v, want[i]))
		}
	}
}

func newMachine(text string) *machine {
	m := &machine{functions: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") {
			line = ""
		}
		if name, ok := strings.CutPrefix(line, "func.func "); ok {
			_, name, _ = strings.Cut(name, "@")
			name, _, _ = strings.Cut(name, "(")
			m.functions[name] = len(m.lines)
		}
		m.lines = append(m.lines, line)
	}
	return m
}

// main runs @main.
func (m *machine) main(args []tensor) (out []tensor, err error) {
	line := 0
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s\n%w", m.lines[line], e)
		}
	}()
	return m.call("main", args, &line), nil
}

func (m *machine) call(name string, args []tensor, at *int) []tensor {
	line, ok := m.functions[name]
	if !ok {
		panic(fmt.Errorf("no function %s", name))
	}
	header := m.lines[line]
	params, results, _ := strings.Cut(header[strings.Index(header, "(")+1:], ") -> (")
	if have := strings.Count(params, ": "); have != len(args) {
		panic(fmt.Errorf("%d arguments for %d", len(args), have))
	}
	s := &scope{values: map[string]tensor{}}
	for i := range args {
		p := strings.Split(params, ", ")[i]
		name, typ, _ := strings.Cut(p, ": ")
		mustBe(args[i:i+1], typ)
		s.define(name, args[i])
	}
	out, _ := m.block(line+1, s, at)
	mustBe(out, results)
	return out
}

// block runs lines from one on until a return, and returns the line after it.
func (m *machine) block(line int, s *scope, at *int) ([]tensor, int) {
	for ; ; line++ {
		text := m.lines[line]
		*at = line
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "stablehlo."), "return "); ok {
			list, types, _ := strings.Cut(rest, " : ")
			vs := s.names(list)
			mustBe(vs, types)
			return vs, line + 1
		}
		name, operation, ok := strings.Cut(text, " = ")
		if text == "" {
			continue
		}
		if !ok {
			panic(fmt.Errorf("no operation"))
		}
		name, count, several := strings.Cut(name, ":")
		var vs []tensor
		switch op := operation; {
		case strings.HasPrefix(op, "stablehlo.while("):
			vs, line = m.while(op, line, s, at)
		case strings.HasPrefix(op, `"stablehlo.if"(`):
			vs, line = m.branch(op, line, s, at)
		case strings.HasPrefix(op, "func.call @"):
			callee, rest, _ := strings.Cut(strings.TrimPrefix(op, "func.call @"), "(")
			list, types, _ := strings.Cut(rest, ") : (")
			operands, results, _ := strings.Cut(types, ") -> (")
			args := s.names(list)
			mustBe(args, operands)
			vs = m.call(callee, args, at)
			mustBe(vs, results)
		case strings.HasPrefix(op, "stablehlo.optimization_barrier "):
			list, types, _ := strings.Cut(strings.TrimPrefix(op, "stablehlo.optimization_barrier "), " : ")
			vs = s.names(list)
			mustBe(vs, types)
		default:
			s.define(name, operate(op, s))
			continue
		}
		if !several || atoi(count) != len(vs) {
			panic(fmt.Errorf("%d results", len(vs)))
		}
		for i, v := range vs {
			s.define(fmt.Sprintf("%s#%d", name, i), v)
		}
	}
}

// while runs a loop whose regions see what it carries and nothing else.
func (m *machine) while(op string, line int, s *scope, at *int) ([]tensor, int) {
	list, types, _ := strings.Cut(strings.TrimPrefix(op, "stablehlo.while("), ") : ")
	var names []string
	var vs []tensor
	for _, pair := range strings.Split(list, ", ") {
		name, init, _ := strings.Cut(pair, " = ")
		names, vs = append(names, name), append(vs, s.find(init))
	}
	for {
		mustBe(vs, types)
		inner := func() *scope {
			in := &scope{values: map[string]tensor{}}
			for i, name := range names {
				in.define(name, vs[i])
			}
			return in
		}
		m.expect(line+1, "cond {")
		goOn, next := m.block(line+2, inner(), at)
		m.expect(next, "} do {")
		if goOn[0].v[0] == 0 {
			return vs, m.skip(next + 1)
		}
		vs, next = m.block(next+1, inner(), at)
		m.expect(next, "}")
	}
}

func (m *machine) branch(op string, line int, s *scope, at *int) ([]tensor, int) {
	condition, _, _ := strings.Cut(strings.TrimPrefix(op, `"stablehlo.if"(`), ")")
	then := line + 1
	otherwise := m.skip(then)
	m.expect(otherwise, "}, {")
	end := m.skip(otherwise + 1)
	from := then
	if s.find(condition).v[0] == 0 {
		from = otherwise + 1
	}
	vs, _ := m.block(from, &scope{values: map[string]tensor{}, outer: s}, at)
	*at = end
	_, results, _ := strings.Cut(m.lines[end], "-> (")
	mustBe(vs, results)
	return vs, end
}

func (m *machine) expect(line int, want string) {
	if m.lines[line] != want {
		panic(fmt.Errorf("%q where %q should be", m.lines[line], want))
	}
}

// skip returns the line that ends the region that starts at line.
func (m *machine) skip(line int) int {
	for depth := 1; ; line++ {
		text := m.lines[line]
		if strings.HasPrefix(text, "}") {
			depth--
		}
		if depth == 0 {
			return line
		}
		if strings.HasSuffix(text, "{") {
			depth++
		}
		if strings.HasPrefix(text, "} do") || strings.HasPrefix(text, "}, {") {
			continue
		}
	}
}

// held is x, of d, as an array has it: the code of a float of which plugins are given codes;
// meant is the opposite.
func held(d tile.Dtype, x float64) float64 {
	switch d {
	case tile.Float4E2M1FN:
		return float64(int8(d.Code(x)<<4) >> 4)
	case tile.Float8E8M0FNU:
		return float64(d.Code(x))
	}
	return x
}

func meant(d tile.Dtype, x float64) float64 {
	switch d {
	case tile.Float4E2M1FN:
		return d.Value(byte(int8(x)) & 0xF)
	case tile.Float8E8M0FNU:
		return d.Value(byte(x))
	}
	return x
}

// fromTile converts host memory to values.
func fromTile(t tile.Tensor) tensor {
	v := tensor{elem: arrayElem(t.Dtype), dims: slices.Clone(t.Shape), v: make([]float64, t.Len())}
	for i := range v.v {
		v.v[i] = held(t.Dtype, t.At(i))
	}
	return v
}

// elements are the spellings of dtypes in StableHLO.
var elements = map[tile.Dtype]string{
	tile.Float32: "f32", tile.BFloat16: "bf16", tile.Float8E4M3FN: "f8E4M3FN", tile.Float8E5M2: "f8E5M2",
	tile.Float16: "f16", tile.Float4E2M1FN: "f4E2M1FN", tile.Float8E8M0FNU: "f8E8M0FNU",
	tile.Int32: "i32", tile.Int8: "i8", tile.Uint8: "ui8", tile.Int4: "i4", tile.Bool: "i1",
}

func arrayElem(d tile.Dtype) string {
	switch d {
	case tile.Float4E2M1FN:
		return "i4"
	case tile.Float8E8M0FNU:
		return "ui8"
	}
	return elements[d]
}

// dtypes are what elements spell.
var dtypes = func() map[string]tile.Dtype {
	list := map[string]tile.Dtype{}
	for d, elem := range elements {
		list[elem] = d
	}
	return list
}()

func dtypeOf(elem string) tile.Dtype {
	d, ok := dtypes[elem]
	if !ok {
		panic(fmt.Errorf("no element type %s", elem))
	}
	return d
}
