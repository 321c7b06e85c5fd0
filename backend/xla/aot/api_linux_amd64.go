package aot

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"matladder/backend/internal/hlo"
	"matladder/internal/dynlib"

	"github.com/ebitengine/purego"
)

// The layout follows pjrt_c_api.h of XLA: a table of functions that only ever
// grows. Every argument struct begins with its size and a pointer to extensions.
const (
	headerBytes   = 40      // before the first function
	maxTableBytes = 1 << 16 // of the table: more is no table
)

// Places in the table of functions.
const (
	errorDestroy          = 0
	errorMessage          = 1
	errorCode             = 2
	pluginInitialize      = 3
	executableDestroy     = 40
	executableCodeBytes   = 45
	executableCost        = 46
	topologyCreate        = 82
	compileProgram        = 89
	executableMemoryStats = 96
)

type (
	emptyArgs struct {
		size       uintptr
		extensions uintptr
	}
	errorArgs struct {
		size       uintptr
		extensions uintptr
		err        uintptr
		text       *byte // out, of Error_Message alone
		length     uintptr
	}
	codeArgs struct {
		size       uintptr
		extensions uintptr
		err        uintptr
		code       int32 // out
	}
	topologyArgs struct {
		size       uintptr
		extensions uintptr
		name       *byte
		length     uintptr
		options    *namedText
		count      uintptr
		topology   uintptr // out
	}
	programArgs struct {
		size         uintptr
		extensions   uintptr
		code         *byte
		length       uintptr
		format       *byte
		formatLength uintptr
	}
	compileArgs struct {
		size          uintptr
		extensions    uintptr
		topology      uintptr
		program       *programArgs
		options       *byte
		optionsLength uintptr
		client        uintptr
		executable    uintptr // out
	}
	executableArgs struct {
		size       uintptr
		extensions uintptr
		executable uintptr
		bytes      int64 // out, of SizeOfGeneratedCodeInBytes alone
	}
	costArgs struct {
		size       uintptr
		extensions uintptr
		executable uintptr
		count      uintptr // out
		properties *namedValue
	}
	namedValue struct {
		size       uintptr
		extensions uintptr
		name       *byte
		length     uintptr
		kind       int32
		value      uint64 // a union
		valueSize  uintptr
	}
	// namedText is a namedValue that holds text.
	namedText struct {
		size       uintptr
		extensions uintptr
		name       *byte
		length     uintptr
		kind       int32
		value      *byte
		valueSize  uintptr
	}
	memoryArgs struct {
		size                                        uintptr
		extensions                                  uintptr
		executable                                  uintptr
		code, argument, output, alias, temp         int64 // out
		hostCode, hostArg, hostOut, hostAlias, host int64
		peak, total                                 int64
	}
)

// codeUnimplemented is PJRT's code of what a plugin lacks.
const codeUnimplemented = 12

// namedFloat is the kind of a namedValue that holds a float32.
const namedFloat = 3

// compileOptions is a CompileOptionsProto: executable_build_options with one
// replica (field 4) and one partition (field 5).
var compileOptions = []byte{0x1a, 4, 0x20, 1, 0x28, 1}

// api is a compiler's table of functions, initialized.
type api struct {
	table      unsafe.Pointer
	bytes      uintptr
	topologies map[string]uintptr
}

// pjrtError is an error that a compiler reports.
type pjrtError struct {
	code    int
	message string
}

func (e *pjrtError) Error() string { return e.message }

// load loads the library and initializes it.
func load(path string) (*api, error) {
	library, err := dynlib.Open(path)
	if err != nil {
		return nil, err
	}
	symbol, err := purego.Dlsym(library, "GetPjrtApi")
	if err != nil {
		return nil, fmt.Errorf("%s: a library, but no PJRT plugin", path)
	}
	var get func() unsafe.Pointer
	purego.RegisterFunc(&get, symbol)
	a := &api{table: get(), topologies: map[string]uintptr{}}
	if a.table == nil {
		return nil, fmt.Errorf("%s: it has no table of functions", path)
	}
	if a.bytes = *(*uintptr)(a.table); a.bytes < headerBytes || a.bytes > maxTableBytes {
		return nil, fmt.Errorf("%s: its table of functions would have %d bytes", path, a.bytes)
	}
	none := emptyArgs{size: unsafe.Sizeof(emptyArgs{})}
	if err := a.call(pluginInitialize, unsafe.Pointer(&none)); err != nil {
		return nil, err
	}
	return a, nil
}

