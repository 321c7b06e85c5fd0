package hlo

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Numbers of fields, as XLA's compile_options.proto has them.
const (
	optionsOverride = 7 // a map: entries of a key and a value
	entryKey        = 1
	entryValue      = 2
	overrideBool    = 2
)

// Overrides returns options of a compiler, by name, as the end of a
// CompileOptionsProto: appended to the bytes of one, they are part of it.
func Overrides(options map[string]bool) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(options)) {
		value := []byte{overrideBool<<3 | kindVarint, 0}
		if options[name] {
			value[1] = 1
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
