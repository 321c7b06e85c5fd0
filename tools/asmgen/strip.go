package asmgen

import (
	"reflect"
	"strings"
)

// A strip is the only argument of a kernel on tiles, as package gemm has it: words, what
// moves along from panel to panel behind the caller's.
type strip struct {
	config                 [64]byte
	sum, sumRow, sumPanel  uintptr
	c, row, panel          uintptr
	a, rowA, stepA, panelA uintptr
	b, steps, panels       uintptr
	nextA, nextB, aheadA   uintptr
	sumAfter, copy, copyTo uintptr

	at                             struct{ sum, c, a, copy, copyTo, next, after uintptr }
	tall, wide, accumulate, stream bool
	by, copyBy                     struct{ rows, columns uintptr }
	atBy                           struct{ rows, copyRows, copyColumns uintptr }
}

// stripField is where a field of the strip is: "at.sum" is one of a field that has several.
func stripField(path string) string {
	t, off := reflect.TypeFor[strip](), uintptr(0)
	for _, name := range strings.Split(path, ".") {
		f, ok := t.FieldByName(name)
		if !ok {
			panic("asmgen: a strip has no " + path)
		}
		t, off = f.Type, off+f.Offset
	}
	return at(rStrip, int(off))
}

// StripFields are the places of the fields by their names, in bytes. A test of package
// gemm holds its strip to them, also on machines that have no tiles.
func StripFields() map[string]uintptr {
	places := map[string]uintptr{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[strip]()) {
		places[f.Name] = f.Offset
	}
	return places
}

// StripStreams are the values of the field stream that the kernel on bfloat16 knows, by
// the names of the ways in which sums come to c.
func StripStreams() map[string]int {
	ways := map[string]int{}
	for _, c := range bfloat16Tiles.Copyings {
		ways[c.name] = c.way
	}
	return ways
}
