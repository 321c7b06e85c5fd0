package ttir

import (
	"fmt"
	"slices"
	"strings"

	"matladder/lower/internal/mlir"
)

// writes reports whether the kernel writes the array of a parameter.
func (n *Counts) writes(p Param) bool {
	return slices.ContainsFunc(n.Arrays, func(a Array) bool { return a.Name == p.Name && a.Write })
}

// Text is the kernel alone, with numbers as constants.
func (k *Kernel) Text(l Launch, n *Counts) (string, error) {
	body, _, err := k.constant(l, n)
	return body, err
}

// constant is the text of the kernel with numbers as constants, and its arrays: those that it
// writes come behind those that it reads.
func (k *Kernel) constant(l Launch, n *Counts) (body string, head []Param, err error) {
	numbers, err := k.Numbers(l)
	if err != nil {
		return "", nil, err
	}
	var constants strings.Builder
	for _, p := range k.Params {
		if p.Elem != "" {
			head = append(head, p)
			continue
		}
		v := numbers[p.Name] + " : " + p.Type
		if p.Type == "i1" {
			v = fmt.Sprint(numbers[p.Name] != "0")
		}
		fmt.Fprintf(&constants, "    %%%s = arith.constant %s\n", p.Name, v)
	}
	slices.SortStableFunc(head, func(a, b Param) int {
		return map[bool]int{true: 1}[n.writes(a)] - map[bool]int{true: 1}[n.writes(b)]
	})
	return fmt.Sprintf("module {\n  tt.func public @%s(%s) attributes {noinline = false} {\n%s%s\n}\n", k.Name,
		mlir.List(head, func(p Param) string { return "%" + p.Name + ": " + p.Type + p.attrs }), &constants, strings.Join(k.lines, "\n")), head, nil
}

// Module is a StableHLO program that launches the kernel, for XLA's compiler: numbers are
// constants in it, and arrays are bytes. What the kernel writes comes behind what it reads.
// Nothing that the program computes means anything: it is to be compiled.
func (k *Kernel) Module(l Launch, n *Counts) (string, error) {
	body, head, err := k.constant(l, n)
	if err != nil {
		return "", err
	}
	var args []mlir.Value
	var out []mlir.Type
	for i, p := range head {
		bytes := int64(16)
		if at := slices.IndexFunc(n.Arrays, func(a Array) bool { return a.Name == p.Name }); at >= 0 {
			bytes = max(bytes, (n.Arrays[at].Elements*Bits(p.Elem)+7)/8)
		}
		array := mlir.Type{Elem: "i8", Dims: []int{int(bytes)}}
		if n.writes(p) {
			out = append(out, array)
		} else {
			args = append(args, mlir.Value{Name: fmt.Sprintf("%%in%d", i), Type: array})
		}
	}
	if len(out) == 0 {
		return "", &UnsupportedError{Reason: "the kernel stores nothing"}
	}
	layouts := func(n int) []string { return slices.Repeat([]string{mlir.Layout(0)}, n) }
	c := mlir.Calls{StableHLO: mlir.NewStableHLO()}
	return mlir.Module(k.Name, c.Function("public", "main", args, out, func() []mlir.Value {
		return c.Kernel(mlir.TritonCall, mlir.TritonConfig(k.Name, body, l.Grid, l.Stages, l.Warps),
			args, layouts(len(args)), out, layouts(len(out)), k.Name)
	})), nil
}
