package ttir

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"matladder/internal/each"
)

// Kernel is one kernel that was read.
type Kernel struct {
	Name   string
	Params []Param

	body   []*op
	slots  int
	lines  []string // of the function's body and what closes the module, without locations
	needed []bool   // by slot: whether an address, a mask, a condition or a trip depends on it
	dots   bool     // whether it multiplies matrices at all
}

// Param is an argument of a kernel.
type Param struct {
	Name string // without its percent sign
	Type string
	Elem string // that a pointer points to; "" for numbers

	attrs string
}

// UnsupportedError is something that is not understood.
type UnsupportedError struct {
	Line   int // of the file, 0 if of none
	Reason string
}

func (e *UnsupportedError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// op is one operation. Results and operands are slots of the function's values.
type op struct {
	name     string
	text     string // between its name and its types
	line     int
	results  []int
	args     []int
	from, to []shaped // the types behind it: operands and results, as far as they are spelled
	regions  [][]*op  // of a loop its body; of a condition both branches
	blockArg []int    // of a loop: its variable and what it carries

	step, tile, acts bool // see mark
	cost             int64
	lanes, special   int64 // of a loop: what an iteration computes beside products, in elements
	site             int
}

var (
	tensorText = regexp.MustCompile(`^(?:tensor<|(?:!tt\.tensordesc)?<(?:tensor<)?)`)
	dimText    = regexp.MustCompile(`^(\d+)x`)
	resultText = regexp.MustCompile(`^(%[\w$.-]+)(?::(\d+))? = (.*)$`)
	valueText  = regexp.MustCompile(`%[\w$.-]+(?:#\d+)?`)
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	funcText   = regexp.MustCompile(`^tt\.func (?:(public|private) )?@([\w$.-]+)\((.*?)\)(?: -> [^{]*)?(?: attributes \{.*\})? \{$`)
	paramText  = regexp.MustCompile(`^%([\w$.-]+): ([^{]+?)( \{.*\})?$`)
	forText    = regexp.MustCompile(`^scf\.for (?:unsigned )?(%\S+) = (%\S+) to (%\S+) step (%\S+)(?: iter_args\((.*?)\) -> \((.*?)\))?\s*(?:: \w+ )?\{$`)
	ifText     = regexp.MustCompile(`^scf\.if (%\S+)(?: -> \((.*)\))? \{$`)
)

// operands are how many operands and types an operation has at least.
var operands = map[string][2]int{
	"tt.load": {1, 1}, "tt.store": {2, 1}, "tt.dot": {3, 3}, "tt.descriptor_load": {2, 2}, "tt.descriptor_store": {3, 2}, "tt.descriptor_reduce": {3, 2},
	"tt.atomic_rmw": {2, 2}, "tt.make_tensor_descriptor": {3, 1}, "tt.addptr": {2, 1}, "tt.splat": {1, 2}, "tt.broadcast": {1, 2}, "tt.expand_dims": {1, 2},
	"tt.make_range": {0, 1}, "tt.trans": {1, 2}, "tt.reshape": {1, 2}, "arith.select": {3, 1}, "arith.cmpi": {2, 1},
	"arith.extsi": {1, 2}, "arith.extui": {1, 2}, "arith.trunci": {1, 2}, "arith.index_cast": {1, 2}, "tt.unsplat": {1, 2},
	"tt.get_program_id": {0, 1}, "tt.get_num_programs": {0, 1},
}

type parser struct {
	lines []string
	at    int // of the line behind the one read last
	slots map[string]int
	k     *Kernel
	sites int
	depth int
}

// refusal ends a reading.
type refusal struct{ error }

// refused makes err of what ended it.
func refused(err *error) {
	if r := recover(); r != nil {
		known, ok := r.(refusal)
		if !ok {
			panic(r)
		}
		*err = known.error
	}
}

func (p *parser) fail(format string, args ...any) {
	panic(refusal{&UnsupportedError{p.at, fmt.Sprintf(format, args...)}})
}

// Parse reads the one public kernel of a text. What is no kernel, is cut, or is not
// understood is an *UnsupportedError.
func Parse(text string) (k *Kernel, err error) {
	p := &parser{lines: strings.Split(strings.TrimRight(text, " \t\r\n"), "\n"), slots: map[string]int{}, k: &Kernel{}}
	defer func() {
		if err != nil && p.at >= len(p.lines) { // where a module ends if it is whole
			err = &UnsupportedError{p.at, "the text ends in the middle of a kernel: it is cut short"}
		}
	}()
	defer refused(&err)
	switch {
	case strings.TrimSpace(text) == "":
		return nil, &UnsupportedError{Reason: "the file is empty"}
	case !utf8.ValidString(text) || !strings.Contains(text, "tt.func"):
		return nil, &UnsupportedError{Reason: "it has no Triton kernel (tt.func): what is read is the .ttir of Triton's cache"}
	}
	for {
		line, more := p.next()
		if !more {
			return nil, &UnsupportedError{Reason: "it has no public kernel"}
		}
		if m := funcText.FindStringSubmatch(line); m != nil && m[1] != "private" {
			p.kernel(m[2], m[3])
			break
		}
		if strings.HasPrefix(line, "tt.func") && !strings.Contains(line, " private ") {
			p.fail("the head of the kernel is not understood, or cut")
		}
	}
	return p.k, nil
}

func (p *parser) kernel(name, params string) {
	k := p.k
	k.Name = name
	for _, text := range split(params) {
		m := paramText.FindStringSubmatch(text)
		if m == nil {
			p.fail("argument %q of the kernel is not understood", text)
		}
		param := Param{Name: m[1], Type: m[2], Elem: shaped{elem: m[2]}.pointee(), attrs: m[3]}
		switch {
		case strings.HasPrefix(param.Type, "!tt.tensordesc"):
			p.fail("argument %s is a descriptor that the host makes: a kernel that makes it itself (make_tensor_descriptor) is read", m[1])
		case strings.HasPrefix(param.Elem, "tensor<"):
			p.fail("argument %s is a block pointer, which Triton has no more", m[1])
		}
		k.Params = append(k.Params, param)
		p.define("%" + m[1])
	}
	from := p.at
	k.body, _ = p.region("}")
	k.lines = p.plain(from, p.at)
	for {
		line, more := p.next()
		if !more {
			p.fail("the module does not end")
		}
		if strings.HasPrefix(line, "tt.func public") {
			p.fail("a second public kernel: which is to be launched cannot be told")
		}
		if line == "}" {
			break
		}
	}
	k.slots = p.k.slots
	k.mark()
}

// plain are lines without locations, empty ones left out.
func (p *parser) plain(from, to int) []string {
	var lines []string
	for _, line := range p.lines[from:to] {
		if line = strings.TrimRight(withoutLocation(line), " \r"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// next is the next line that says something, without its location and comment.
func (p *parser) next() (string, bool) {
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		p.at++
		line = strings.TrimSpace(withoutLocation(line))
		if line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") {
			continue
		}
		return line, true
	}
	return "", false
}

func (p *parser) define(name string) int {
	p.slots[name] = p.k.slots
	p.k.slots++
	return p.k.slots - 1
}

func (p *parser) known(name string) int {
	slot, ok := p.slots[name]
	if !ok {
		if slot, ok = p.slots[strings.TrimSuffix(name, "#0")]; !ok {
			p.fail("%s is used before it is defined", name)
		}
	}
	return slot
}

// region reads operations up to a line that closes them, and returns that too.
func (p *parser) region(closed ...string) (ops []*op, line string) {
	if p.depth++; p.depth > 100 {
		p.fail("regions inside regions, more than 100 deep")
	}
	defer func() { p.depth-- }()
	for {
		line, more := p.next()
		if !more {
			p.fail("kernel %s does not end", p.k.Name)
		}
		if strings.HasPrefix(line, "^bb") {
			p.fail("branches between blocks (%s) are not read", line)
		}
		if slices.Contains(closed, line) || strings.HasPrefix(line, "} {") && slices.Contains(closed, "}") {
			return ops, line
		}
		ops = append(ops, p.operation(line))
	}
}

func (p *parser) operation(line string) *op {
	o := &op{line: p.at}
	name, count := "", 0
	if m := resultText.FindStringSubmatch(line); m != nil {
		name, count, line = m[1], 1, m[3]
		if m[2] != "" {
			if count, _ = strconv.Atoi(m[2]); count < 1 || count > 1000 {
				p.fail("%s results", m[2])
			}
		}
	}
	switch {
	case strings.HasPrefix(line, "scf.for"):
		p.loop(o, line)
	case strings.HasPrefix(line, "scf.if"):
		m := ifText.FindStringSubmatch(line)
		if m == nil {
			p.fail("the condition is not understood")
		}
		o.name, o.args = "scf.if", []int{p.known(m[1])}
		then, closed := p.region("}", "} else {")
		o.regions = [][]*op{then, nil}
		if closed == "} else {" {
			o.regions[1], _ = p.region("}")
		}
	case strings.HasPrefix(line, "scf.while"):
		p.fail("scf.while: how often this loop runs depends on what only a run tells")
	case strings.HasSuffix(line, "({"): // its own small program: of a reduction, a scan
		p.generic(o, line)
	default:
		p.simple(o, line)
		if strings.HasSuffix(line, "{") {
			p.fail("%s: regions of this operation are not read", o.name)
		}
	}
	for i := range count {
		result := name
		if count > 1 {
			result = fmt.Sprintf("%s#%d", name, i)
		}
		o.results = append(o.results, p.define(result))
	}
	o.refuse()
	if least := operands[o.name]; len(o.args) < least[0] || len(o.from)+len(o.to) < least[1] || least[1] > 1 && (len(o.from) < least[1]-1 || len(o.to) == 0) {
		p.fail("%s: %d operands and %d types, want %d and %d", o.name, len(o.args), len(o.from)+len(o.to), least[0], least[1])
	}
	o.site = p.sites
	p.sites++
	return o
}

func (p *parser) loop(o *op, line string) {
	m := forText.FindStringSubmatch(line)
	if m == nil {
		p.fail("the loop is not understood")
	}
	o.name, o.args = "scf.for", []int{p.known(m[2]), p.known(m[3]), p.known(m[4])}
	var names []string
	for _, carried := range split(m[5]) {
		name, init, ok := strings.Cut(carried, " = ")
		if !ok {
			p.fail("the loop carries %q, which is not understood", carried)
		}
		names, o.args = append(names, name), append(o.args, p.known(init))
	}
	o.blockArg = each.Of(append([]string{m[1]}, names...), p.define)
	body, _ := p.region("}")
	o.regions = [][]*op{body}
}

// generic skips the small program of an operation.
func (p *parser) generic(o *op, line string) {
	at := strings.IndexAny(line, "(<")
	o.name = strings.Trim(strings.TrimSpace(line[:max(0, at)]), `"`)
	o.args = append(o.args, each.Of(valueText.FindAllString(line, -1), p.known)...)
	for depth := 1; depth > 0; {
		inner, more := p.next()
		switch {
		case !more:
			p.fail("kernel %s does not end", p.k.Name)
		case strings.HasSuffix(inner, "({"):
			depth++
		case strings.HasPrefix(inner, "})"):
			depth--
			if at := lastColon(inner); depth == 0 && at >= 0 {
				p.typesOf(o, inner[at+3:])
			}
		}
	}
}

// typesOf reads the types behind an operation.
func (p *parser) typesOf(o *op, types string) {
	left, right, arrow := strings.Cut(types, " -> ")
	if !arrow {
		if left, right, arrow = strings.Cut(types, " to "); !arrow {
			right = left
		}
	}
	p.types(&o.from, strings.ReplaceAll(left, " * ", ", "))
	p.types(&o.to, right)
}

// simple reads an operation without regions.
func (p *parser) simple(o *op, line string) {
	head, types := line, ""
	if at := lastColon(line); at >= 0 {
		head, types = line[:at], line[at+3:]
	}
	o.name, o.text, _ = strings.Cut(head, " ")
	o.name = strings.Trim(o.name, `"`)
	if at := strings.IndexByte(o.name, '('); at > 0 { // "generic"(%a) : …
		o.name, o.text = strings.Trim(o.name[:at], `"`), o.name[at:]+o.text
	}
	o.args = append(o.args, each.Of(valueText.FindAllString(quotedText.ReplaceAllString(o.text, ""), -1), p.known)...)
	p.typesOf(o, types)
}

func (p *parser) types(into *[]shaped, list string) {
	list = strings.TrimSpace(list)
	if strings.HasPrefix(list, "(") {
		list = strings.TrimSuffix(list[1:], ")")
	}
	for _, text := range split(list) {
		s, ok := typeOf(text)
		if !ok {
			p.fail("type %q is not understood", text)
		}
		*into = append(*into, s)
	}
}
