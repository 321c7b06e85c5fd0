//go:build linux && cgo

package pjrt

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"matladder/internal/dynlib"

	"github.com/ebitengine/purego"
	binding "github.com/gomlx/go-xla/pjrt"
)

// A plugin is a table of functions, whose layout follows pjrt_c_api.h of XLA: it
// only ever grows, and every argument struct begins with its size and a pointer
// to extensions. The binding is handed a copy of the table with a few functions
// of our own in it, which call the plugin's and do what the binding has no call
// for: options of the compiler, the compiled program, the kind of a device, and
// launches that are not waited for.

// Places in the table.
const (
	errorDestroy        = 0
	clientCompile       = 20
	descriptionKind     = 26
	deviceDescription   = 29
	executableDestroy   = 40
	executableOptimized = 48
	loadedExecutable    = 51
	execute             = 55
	bufferDestroy       = 58
)

const (
	headerBytes   = 40      // before the first function
	maxTableBytes = 1 << 16 // more is no table
	functionBytes = unsafe.Sizeof(uintptr(0))
)

type (
	// handleArgs are those of functions that take one thing, and may return one.
	handleArgs struct {
		size       uintptr
		extensions uintptr
		of         uintptr
		made       uintptr // out
	}
	textArgs struct {
		size       uintptr
		extensions uintptr
		of         uintptr
		text       *byte // out
		length     uintptr
	}
	programArgs struct {
		size         uintptr
		extensions   uintptr
		code         *byte
		length       uintptr
		format       *byte
		formatLength uintptr
	}
	optimizedArgs struct {
		size       uintptr
		extensions uintptr
		executable uintptr
		program    *programArgs
	}
	compileArgs struct {
		size          uintptr
		extensions    uintptr
		client        uintptr
		program       uintptr
		options       *byte
		optionsLength uintptr
		executable    uintptr // out
	}
	executeArgs struct {
		size       uintptr
		extensions uintptr
		executable uintptr
		options    uintptr
		arguments  **uintptr // of each device
		devices    uintptr
		count      uintptr   // of arguments
		outputs    **uintptr // of each device, out
		complete   *uintptr  // events, of each device, out; nil for none
		device     uintptr
	}
)

// table is a plugin with functions of our own in it.
type table struct {
	plugin    *binding.Plugin
	functions []uintptr // the plugin's

	mu          sync.Mutex // held while the binding compiles or executes
	options     []byte     // for the compiler, added to the binding's
	compiled    uintptr    // the program that was compiled last
	chained     int        // launches of the next execution
	results     int        // arrays that each returns
	sets        int        // of operands behind the link, which they take in turn
	description uintptr    // of the device that was asked for last
}

var (
	tablesMu sync.Mutex
	tables   = map[string]*table{} // by the path of the library: they are never unloaded
)

// loadPlugin loads a plugin, once in a process.
func loadPlugin(path string) (*table, error) {
	tablesMu.Lock()
	defer tablesMu.Unlock()
	if t := tables[path]; t != nil {
		return t, nil
	}
	library, err := dynlib.Open(path)
	if err != nil {
		return nil, err
	}
	symbol, err := purego.Dlsym(library, "GetPjrtApi")
	if err != nil {
		return nil, errors.New("a library, but no PJRT plugin")
	}
	var get func() unsafe.Pointer
	purego.RegisterFunc(&get, symbol)
	own := get()
	if own == nil {
		return nil, errors.New("it offers nothing")
	}
	size := *(*uintptr)(own)
	if size < headerBytes+(bufferDestroy+1)*functionBytes || size > maxTableBytes {
		return nil, fmt.Errorf("its table of functions would have %d bytes", size)
	}
	t := &table{functions: slices.Clone(unsafe.Slice((*uintptr)(unsafe.Add(own, headerBytes)), (size-headerBytes)/functionBytes))}
	given := binding.AlignedAlloc(size, binding.BufferAlignment) // never freed: the binding keeps it
	copy(unsafe.Slice((*byte)(given), size), unsafe.Slice((*byte)(own), size))
	places := unsafe.Slice((*uintptr)(unsafe.Add(given, headerBytes)), len(t.functions))
	places[clientCompile] = purego.NewCallback(t.compile)
	places[execute] = purego.NewCallback(t.execute)
	places[deviceDescription] = purego.NewCallback(t.describe)
	if err := binding.RegisterPreloadedPlugin(path, uintptr(given)); err != nil {
		return nil, err
	}
	if t.plugin, err = binding.GetPlugin(path); err != nil {
		return nil, err
	}
	tables[path] = t
	return t, nil
}

