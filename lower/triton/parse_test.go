package triton_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// operation is one operation of the text. Its operands and results are slots in
// the values of the function.
type operation struct {
	name     string
	text     string // between the name and the types
	results  []int
	operands []int
	from, to []string // types
	args     []int    // of a region: the variable of a loop and what it carries
	argTypes []string
	regions  [][]*operation
	line     int
	value    *val // of a constant
}

// function is what a module holds.
type function struct {
	name   string
	params []string // types
	slots  []int
	body   []*operation
	values int
}

// reader reads the text line by line; a mistake panics, and parse turns that into
// an error with the line.
type reader struct {
	lines []string
	at    int
	slots map[string]int
	types []string // by slot
	open  [][]string
}

var (
	funcLine   = regexp.MustCompile(`^tt\.func public @(\w+)\((.*)\) \{$`)
	paramText  = regexp.MustCompile(`^(%\w+): (!tt\.ptr<\w+>) \{tt\.divisibility = 16 : i32\}$`)
	resultText = regexp.MustCompile(`^(%\w+)(?::(\d+))? = (.*)$`)
	forLine    = regexp.MustCompile(`^scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+)(?: iter_args\((.*?)\) -> \((.*)\))? : i32 \{$`)
	ifLine     = regexp.MustCompile(`^scf\.if (%[\w#]+)(?: -> \((.*)\))? \{$`)
	reduceLine = regexp.MustCompile(`^"tt\.reduce"\((%[\w#]+)\) <\{axis = (\d+) : i32\}> \(\{$`)
	reduceArgs = regexp.MustCompile(`^\^bb0\((%\w+): (\w+), (%\w+): (\w+)\):$`)
	reduceBody = regexp.MustCompile(`^(%\w+) = ([\w.]+) (%\w+), (%\w+) : (\w+)$`)
	reduceEnd  = regexp.MustCompile(`^\}\) : \((.*)\) -> (.*)$`)

	constLine = regexp.MustCompile(`^arith\.constant (.*) : (.*)$`)
	nameText  = regexp.MustCompile(`%\w+(?:#\d+)?`)
)

func parse(text string) (f *function, err error) {
	r := &reader{lines: strings.Split(text, "\n"), slots: map[string]int{}}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("line %d: %v", r.at, p)
		}
	}()
	if r.next() != "module {" {
		panic("no module")
	}
	m := funcLine.FindStringSubmatch(r.next())
	f = &function{name: m[1]}
	for _, p := range split(m[2]) {
		param := paramText.FindStringSubmatch(p)
		f.params = append(f.params, param[2])
		f.slots = append(f.slots, r.define(param[1], param[2]))
	}
	f.body = r.region("}")
	if last := f.body[len(f.body)-1]; last.name != "tt.return" {
		panic("the function does not return")
	}
	if r.next() != "}" || strings.TrimSpace(strings.Join(r.lines[r.at:], "")) != "" {
		panic("something follows the module")
	}
	f.values = len(r.types)
	return f, nil
}

// next is the next line that is no comment.
func (r *reader) next() string {
	for {
		line := strings.TrimSpace(r.lines[r.at])
		r.at++
		if !strings.HasPrefix(line, "//") {
			return line
		}
	}
}

// region reads operations up to a line that ends them. What they define is not
// known behind it.
func (r *reader) region(end string) (ops []*operation) {
	before := len(r.open)
	r.open = append(r.open, nil)
	for {
		line := r.next()
		if line == end {
			break
		}
		ops = append(ops, r.operation(line))
	}
	for _, name := range r.open[before] {
		delete(r.slots, name)
	}
	r.open = r.open[:before]
	return ops
}

// define gives a name a slot. No name is defined twice where it is known.
func (r *reader) define(name, typ string) int {
	if _, ok := r.slots[name]; ok {
		panic(name + " is defined twice")
	}
	r.slots[name] = len(r.types)
	r.types = append(r.types, typ)
	if len(r.open) > 0 {
		r.open[len(r.open)-1] = append(r.open[len(r.open)-1], name)
	}
	return r.slots[name]
}

