package plugins

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// entryPoint is the one function that a PJRT plugin exports.
const entryPoint = "GetPjrtApi"

// Inspect returns why the file at path is no PJRT plugin for a platform, or nil,
// without loading it.
func Inspect(path string, p Platform) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file")
	case err != nil:
		return reason(err)
	case !info.Mode().IsRegular():
		return errors.New("not a file")
	case p.OS != "linux":
		return fmt.Errorf("plugins are Linux libraries, this is %s", p)
	}
	f, err := elf.Open(path)
	if err != nil {
		if magic := make([]byte, 4); readStart(path, magic) && string(magic) == elf.ELFMAG {
			return fmt.Errorf("damaged or cut short: only the beginning of a library (%d bytes)", info.Size())
		}
		return errors.New("not a shared library (no ELF header)")
	}
	defer f.Close()
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	switch {
	case f.Type != elf.ET_DYN:
		return errors.New("not a shared library")
	case f.Machine != machines[p.Arch]:
		return fmt.Errorf("a library for %s, this is %s", f.Machine, p)
	}
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_LOAD && prog.Off+prog.Filesz > uint64(info.Size()) {
			return fmt.Errorf("cut short: it has %d bytes and should have at least %d", info.Size(), prog.Off+prog.Filesz)
		}
	}
	symbols, err := f.DynamicSymbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil // without a section table only the loader can tell
	}
	if err != nil {
		return fmt.Errorf("damaged: %w", err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == entryPoint && s.Section != elf.SHN_UNDEF }) {
		return fmt.Errorf("a library, but no PJRT plugin: it does not export %s", entryPoint)
	}
	return nil
}

func readStart(path string, b []byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.ReadFull(f, b)
	return err == nil
}
