package tile

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// Pos is where in a kernel's source something was written.
type Pos struct {
	File string
	Line int
}

func (p Pos) String() string {
	if p.File == "" {
		return "unknown position"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Error is a mistake in a tile program, at the line of the kernel that made it.
type Error struct {
	Pos     Pos
	Program string
	Msg     string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Pos, e.Program, e.Msg) }

// ownFunctions is what names of functions of this package begin with.
var ownFunctions = reflect.TypeFor[Pos]().PkgPath() + "."

// few is how many frames callerPos looks at at a time, since walking the whole stack is most
// of what a builder would do.
const few = 4

// Interpreted, where a program that interprets Go sets it at its start, is where in the
// interpreted source a kernel is that is called from no line of Go, but by reflection.
var Interpreted func() Pos

// callerPos returns the first frame outside this package.
func callerPos() Pos {
	for skip := 2; ; skip += few {
		var pcs [few]uintptr
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return Pos{}
		}
		pos, ok := positions.Load(pcs)
		if !ok {
			pos, _ = positions.LoadOrStore(pcs, outside(pcs[:n]))
		}
		if pos := pos.(Pos); Interpreted != nil && pos.File == "reflect/value.go" {
			return Interpreted()
		} else if pos != (Pos{}) {
			return pos
		}
	}
}

// positions are what outside said of frames: a constant of the executable, which takes longer
// to look up in its tables than the stack to walk.
var positions sync.Map // [few]uintptr to Pos

// outside returns the first frame outside this package, or none.
func outside(pcs []uintptr) Pos {
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, ownFunctions) {
			return Pos{shortFile(f.File), f.Line}
		}
	}
	return Pos{}
}

// shortFile keeps the last two elements of a path: kernels/v1_naive/kernel.go
// is known by v1_naive/kernel.go wherever it was built.
func shortFile(file string) string {
	dir := strings.LastIndexByte(file, '/')
	return file[strings.LastIndexByte(file[:max(dir, 0)], '/')+1:]
}
