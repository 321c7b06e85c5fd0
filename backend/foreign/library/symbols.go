//go:build (linux || darwin) && (amd64 || arm64)

package library

import (
	"debug/elf"
	"slices"
	"strings"
)

// mostOthers is how many functions a message names.
const mostOthers = 8

// others says which functions a library has, as far as that can be read.
func others(file string) string {
	f, err := elf.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && !strings.HasPrefix(s.Name, "_") {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return ", nor any other: in C, static functions are not seen; in C++, extern \"C\" keeps a name"
	case len(names) > mostOthers:
		names = append(names[:mostOthers], "…")
	}
	return " (there are " + strings.Join(names, ", ") + ")"
}
