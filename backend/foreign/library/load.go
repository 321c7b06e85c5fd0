//go:build (linux || darwin) && (amd64 || arm64)

package library

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"matladder/internal/childlog"
	"matladder/internal/dynlib"
	"matladder/tile"

	"github.com/ebitengine/purego"
)

// Available returns why functions of shared libraries cannot be called here, or nil.
func Available() error { return nil }

// load finds a function. on runs what calls it in a thread of its own, until stop.
func load(l Library) (call Call, on func(func()), stop func(), err error) {
	handle, err := dynlib.Open(l.File)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("not a shared library that can be loaded: %s", childlog.First(err.Error()))
	}
	f, err := purego.Dlsym(handle, l.Symbol)
	if err != nil || f == 0 {
		return nil, nil, nil, fmt.Errorf("no function %s in %s%s", l.Symbol, l.File, others(l.File))
	}
	sigaction, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
	if err != nil {
		return nil, nil, nil, err
	}
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	on = func(f func()) {
		done := make(chan struct{})
		work <- func() {
			defer close(done)
			defer deadly(sigaction)()
			f()
		}
		<-done
	}
	call = func(sizes []int, arrays []tile.Tensor) error {
		var all [15]uintptr // that purego passes on
		args := all[:0]
		for _, n := range sizes {
			args = append(args, uintptr(n))
		}
		for _, a := range arrays {
			args = append(args, uintptr(unsafe.Pointer(unsafe.SliceData(a.Data))))
		}
		purego.SyscallN(f, args...)
		runtime.KeepAlive(arrays)
		return nil
	}
	return call, on, func() { close(work) }, nil
}

// deadly has faults end the process as they end one in C, instead of as Go's runtime tells
// them, in pages, until what it returns is called.
func deadly(sigaction uintptr) (restore func()) {
	type action [256]byte // room for any system's; all zero is what the system does by itself
	signals := []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL}
	before := make([]action, len(signals))
	set := func(s syscall.Signal, to, old *action) {
		purego.SyscallN(sigaction, uintptr(s), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(old)))
	}
	for i, s := range signals {
		set(s, new(action), &before[i])
	}
	return func() {
		for i, s := range signals {
			set(s, &before[i], nil)
		}
	}
}
