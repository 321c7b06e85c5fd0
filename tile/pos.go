package tile

import (
	"fmt"
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

// callerPos returns the first frame outside this package.
func callerPos() Pos {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "matladder/tile.") {
			return Pos{shortFile(f.File), f.Line}
		}
		if !more {
			return Pos{}
		}
	}
}

// shortFile keeps the last two elements of a path: kernels/v1_naive/kernel.go
// is known by v1_naive/kernel.go wherever it was built.
func shortFile(file string) string {
	parts := strings.Split(file, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}