func (r *reader) known(name string) int {
	slot, ok := r.slots[name]
	if !ok {
		panic(name + " is not known here")
	}
	return slot
}

func (r *reader) operation(line string) *operation {
	op := &operation{line: r.at}
	var result string
	count := 0
	if m := resultText.FindStringSubmatch(line); m != nil {
		result, count, line = m[1], 1, m[3]
		if m[2] != "" {
			count, _ = strconv.Atoi(m[2])
		}
	}
	switch {
	case forLine.MatchString(line):
		r.loop(op, forLine.FindStringSubmatch(line))
	case ifLine.MatchString(line):
		m := ifLine.FindStringSubmatch(line)
		op.name, op.operands, op.from, op.to = "scf.if", []int{r.known(m[1])}, []string{"i1"}, split(m[2])
		if len(op.to) > 0 {
			op.regions = [][]*operation{r.region("} else {")}
		}
		op.regions = append(op.regions, r.region("}"))
	case reduceLine.MatchString(line):
		r.reduction(op, reduceLine.FindStringSubmatch(line))
	default:
		r.plain(op, line, result != "")
	}
	for i, slot := range op.operands {
		if r.types[slot] != op.from[i] {
			panic(fmt.Sprintf("%s: operand %d is %s, not %s", op.name, i, r.types[slot], op.from[i]))
		}
	}
	if len(op.to) != count {
		panic(fmt.Sprintf("%s: %d results for %d names", op.name, len(op.to), count))
	}
	for i, typ := range op.to {
		name := result
		if count > 1 {
			name = fmt.Sprintf("%s#%d", result, i)
		}
		op.results = append(op.results, r.define(name, typ))
	}
	return op
}

func (r *reader) loop(op *operation, m []string) {
	op.name = "scf.for"
	op.operands, op.from = []int{r.known(m[2]), r.known(m[3]), r.known(m[4])}, []string{"i32", "i32", "i32"}
	op.to = split(m[6])
	var names []string
	for i, carried := range split(m[5]) {
		name, init, _ := strings.Cut(carried, " = ")
		names = append(names, name)
		op.operands, op.from = append(op.operands, r.known(init)), append(op.from, op.to[i])
	}
	r.open = append(r.open, nil)
	op.args, op.argTypes = []int{r.define(m[1], "i32")}, append([]string{"i32"}, op.to...)
	for i, name := range names {
		op.args = append(op.args, r.define(name, op.to[i]))
	}
	op.regions = [][]*operation{r.region("}")}
	for _, name := range r.open[len(r.open)-1] {
		delete(r.slots, name)
	}
	r.open = r.open[:len(r.open)-1]
}

func (r *reader) reduction(op *operation, m []string) {
	op.name, op.operands = "tt.reduce", []int{r.known(m[1])}
	args, body := reduceArgs.FindStringSubmatch(r.next()), reduceBody.FindStringSubmatch(r.next())
	end := r.next()
	if args == nil || body == nil || args[1] != body[3] || args[3] != body[4] || args[2] != body[5] || end != "tt.reduce.return "+body[1]+" : "+body[5] {
		panic("tt.reduce: its body")
	}
	op.text = m[2] + " " + body[2]
	t := reduceEnd.FindStringSubmatch(r.next())
	op.from, op.to = []string{t[1]}, []string{t[2]}
}

// plain reads an operation without regions.
func (r *reader) plain(op *operation, line string, hasResult bool) {
	if line == "arith.constant true" || line == "arith.constant false" {
		line += " : i1"
	}
	if m := constLine.FindStringSubmatch(line); m != nil {
		op.name, op.to = "arith.constant", []string{m[2]}
		op.value = constantOf(m[1], m[2])
		return
	}
	// Types are behind the last colon that is not inside braces.
	head, types := line, ""
	if at := strings.LastIndex(line, " : "); at > strings.LastIndex(line, "}") {
		head, types = line[:at], line[at+3:]
	}
	op.name, op.text, _ = strings.Cut(head, " ")
	for _, name := range nameText.FindAllString(op.text, -1) {
		op.operands = append(op.operands, r.known(name))
	}
	r.typesOf(op, types, hasResult)
	if len(op.from) != len(op.operands) {
		panic(fmt.Sprintf("%s: %d operands of %d types", op.name, len(op.operands), len(op.from)))
	}
}

