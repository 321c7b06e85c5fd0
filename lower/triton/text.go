package triton

import (
	"fmt"
	"strings"

	"matladder/lower/internal/mlir"
)

// value is a name in the text with its type. A constant has a number and no
// name until it is used, since the use decides its type and shape.
type value struct {
	name string
	shaped
	number *float64
	level  int // of the block that defines it
}

// text is one function being written: the blocks that are open, from the body of
// the function to the innermost region.
type text struct {
	blocks []*block
	next   int
}

// block is a region with what is known in it.
type block struct {
	b     strings.Builder
	known map[string]value // by what made them
}

func (t *text) open() { t.blocks = append(t.blocks, &block{known: map[string]value{}}) }

// close ends the innermost block and returns its text.
func (t *text) close() string {
	last := t.blocks[len(t.blocks)-1]
	t.blocks = t.blocks[:len(t.blocks)-1]
	return last.b.String()
}

func (t *text) level() int { return len(t.blocks) - 1 }

func (t *text) lineAt(level int, format string, args ...any) {
	b := &t.blocks[level].b
	b.WriteString(strings.Repeat("  ", level+2))
	fmt.Fprintf(b, format, args...)
	b.WriteByte('\n')
}

func (t *text) line(format string, args ...any) { t.lineAt(t.level(), format, args...) }

func (t *text) fresh(to shaped) value {
	v := value{name: fmt.Sprintf("%%%d", t.next), shaped: to, level: t.level()}
	t.next++
	return v
}

// op writes an operation with one result.
func (t *text) op(to shaped, format string, args ...any) value {
	v := t.fresh(to)
	t.line("%s = %s", v.name, fmt.Sprintf(format, args...))
	return v
}

// pure writes an operation on from, unless it is there already, in the outermost
// block that knows its operands: what does not change in a loop stands before it.
// It is for the arithmetic of indices, addresses and masks, which costs little
// where it turns out not to be needed.
func (t *text) pure(to shaped, from []value, format string, args ...any) value {
	level := 0
	for _, v := range from {
		level = max(level, v.level)
	}
	key := fmt.Sprintf(format, args...)
	known := t.blocks[level].known
	if v, ok := known[key]; ok {
		return v
	}
	v := t.fresh(to)
	v.level = level
	t.lineAt(level, "%s = %s", v.name, key)
	known[key] = v
	return v
}

// once is pure for what must stay where it is: a load, or much work.
func (t *text) once(to shaped, format string, args ...any) value {
	key := fmt.Sprintf(format, args...)
	for _, b := range t.blocks {
		if v, ok := b.known[key]; ok {
			return v
		}
	}
	v := t.op(to, "%s", key)
	t.blocks[t.level()].known[key] = v
	return v
}

// constant is x in every element of a type.
func (t *text) constant(to shaped, x float64) value {
	text := mlir.Number(to.elem, x)
	switch {
	case to.dims != nil:
		text = "dense<" + text + "> : " + to.String()
	case to.elem != "i1":
		text += " : " + to.String()
	}
	return t.pure(to, nil, "arith.constant %s", text)
}

// i32 is a scalar constant.
func (t *text) i32(n int) value { return t.constant(shaped{elem: "i32"}, float64(n)) }

func names(vs []value) string { return mlir.List(vs, func(v value) string { return v.name }) }

func types(vs []value) string {
	return mlir.List(vs, func(v value) string { return v.shaped.String() })
}

// results are the values of an operation with several results, or one, or none.
func (t *text) results(like []value) (name string, vs []value) {
	if len(like) == 0 {
		return "", nil
	}
	base := fmt.Sprintf("%%%d", t.next)
	t.next++
	vs = make([]value, len(like))
	for i, v := range like {
		vs[i] = value{name: fmt.Sprintf("%s#%d", base, i), shaped: v.shaped, level: t.level()}
	}
	if len(like) == 1 {
		vs[0].name = base
		return base + " = ", vs
	}
	return fmt.Sprintf("%s:%d = ", base, len(like)), vs
}
