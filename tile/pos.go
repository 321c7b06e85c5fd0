package tile

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
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

// callerPos returns the first frame outside this package. It looks at a few
// frames at a time, since walking the whole stack is most of what a builder
// would do.
func callerPos() Pos {
	const few = 4
	var pcs [few]uintptr
	for skip := 2; ; skip += few {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return Pos{}
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if f.Function != "" && !strings.HasPrefix(f.Function, ownFunctions) {
				return Pos{shortFile(f.File), f.Line}
			}
		}
	}
}

// shortFile keeps the last two elements of a path: kernels/v1_naive/kernel.go
// is known by v1_naive/kernel.go wherever it was built.
func shortFile(file string) string {
	dir := strings.LastIndexByte(file, '/')
	return file[strings.LastIndexByte(file[:max(dir, 0)], '/')+1:]
}