// typesOf gives an operation the types that its form implies.
func (r *reader) typesOf(op *operation, types string, hasResult bool) {
	n := len(op.operands)
	left, right, arrow := strings.Cut(types, " -> ")
	if !arrow {
		left, right, arrow = strings.Cut(types, " to ")
	}
	switch op.name {
	case "tt.dot":
		a, b, _ := strings.Cut(left, " * ")
		op.from, op.to = []string{a, b, right}, []string{right}
	case "tt.dot_scaled":
		a, b, _ := strings.Cut(left, " * ")
		op.from, op.to = append(append(split(a), split(b)...), right), []string{right}
	case "tt.gather":
		op.from, op.to = split(strings.Trim(left, "()")), []string{right}
	case "tt.split":
		op.from, op.to = []string{left}, []string{right, right}
	case "tt.load":
		t := parseType(types)
		op.from = []string{types, t.of("i1"), t.of(t.pointee())}[:n]
		op.to = []string{t.of(t.pointee())}
	case "tt.store":
		t := parseType(types)
		op.from = []string{types, t.of(t.pointee()), t.of("i1")}[:n]
	case "arith.cmpi", "arith.cmpf":
		op.from, op.to = []string{types, types}, []string{parseType(types).of("i1")}
	case "arith.select":
		if parts := split(types); len(parts) == 2 {
			op.from, op.to = []string{parts[0], parts[1], parts[1]}, parts[1:]
		} else {
			op.from, op.to = []string{"i1", types, types}, []string{types}
		}
	case "tt.addptr":
		op.from = split(types)
		op.to = op.from[:1]
	case "scf.yield":
		op.from = split(types)
	default:
		if !arrow {
			right = left
		}
		for range n {
			op.from = append(op.from, left)
		}
		if hasResult {
			op.to = []string{right}
		}
	}
}

// split cuts a list at the commas that are not inside brackets.
func split(list string) (parts []string) {
	depth, start := 0, 0
	for i, c := range list {
		switch {
		case strings.ContainsRune("<({", c):
			depth++
		case strings.ContainsRune(">)}", c):
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, strings.TrimSpace(list[start:i])), i+1
		}
	}
	if list != "" {
		parts = append(parts, strings.TrimSpace(list[start:]))
	}
	return parts
}

// typed is a type as the evaluator needs it.
type typed struct {
	elem   string // of a pointer with its brackets
	dims   []int
	tensor bool
}

var types = map[string]typed{}

// parseType reads f32, tensor<16x32xf32> or tensor<16x32x!tt.ptr<f32>>.
func parseType(s string) typed {
	if t, ok := types[s]; ok {
		return t
	}
	t := typed{elem: s}
	if inner, ok := strings.CutPrefix(s, "tensor<"); ok {
		t.tensor, inner = true, strings.TrimSuffix(inner, ">")
		for {
			head, rest, ok := strings.Cut(inner, "x")
			n, err := strconv.Atoi(head)
			if !ok || err != nil {
				break
			}
			if n&(n-1) != 0 || n == 0 {
				panic("no power of two in " + s)
			}
			t.dims, inner = append(t.dims, n), rest
		}
		t.elem = inner
	}
	if _, ok := known[t.elem]; !ok && t.pointee() == "" {
		panic("type " + s)
	}
	if elements(t.dims) > 1<<20 {
		panic("too many elements in " + s)
	}
	types[s] = t
	return t
}

func (t typed) pointee() string {
	inner, ok := strings.CutPrefix(t.elem, "!tt.ptr<")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(inner, ">")
}

// of is the type with other elements.
func (t typed) of(elem string) string {
	if !t.tensor {
		return elem
	}
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range t.dims {
		fmt.Fprintf(&b, "%dx", d)
	}
	return b.String() + elem + ">"
}

func elements(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
