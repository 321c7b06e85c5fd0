//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"matladder/internal/dynlib"

	"github.com/ebitengine/purego"
)

// entryPoint is the one function that a plugin exports.
const entryPoint = "GetPjrtApi"

// The layout follows pjrt_c_api.h of XLA: a table that only ever grows. Every
// argument struct begins with its size and a pointer to extensions.
type api struct {
	size       uintptr
	extensions unsafe.Pointer
	version    struct {
		size         uintptr
		extensions   unsafe.Pointer
		major, minor int32
	}
	functions [functionCount]uintptr
}

const (
	headerBytes   = unsafe.Offsetof(api{}.functions)
	maxTableBytes = 1 << 16
)

// Places in the table of functions.
const (
	errorDestroy          = 0
	errorMessage          = 1
	pluginInitialize      = 3
	clientCreate          = 10
	clientPlatformName    = 12
	clientPlatformVersion = 14
	clientAddressable     = 16
	deviceDescriptionKind = 26
	deviceDescription     = 29
	functionCount         = 30
)

type (
	emptyArgs struct {
		size       uintptr
		extensions unsafe.Pointer
	}
	errorArgs struct {
		size       uintptr
		extensions unsafe.Pointer
		err        uintptr
		text       *byte // out, of Error_Message alone
		length     uintptr
	}
	createArgs struct {
		size       uintptr
		extensions unsafe.Pointer
		options    unsafe.Pointer
		count      uintptr
		callbacks  [4]uintptr
		client     unsafe.Pointer // out
		more       [2]uintptr
	}
	textArgs struct {
		size       uintptr
		extensions unsafe.Pointer
		of         unsafe.Pointer
		text       *byte // out
		length     uintptr
	}
	devicesArgs struct {
		size       uintptr
		extensions unsafe.Pointer
		client     unsafe.Pointer
		devices    *unsafe.Pointer // out
		count      uintptr
	}
	descriptionArgs struct {
		size        uintptr
		extensions  unsafe.Pointer
		device      unsafe.Pointer
		description unsafe.Pointer // out
	}
)

// load loads a library and returns its entry point.
func load(path string) (func() *api, error) {
	library, err := dynlib.Open(path)
	if err != nil {
		return nil, err
	}
	symbol, err := purego.Dlsym(library, entryPoint)
	if err != nil {
		return nil, fmt.Errorf("a library, but no PJRT plugin: it does not export %s", entryPoint)
	}
	var get func() *api
	purego.RegisterFunc(&get, symbol)
	return get, nil
}

// call calls function number i of the table on an argument struct.
func (a *api) call(i int, args unsafe.Pointer) error {
	if a.size < headerBytes+uintptr(i+1)*unsafe.Sizeof(uintptr(0)) || a.functions[i] == 0 {
		return fmt.Errorf("its table of functions has no number %d", i)
	}
	failed, _, _ := purego.SyscallN(a.functions[i], uintptr(args))
	if failed == 0 || i == errorMessage || i == errorDestroy {
		return nil // those two return nothing
	}
	e := errorArgs{size: unsafe.Sizeof(errorArgs{}), err: failed}
	text := "an error without a message"
	if a.call(errorMessage, unsafe.Pointer(&e)) == nil && e.text != nil {
		text = string(unsafe.Slice(e.text, e.length))
	}
	e.size = unsafe.Offsetof(e.text)
	a.call(errorDestroy, unsafe.Pointer(&e))
	return errors.New(strings.TrimSpace(text))
}

// client initializes the plugin and creates a client without options.
func (a *api) client() (unsafe.Pointer, error) {
	none := emptyArgs{size: unsafe.Sizeof(emptyArgs{})}
	if err := a.call(pluginInitialize, unsafe.Pointer(&none)); err != nil {
		return nil, err
	}
	args := createArgs{size: unsafe.Sizeof(createArgs{})}
	err := a.call(clientCreate, unsafe.Pointer(&args))
	return args.client, err
}

// text calls a function that returns a string of something.
func (a *api) text(i int, of unsafe.Pointer) (string, error) {
	args := textArgs{size: unsafe.Sizeof(textArgs{}), of: of}
	if err := a.call(i, unsafe.Pointer(&args)); err != nil || args.text == nil {
		return "", err
	}
	return string(unsafe.Slice(args.text, args.length)), nil
}

// deviceKinds returns the kind of each device of this process.
func (a *api) deviceKinds(client unsafe.Pointer) ([]string, error) {
	args := devicesArgs{size: unsafe.Sizeof(devicesArgs{}), client: client}
	if err := a.call(clientAddressable, unsafe.Pointer(&args)); err != nil || args.count == 0 {
		return nil, err
	}
	var kinds []string
	for _, device := range unsafe.Slice(args.devices, args.count) {
		d := descriptionArgs{size: unsafe.Sizeof(descriptionArgs{}), device: device}
		if err := a.call(deviceDescription, unsafe.Pointer(&d)); err != nil {
			return nil, err
		}
		kind, err := a.text(deviceDescriptionKind, d.description)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}
