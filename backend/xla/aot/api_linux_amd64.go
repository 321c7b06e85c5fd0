package aot

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"matladder/backend/internal/hlo"
	"matladder/internal/pjrtapi"
)

// compileOptions is a CompileOptionsProto: executable_build_options with one
// replica (field 4) and one partition (field 5).
var compileOptions = []byte{0x1a, 4, 0x20, 1, 0x28, 1}

// api is a compiler, initialized.
type api struct {
	*pjrtapi.Table
	topologies map[string]uintptr
}

// load loads the library and initializes it.
func load(path string) (*api, error) {
	library, err := pjrtapi.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	table, err := library.Table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &api{table, map[string]uintptr{}}, pjrtapi.Call(table, pjrtapi.PluginInitialize, new(pjrtapi.Args))
}

// topology is what libtpu knows by a name such as v5e:2x2, or with a config one GPU
// of the kind that it describes.
func (a *api) topology(name, config string) (uintptr, error) {
	if t, ok := a.topologies[name]; ok {
		return t, nil
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	args := pjrtapi.TopologyArgs{Name: pjrtapi.Pinned(&pins, []byte(name)), Length: uintptr(len(name))}
	if config != "" {
		options := []pjrtapi.NamedText{named(&pins, "target_config", config), named(&pins, "topology", "1x1x1")}
		pins.Pin(&options[0])
		args.Options, args.Count = &options[0], uintptr(len(options))
	}
	if err := pjrtapi.Call(a.Table, pjrtapi.TopologyCreate, &args); err != nil {
		return 0, err
	}
	a.topologies[name] = args.Topology
	return args.Topology, nil
}

// named is text under a name, as C finds it.
func named(pins *runtime.Pinner, name, text string) pjrtapi.NamedText {
	return pjrtapi.NamedText{
		Args: pjrtapi.Args{Size: unsafe.Sizeof(pjrtapi.NamedText{})}, Name: pjrtapi.Pinned(pins, []byte(name)), Length: uintptr(len(name)),
		Value: pjrtapi.Pinned(pins, []byte(text)), ValueSize: uintptr(len(text)),
	}
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
	program := &pjrtapi.Program{
		Args: pjrtapi.Args{Size: unsafe.Sizeof(pjrtapi.Program{})}, Code: pjrtapi.Pinned(&pins, []byte(r.Program)), Length: uintptr(len(r.Program)),
		Format: pjrtapi.Pinned(&pins, format), FormatLength: uintptr(len(format)),
	}
	pins.Pin(program)
	options := slices.Clone(compileOptions)
	if r.Partitions > 0 {
		options = hlo.Spread(r.Partitions)
	}
	options = append(options, hlo.Overrides(r.Options)...)
	args := pjrtapi.CompileArgs{
		Topology: topology, Program: program,
		Options: pjrtapi.Pinned(&pins, options), OptionsLength: uintptr(len(options)),
	}
	if err := pjrtapi.Call(a.Table, pjrtapi.Compile, &args); err != nil {
		return answer{}, err
	}
	defer a.Free(pjrtapi.ExecutableDestroy, args.Executable)
	got, err := a.describe(args.Executable)
	if err == nil && r.Optimized {
		got.Format, got.Optimized, err = a.Optimized(args.Executable)
	}
	return got, err
}

// describe asks what there is to know of an executable.
func (a *api) describe(executable uintptr) (answer, error) {
	code := pjrtapi.HandleArgs{Of: executable}
	if err := pjrtapi.Call(a.Table, pjrtapi.ExecutableCodeBytes, &code); err != nil {
		return answer{}, err
	}
	memory := pjrtapi.MemoryArgs{Executable: executable}
	if err := pjrtapi.Call(a.Table, pjrtapi.ExecutableMemory, &memory); err != nil {
		return answer{}, err
	}
	cost := pjrtapi.CostArgs{Executable: executable}
	var lacks *pjrtapi.Error
	if err := pjrtapi.Call(a.Table, pjrtapi.ExecutableCost, &cost); err != nil && !(errors.As(err, &lacks) && lacks.Code == pjrtapi.CodeUnimplemented) {
		return answer{}, err
	}
	got := answer{Code64: int64(code.Made), Argument: memory.Argument, Output: memory.Output, Temp: memory.Temp, Cost: map[string]float64{}}
	if cost.Properties != nil {
		for _, p := range unsafe.Slice(cost.Properties, cost.Count) {
			if p.Kind == pjrtapi.NamedFloat {
				got.Cost[string(unsafe.Slice(p.Name, p.Length))] = float64(*(*float32)(unsafe.Pointer(&p.Value)))
			}
		}
	}
	return got, nil
}