// call calls a function of the plugin's and returns its error, or 0.
func (t *table) call(i int, args unsafe.Pointer) uintptr {
	failed, _, _ := purego.SyscallN(t.functions[i], uintptr(args))
	return failed
}

// try is call where an error means only that something is not known.
func (t *table) try(i int, args unsafe.Pointer) bool {
	failed := t.call(i, args)
	if failed != 0 {
		t.free(errorDestroy, failed)
	}
	return failed == 0
}

// free calls a function that destroys something.
func (t *table) free(i int, of uintptr) {
	args := handleArgs{size: unsafe.Offsetof(handleArgs{}.made), of: of}
	t.call(i, unsafe.Pointer(&args))
}

// compile adds options to those of the binding, and remembers the program.
func (t *table) compile(args *compileArgs) uintptr {
	if len(t.options) > 0 {
		given, length := args.options, args.optionsLength
		all := slices.Concat(unsafe.Slice(given, length), t.options)
		var pins runtime.Pinner
		pins.Pin(&all[0])
		defer pins.Unpin()
		args.options, args.optionsLength = &all[0], uintptr(len(all))
		defer func() { args.options, args.optionsLength = given, length }()
	}
	failed := t.call(clientCompile, unsafe.Pointer(args))
	if failed == 0 {
		t.compiled = args.executable
	}
	return failed
}

// describe remembers the description that the binding gets of a device.
func (t *table) describe(args *handleArgs) uintptr {
	failed := t.call(deviceDescription, unsafe.Pointer(args))
	if failed == 0 {
		t.description = args.made
	}
	return failed
}

// deviceKind is what the plugin calls the kind of a device, "" if it does not say.
func (t *table) deviceKind(d *binding.Device) string {
	if _, err := d.GetDescription(); err != nil {
		return ""
	}
	args := textArgs{size: unsafe.Sizeof(textArgs{}), of: t.description}
	if !t.try(descriptionKind, unsafe.Pointer(&args)) || args.text == nil {
		return ""
	}
	return string(unsafe.Slice(args.text, args.length))
}

// optimized is the program that was compiled last as the compiler left it, and
// its format; empty if the plugin does not say.
func (t *table) optimized() (format string, code []byte) {
	e := handleArgs{size: unsafe.Sizeof(handleArgs{}), of: t.compiled}
	if !t.try(loadedExecutable, unsafe.Pointer(&e)) {
		return "", nil
	}
	defer t.free(executableDestroy, e.made)
	var pins runtime.Pinner
	defer pins.Unpin()
	program := &programArgs{size: unsafe.Sizeof(programArgs{})}
	pins.Pin(program)
	args := optimizedArgs{size: unsafe.Sizeof(optimizedArgs{}), executable: e.made, program: program}
	if !t.try(executableOptimized, unsafe.Pointer(&args)) || program.length == 0 {
		return "", nil
	}
	code = make([]byte, program.length)
	pins.Pin(&code[0])
	program.code = &code[0]
	if !t.try(executableOptimized, unsafe.Pointer(&args)) {
		return "", nil
	}
	return string(unsafe.Slice(program.format, program.formatLength)), code
}

// execute starts a program, or a chain of it: the first array that each launch
// returns is the first that the next one takes, and the rest is that of the last. Behind
// the first, launches take the sets of arrays in turn, and the results of as many
// launches are kept, so that no launch leaves its own where one of the last few did.
func (t *table) execute(args *executeArgs) uintptr {
	if t.chained < 1 {
		return t.call(execute, unsafe.Pointer(args))
	}
	complete, count := args.complete, args.count
	given := unsafe.Slice(*args.arguments, count)
	all := slices.Clone(given)
	defer func() {
		args.complete, args.count = complete, count
		copy(given, all)
	}()
	each := (len(all) - 1) / t.sets
	args.count = uintptr(1 + each)
	outputs := unsafe.Slice(*args.outputs, t.results)
	var kept [][]uintptr // results of launches before, which are not handed back
	free := func(atMost int) {
		for ; len(kept) > atMost; kept = kept[1:] {
			for _, b := range kept[0] {
				t.free(bufferDestroy, b)
			}
		}
	}
	defer func() { free(0) }()
	for n := range t.chained {
		args.complete = nil
		if n == t.chained-1 {
			args.complete = complete
		}
		copy(given[1:], all[1+n%t.sets*each:][:each])
		failed := t.call(execute, unsafe.Pointer(args))
		if failed != 0 {
			return failed
		}
		if n < t.chained-1 {
			kept = append(kept, slices.Clone(outputs))
			free(t.sets) // what a launch that was started takes is held by it
		}
		given[0] = outputs[0]
	}
	return 0
}
