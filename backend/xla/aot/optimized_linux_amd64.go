package aot

import (
	"runtime"
	"unsafe"
)

// executableOptimized is a place in the table of functions.
const executableOptimized = 48

// optimizedArgs are those of Executable_OptimizedProgram. Called without room for
// the code, it says how much there is; called with it, it fills it.
type optimizedArgs struct {
	size       uintptr
	extensions uintptr
	executable uintptr
	program    *programArgs
}

// optimized returns what the compiler made of a program, and its format.
func (a *api) optimized(executable uintptr) (format string, code []byte, err error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	program := &programArgs{size: unsafe.Sizeof(programArgs{})}
	pins.Pin(program)
	args := optimizedArgs{size: unsafe.Sizeof(optimizedArgs{}), executable: executable, program: program}
	if err := a.call(executableOptimized, unsafe.Pointer(&args)); err != nil {
		return "", nil, err
	}
	code = make([]byte, program.length)
	program.code = pinned(&pins, code)
	if err := a.call(executableOptimized, unsafe.Pointer(&args)); err != nil {
		return "", nil, err
	}
	return string(unsafe.Slice(program.format, program.formatLength)), code, nil
}
