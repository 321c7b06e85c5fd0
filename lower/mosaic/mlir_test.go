package mosaic_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// operation is one operation of MLIR's generic form.
type operation struct {
	name     string
	result   string // "" for none
	operands []string
	regions  []region
	attrs    map[string]string
	from     []string // types of the operands
	to       []string // types of the results

	slot  int // of the result, in the values of a function; -1 for none
	slots []int
	line  int
}

// region is a block with arguments.
type region struct {
	args  []string
	types []string
	slots []int
	ops   []*operation
}

// reader reads generic MLIR text; a mistake panics with its line, and parse
// turns that into an error.
type reader struct {
	text string
	at   int
	// names are the values of the function being read. Each name is defined once.
	names map[string]int
}

// parse reads a module and returns its functions.
func parse(text string) (functions []*operation, err error) {
	r := &reader{text: text}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("line %d: %v", 1+strings.Count(text[:min(r.at, len(text))], "\n"), p)
		}
	}()
	module := r.operation()
	if r.space(); r.at < len(r.text) {
		panic("something follows the module")
	}
	if module.name != "builtin.module" || module.attrs["stable_mosaic.version"] == "" {
		panic("no versioned module")
	}
	return module.regions[0].ops, nil
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch rest := r.text[r.at:]; {
		case strings.HasPrefix(rest, "//"):
			r.at += strings.IndexByte(rest, '\n') + 1
		case rest[0] == ' ' || rest[0] == '\n':
			r.at++
		default:
			return
		}
	}
}

// take reads s if it comes next.
func (r *reader) take(s string) bool {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], s) {
		return false
	}
	r.at += len(s)
	return true
}

func (r *reader) expect(s string) {
	if !r.take(s) {
		panic(fmt.Sprintf("no %q before %.20q", s, r.text[r.at:]))
	}
}

// until reads up to the first of the ends that is not inside brackets or quotes.
func (r *reader) until(ends string) string {
	r.space()
	start, depth, quoted := r.at, 0, false
	for ; ; r.at++ {
		c := r.text[r.at]
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case depth == 0 && strings.IndexByte(ends, c) >= 0:
			return strings.TrimSpace(r.text[start:r.at])
		case strings.IndexByte("(<[{", c) >= 0:
			depth++
		case c == '>' && r.text[r.at-1] == '-':
		case strings.IndexByte(")>]}", c) >= 0:
			depth--
		}
	}
}

// list reads up to the closing bracket, at the commas.
func (r *reader) list(end string) []string {
	var parts []string
	for !r.take(end) {
		if len(parts) > 0 {
			r.expect(",")
		}
		parts = append(parts, r.until(","+end))
	}
	return parts
}

func (r *reader) operation() *operation {
	op := &operation{slot: -1, attrs: map[string]string{}}
	r.space()
	op.line = 1 + strings.Count(r.text[:r.at], "\n")
	if strings.HasPrefix(r.text[r.at:], "%") {
		op.result = r.until("=")
		r.expect("=")
	}
	r.expect(`"`)
	op.name, _, _ = strings.Cut(r.text[r.at:], `"`)
	r.at += len(op.name)
	op.name = strings.TrimPrefix(op.name, "stable_mosaic.")
	r.expect(`"(`)
	op.operands = r.list(")")
	if op.name == "func.func" {
		r.names = map[string]int{}
	}
	for _, name := range op.operands {
		op.slots = append(op.slots, r.known(name))
	}
	if r.take("({") {
		for {
			op.regions = append(op.regions, r.region())
			if !r.take(", {") {
				break
			}
		}
		r.expect(")")
	}
	if r.take("{") {
		for _, attr := range r.list("}") {
			key, value, ok := strings.Cut(attr, " = ")
			if !ok {
				panic("attribute " + attr)
			}
			op.attrs[key] = value
		}
	}
	r.expect(":")
	r.expect("(")
	op.from = r.list(")")
	r.expect("->")
	if r.take("(") {
		op.to = r.list(")")
	} else {
		op.to = []string{r.until("\n")}
	}
	if len(op.from) != len(op.operands) || (op.result != "") != (len(op.to) == 1) && op.name != "func.func" && op.name != "builtin.module" {
		panic(op.name + ": types do not match operands and results")
	}
	if op.result != "" {
		op.slot = r.define(op.result)
	}
	return op
}

func (r *reader) region() region {
	var g region
	if r.take("^bb0(") {
		for _, arg := range r.list(")") {
			name, typ, _ := strings.Cut(arg, ": ")
			g.args, g.types, g.slots = append(g.args, name), append(g.types, typ), append(g.slots, r.define(name))
		}
		r.expect(":")
	}
	for !r.take("}") {
		g.ops = append(g.ops, r.operation())
	}
	return g
}

func (r *reader) define(name string) int {
	if _, ok := r.names[name]; ok {
		panic(name + " is defined twice")
	}
	r.names[name] = len(r.names)
	return r.names[name]
}

func (r *reader) known(name string) int {
	slot, ok := r.names[name]
	if !ok {
		panic(name + " is not defined")
	}
	return slot
}

// typed is a type as the evaluator needs it.
type typed struct {
	elem   string
	dims   []int
	vector bool
	memref bool
}

// types keeps what parseType has read; devices that run beside each other share it.
var types sync.Map

// parseType reads f32, vector<8x128xf32> or memref<8x128xf32, …>.
func parseType(s string) typed {
	if t, ok := types.Load(s); ok {
		return t.(typed)
	}
	t := typed{elem: s}
	inner, vector := strings.CutPrefix(s, "vector<")
	if !vector {
		inner, t.memref = strings.CutPrefix(s, "memref<")
	}
	if t.vector = vector; vector || t.memref {
		inner = strings.TrimSuffix(inner, ">")
		inner, _, _ = strings.Cut(inner, ",")
		parts := strings.Split(inner, "x")
		t.elem, t.dims = parts[len(parts)-1], []int{}
		for _, p := range parts[:len(parts)-1] {
			n, err := strconv.Atoi(p)
			if err != nil {
				panic("type " + s)
			}
			t.dims = append(t.dims, n)
		}
	}
	types.Store(s, t)
	return t
}

// integers reads array<i64: 1, 2>, [1, 2] or 3 : i32.
func integers(s string) []int {
	if _, after, ok := strings.Cut(s, ": "); ok && strings.HasPrefix(s, "array<") {
		s = after
	} else if before, _, ok := strings.Cut(s, " :"); ok {
		s = before
	}
	s = strings.Trim(s, "[]<>")
	var out []int
	for _, p := range strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			panic("integers " + s)
		}
		out = append(out, n)
	}
	return out
}