// call calls function number i of the table on an argument struct.
func (a *api) call(i int, args unsafe.Pointer) error {
	at := headerBytes + uintptr(i)*unsafe.Sizeof(uintptr(0))
	if at+unsafe.Sizeof(uintptr(0)) > a.bytes {
		return fmt.Errorf("the plugin's table of functions has no number %d", i)
	}
	failed, _, _ := purego.SyscallN(*(*uintptr)(unsafe.Add(a.table, at)), uintptr(args))
	if failed == 0 || i == errorMessage || i == errorDestroy {
		return nil // those two return nothing
	}
	e := &pjrtError{message: "an error without a message"}
	text := errorArgs{size: unsafe.Sizeof(errorArgs{}), err: failed}
	if a.call(errorMessage, unsafe.Pointer(&text)) == nil && text.text != nil {
		e.message = string(unsafe.Slice(text.text, text.length))
	}
	code := codeArgs{size: unsafe.Offsetof(codeArgs{}.code) + 4, err: failed}
	if a.call(errorCode, unsafe.Pointer(&code)) == nil {
		e.code = int(code.code)
	}
	text.size = unsafe.Offsetof(text.text)
	a.call(errorDestroy, unsafe.Pointer(&text))
	return e
}

// topology is what libtpu knows by a name such as v5e:2x2, or with a config one GPU
// of the kind that it describes.
func (a *api) topology(name, config string) (uintptr, error) {
	if t, ok := a.topologies[name]; ok {
		return t, nil
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	args := topologyArgs{size: unsafe.Sizeof(topologyArgs{}), name: pinned(&pins, []byte(name)), length: uintptr(len(name))}
	if config != "" {
		options := []namedText{named(&pins, "target_config", config), named(&pins, "topology", "1x1x1")}
		pins.Pin(&options[0])
		args.options, args.count = &options[0], uintptr(len(options))
	}
	if err := a.call(topologyCreate, unsafe.Pointer(&args)); err != nil {
		return 0, err
	}
	a.topologies[name] = args.topology
	return args.topology, nil
}

// named is text under a name, as C finds it.
func named(pins *runtime.Pinner, name, text string) namedText {
	return namedText{
		size: unsafe.Sizeof(namedText{}), name: pinned(pins, []byte(name)), length: uintptr(len(name)),
		value: pinned(pins, []byte(text)), valueSize: uintptr(len(text)),
	}
}

// pinned is where C finds b.
func pinned(pins *runtime.Pinner, b []byte) *byte {
	if len(b) == 0 {
		return nil
	}
	pins.Pin(&b[0])
	return &b[0]
}

// compile compiles a program and asks about the result.
func (a *api) compile(r request) (answer, error) {
	topology, err := a.topology(r.Topology, r.Config)
	if err != nil {
		return answer{}, err
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	format := []byte("mlir")
	program := &programArgs{
		size: unsafe.Sizeof(programArgs{}), code: pinned(&pins, []byte(r.Program)), length: uintptr(len(r.Program)),
		format: pinned(&pins, format), formatLength: uintptr(len(format)),
	}
	pins.Pin(program)
	options := slices.Clone(compileOptions)
	if r.Partitions > 0 {
		options = hlo.Spread(r.Partitions)
	}
	options = append(options, hlo.Overrides(r.Options)...)
	args := compileArgs{
		size: unsafe.Sizeof(compileArgs{}), topology: topology, program: program,
		options: pinned(&pins, options), optionsLength: uintptr(len(options)),
	}
	if err := a.call(compileProgram, unsafe.Pointer(&args)); err != nil {
		return answer{}, err
	}
	defer func() {
		d := executableArgs{size: unsafe.Offsetof(executableArgs{}.bytes), executable: args.executable}
		a.call(executableDestroy, unsafe.Pointer(&d))
	}()
	got, err := a.describe(args.executable)
	if err == nil && r.Optimized {
		got.Format, got.Optimized, err = a.optimized(args.executable)
	}
	return got, err
}

// describe asks what there is to know of an executable.
func (a *api) describe(executable uintptr) (answer, error) {
	code := executableArgs{size: unsafe.Sizeof(executableArgs{}), executable: executable}
	if err := a.call(executableCodeBytes, unsafe.Pointer(&code)); err != nil {
		return answer{}, err
	}
	memory := memoryArgs{size: unsafe.Sizeof(memoryArgs{}), executable: executable}
	if err := a.call(executableMemoryStats, unsafe.Pointer(&memory)); err != nil {
		return answer{}, err
	}
	cost := costArgs{size: unsafe.Sizeof(costArgs{}), executable: executable}
	var lacks *pjrtError
	if err := a.call(executableCost, unsafe.Pointer(&cost)); err != nil && !(errors.As(err, &lacks) && lacks.code == codeUnimplemented) {
		return answer{}, err
	}
	got := answer{Code64: code.bytes, Argument: memory.argument, Output: memory.output, Temp: memory.temp, Cost: map[string]float64{}}
	if cost.properties != nil {
		for _, p := range unsafe.Slice(cost.properties, cost.count) {
			if p.kind == namedFloat {
				got.Cost[string(unsafe.Slice(p.name, p.length))] = float64(*(*float32)(unsafe.Pointer(&p.value)))
			}
		}
	}
	return got, nil
}
