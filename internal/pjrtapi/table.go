//go:build linux && (amd64 || arm64)

package pjrtapi

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"matladder/internal/dynlib"

	"github.com/ebitengine/purego"
)

// entryPoint is the one function that a plugin exports.
const entryPoint = "GetPjrtApi"

// Library is a plugin that was loaded. It is never unloaded.
type Library struct{ get func() unsafe.Pointer }

// Open loads a plugin and finds its entry point.
func Open(path string) (Library, error) {
	handle, err := dynlib.Open(path)
	if err != nil {
		return Library{}, err
	}
	symbol, err := purego.Dlsym(handle, entryPoint)
	if err != nil {
		return Library{}, fmt.Errorf("a library, but no PJRT plugin: it does not export %s", entryPoint)
	}
	var l Library
	purego.RegisterFunc(&l.get, symbol)
	return l, nil
}

// Table is a plugin's table of functions.
type Table struct {
	Major, Minor int
	Memory       []byte // all of it
	functions    []uintptr
}

const (
	headerBytes   = 40      // before the first function
	maxTableBytes = 1 << 16 // more is no table
	functionBytes = unsafe.Sizeof(uintptr(0))
)

// Table asks the plugin for its table.
func (l Library) Table() (*Table, error) {
	p := l.get()
	if p == nil {
		return nil, fmt.Errorf("%s returns nothing", entryPoint)
	}
	size := *(*uintptr)(p)
	if size < headerBytes || size > maxTableBytes {
		return nil, fmt.Errorf("%s returns no table of functions (its size would be %d)", entryPoint, size)
	}
	version := (*[2]int32)(unsafe.Add(p, headerBytes-8))
	return &Table{
		Major: int(version[0]), Minor: int(version[1]), Memory: unsafe.Slice((*byte)(p), size),
		functions: unsafe.Slice((*uintptr)(unsafe.Add(p, headerBytes)), (size-headerBytes)/functionBytes),
	}, nil
}

// Has is nil if the table goes as far as a function.
func (t *Table) Has(f Function) error {
	if int(f) >= len(t.functions) || t.functions[f] == 0 {
		return fmt.Errorf("its table of functions has no number %d", f)
	}
	return nil
}

// Replace puts a function of the caller's into a copy of the table's memory.
func (t *Table) Replace(in []byte, f Function, with uintptr) {
	*(*uintptr)(unsafe.Pointer(&in[headerBytes+uintptr(f)*functionBytes])) = with
}

// Error is an error that a plugin reports.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// CodeUnimplemented is the code of what a plugin lacks.
const CodeUnimplemented = 12

// Call calls a function of the table on an argument struct, whose size it fills in if that is
// 0. An error of the plugin's is an *Error.
func Call[T any](t *Table, f Function, args *T) error {
	if err := t.Has(f); err != nil {
		return err
	}
	head := (*Args)(unsafe.Pointer(args))
	head.Size = cmp.Or(head.Size, unsafe.Sizeof(*args))
	failed := Raw(t, f, args)
	if failed == 0 || f == ErrorMessage || f == ErrorDestroy {
		return nil // those two return nothing
	}
	defer t.Free(ErrorDestroy, failed)
	e := &Error{Message: "an error without a message"}
	if text, err := t.Text(ErrorMessage, failed); err == nil && text != "" {
		e.Message = strings.TrimSpace(text)
	}
	code := CodeArgs{Args: Args{Size: unsafe.Offsetof(CodeArgs{}.Code) + 4}, Error: failed}
	if Call(t, ErrorCode, &code) == nil {
		e.Code = int(code.Code)
	}
	return e
}

// Raw is Call for a function that is there and a struct that has its size. It returns the
// plugin's error as it is, or 0.
func Raw[T any](t *Table, f Function, args *T) uintptr {
	failed, _, _ := purego.SyscallN(t.functions[f], uintptr(unsafe.Pointer(args)))
	return failed
}

// Free calls a function that destroys something.
func (t *Table) Free(f Function, of uintptr) {
	Call(t, f, &HandleArgs{Args: Args{Size: unsafe.Offsetof(HandleArgs{}.Made)}, Of: of})
}

// Text calls a function that returns a string of something.
func (t *Table) Text(f Function, of uintptr) (string, error) {
	args := TextArgs{Of: of}
	if err := Call(t, f, &args); err != nil || args.Text == nil {
		return "", err
	}
	return string(unsafe.Slice(args.Text, args.Length)), nil
}

// Optimized returns what the compiler made of a program, and its format. The plugin is asked
// twice: first how much there is.
func (t *Table) Optimized(executable uintptr) (format string, code []byte, err error) {
	var pins runtime.Pinner
	defer pins.Unpin()
	program := &Program{Args: Args{Size: unsafe.Sizeof(Program{})}}
	pins.Pin(program)
	args := OptimizedArgs{Executable: executable, Program: program}
	if err := Call(t, ExecutableOptimized, &args); err != nil {
		return "", nil, err
	}
	code = make([]byte, program.Length)
	program.Code = Pinned(&pins, code)
	if err := Call(t, ExecutableOptimized, &args); err != nil {
		return "", nil, err
	}
	return string(unsafe.Slice(program.Format, program.FormatLength)), code, nil
}

// Pinned is where C finds b until it is unpinned.
func Pinned(pins *runtime.Pinner, b []byte) *byte {
	if len(b) == 0 {
		return nil
	}
	pins.Pin(&b[0])
	return &b[0]
}
