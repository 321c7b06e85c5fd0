package hlo

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields, as XLA's compile_options.proto has them.
const (
	optionsOverride = 7 // a map: entries of a key and a value
	entryKey        = 1
	entryValue      = 2
	overrideText    = 1
	overrideBool    = 2
	overrideInt     = 3
)

// Options are settings of a compiler, by the name of the option: a bool, an int64 or
// a string each, the last the name of an enum's value too.
type Options map[string]any

// Overrides returns options of a compiler, by name, as the end of a
// CompileOptionsProto: appended to the bytes of one, they are part of it.
func Overrides(options Options) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(options)) {
		var value []byte
		switch v := options[name].(type) {
		case bool:
			value = protowire.AppendTag(value, overrideBool, protowire.VarintType)
			value = protowire.AppendVarint(value, protowire.EncodeBool(v))
		case int64:
			value = protowire.AppendTag(value, overrideInt, protowire.VarintType)
			value = protowire.AppendVarint(value, uint64(v))
		case string:
			value = field(value, overrideText, []byte(v))
		default:
			panic(fmt.Sprintf("hlo: option %s is a %T", name, v))
		}
		entry := field(nil, entryKey, []byte(name))
		entry = field(entry, entryValue, value)
		out = field(out, optionsOverride, entry)
	}
	return out
}

// Numbers of fields of a CompileOptionsProto's executable_build_options.
const (
	buildOptions    = 3
	buildReplicas   = 4
	buildPartitions = 5
	buildSPMD       = 6
	buildShardy     = 19
)

// Spread returns a CompileOptionsProto for a program that Shardy spreads over devices.
func Spread(devices int) []byte {
	var build []byte
	for _, f := range []struct {
		number protowire.Number
		value  int
	}{{buildReplicas, 1}, {buildPartitions, devices}, {buildSPMD, 1}, {buildShardy, 1}} {
		build = protowire.AppendTag(build, f.number, protowire.VarintType)
		build = protowire.AppendVarint(build, uint64(f.value))
	}
	return field(nil, buildOptions, build)
}

// field appends a field that has a length.
func field(to []byte, number protowire.Number, data []byte) []byte {
	to = protowire.AppendTag(to, number, protowire.BytesType)
	return protowire.AppendBytes(to, data)
}
