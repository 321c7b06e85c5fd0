package hlo

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Numbers of fields, as XLA's compile_options.proto has them.
const (
	optionsOverride = 7 // a map: entries of a key and a value
	entryKey        = 1
	entryValue      = 2
	overrideBool    = 2
	overrideInt     = 3
)

// Options are what a compiler is told, by the name of the option: a bool or an
// int64 each.
type Options map[string]any

// Overrides returns options of a compiler, by name, as the end of a
// CompileOptionsProto: appended to the bytes of one, they are part of it.
func Overrides(options Options) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(options)) {
		var value []byte
		switch v := options[name].(type) {
		case bool:
			value = []byte{overrideBool<<3 | kindVarint, 0}
			if v {
				value[1] = 1
			}
		case int64:
			value = binary.AppendUvarint([]byte{overrideInt<<3 | kindVarint}, uint64(v))
		default:
			panic(fmt.Sprintf("hlo: option %s is a %T", name, v))
		}
		entry := field(nil, entryKey, []byte(name))
		entry = field(entry, entryValue, value)
		out = field(out, optionsOverride, entry)
	}
	return out
}

// field appends a field that has a length.
func field(to []byte, number int, data []byte) []byte {
	to = binary.AppendUvarint(to, uint64(number<<3|kindBytes))
	to = binary.AppendUvarint(to, uint64(len(data)))
	return append(to, data...)
}
