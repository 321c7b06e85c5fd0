//go:build linux && cgo

package pjrt

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"matladder/internal/pjrtapi"

	"github.com/ebitengine/purego"
	binding "github.com/gomlx/go-xla/pjrt"
)

// The binding is handed a copy of the plugin's table of functions with a few of our own in it,
// which call the plugin's and do what the binding has no call for: options of the compiler, the
// compiled program, the kind of a device, and launches that are not waited for.

// table is a plugin with functions of our own in it.
type table struct {
	*pjrtapi.Table // the plugin's
	plugin         *binding.Plugin

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
	library, err := pjrtapi.Open(path)
	if err != nil {
		return nil, err
	}
	own, err := library.Table()
	if err == nil {
		err = own.Has(pjrtapi.BufferDestroy)
	}
	if err != nil {
		return nil, err
	}
	t := &table{Table: own}
	size := uintptr(len(own.Memory))
	given := binding.AlignedAlloc(size, binding.BufferAlignment) // never freed: the binding keeps it
	memory := unsafe.Slice((*byte)(given), size)
	copy(memory, own.Memory)
	own.Replace(memory, pjrtapi.ClientCompile, purego.NewCallback(t.compile))
	own.Replace(memory, pjrtapi.LoadedExecutableExecute, purego.NewCallback(t.execute))
	own.Replace(memory, pjrtapi.DeviceDescription, purego.NewCallback(t.describe))
	if err := binding.RegisterPreloadedPlugin(path, uintptr(given)); err != nil {
		return nil, err
	}
	if t.plugin, err = binding.GetPlugin(path); err != nil {
		return nil, err
	}
	tables[path] = t
	return t, nil
}

// compile adds options to those of the binding, and remembers the program.
func (t *table) compile(args *pjrtapi.ClientCompileArgs) uintptr {
	if len(t.options) > 0 {
		given, length := args.Options, args.OptionsLength
		all := slices.Concat(unsafe.Slice(given, length), t.options)
		var pins runtime.Pinner
		defer pins.Unpin()
		args.Options, args.OptionsLength = pjrtapi.Pinned(&pins, all), uintptr(len(all))
		defer func() { args.Options, args.OptionsLength = given, length }()
	}
	failed := pjrtapi.Raw(t.Table, pjrtapi.ClientCompile, args)
	if failed == 0 {
		t.compiled = args.Executable
	}
	return failed
}

// describe remembers the description that the binding gets of a device.
func (t *table) describe(args *pjrtapi.HandleArgs) uintptr {
	failed := pjrtapi.Raw(t.Table, pjrtapi.DeviceDescription, args)
	if failed == 0 {
		t.description = args.Made
	}
	return failed
}

// deviceKind is what the plugin calls the kind of a device, "" if it does not say.
func (t *table) deviceKind(d *binding.Device) string {
	if _, err := d.GetDescription(); err != nil {
		return ""
	}
	kind, _ := t.Text(pjrtapi.DeviceDescriptionKind, t.description)
	return kind
}

// optimized is the program that was compiled last as the compiler left it, and
// its format; empty if the plugin does not say.
func (t *table) optimized() (format string, code []byte) {
	e := pjrtapi.HandleArgs{Of: t.compiled}
	if pjrtapi.Call(t.Table, pjrtapi.LoadedExecutableGetExecutable, &e) != nil {
		return "", nil
	}
	defer t.Free(pjrtapi.ExecutableDestroy, e.Made)
	format, code, _ = t.Optimized(e.Made)
	return format, code
}

// execute starts a program, or a chain of it: output 0 of a launch feeds input 0 of the next,
// and the other outputs are those of the last. The other inputs are the sets of arrays in turn.
// The outputs of as many launches are kept, so that no launch leaves its own where one of the
// last few did.
func (t *table) execute(args *pjrtapi.ExecuteArgs) uintptr {
	if t.chained < 1 {
		return pjrtapi.Raw(t.Table, pjrtapi.LoadedExecutableExecute, args)
	}
	complete, count := args.Complete, args.Count
	given := unsafe.Slice(*args.Arguments, count)
	all := slices.Clone(given)
	defer func() {
		args.Complete, args.Count = complete, count
		copy(given, all)
	}()
	each := (len(all) - 1) / t.sets
	args.Count = uintptr(1 + each)
	outputs := unsafe.Slice(*args.Outputs, t.results)
	var kept [][]uintptr // results of launches before, which are not handed back
	free := func(atMost int) {
		for ; len(kept) > atMost; kept = kept[1:] {
			for _, b := range kept[0] {
				t.Free(pjrtapi.BufferDestroy, b)
			}
		}
	}
	defer func() { free(0) }()
	for n := range t.chained {
		args.Complete = nil
		if n == t.chained-1 {
			args.Complete = complete
		}
		copy(given[1:], all[1+n%t.sets*each:][:each])
		failed := pjrtapi.Raw(t.Table, pjrtapi.LoadedExecutableExecute, args)
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
