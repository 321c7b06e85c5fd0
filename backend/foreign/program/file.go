package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"unicode/utf8"

	"matladder/backend/foreign"
	"matladder/internal/files"
)

// suffixes are those of files with a program.
var suffixes = []string{".mlir", ".stablehlo", ".mlirbc", ".jax"}

// Is reports whether a file's name is that of a program.
func Is(file string) bool { return slices.Contains(suffixes, filepath.Ext(file)) }

// A File is a program with its origin.
type File struct {
	Path, Hash string // of its content, the beginning of SHA-256
	Program    string // StableHLO, as text or MLIR bytecode
}

// Read reads a file.
func Read(path string) (File, error) {
	content, err := files.ReadRegular(path, foreign.Largest)
	if err != nil {
		return File{}, err
	}
	program, err := Parse(content)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return File{path, foreign.Hash(content), program}, nil
}

// bytecode is how MLIR bytecode begins.
const bytecode = "ML\xefR"

// dynamic is a type whose size is not known.
var dynamic = regexp.MustCompile(`tensor<[^>]*\?[^>]*>`)

// devices is an attribute of a program for more than one device.
var devices = regexp.MustCompile(`\bmhlo\.num_(?:partitions|replicas)\s*=\s*0*(?:[2-9]|[1-9][0-9]+)\b`)

// Parse is the program in the content of a file: text, bytecode, or what jax.export
// serializes, which has bytecode in it behind its length.
func Parse(content []byte) (string, error) {
	at := bytes.Index(content, []byte(bytecode))
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return "", errors.New("the file is empty")
	case at == 0:
		return string(content), nil
	case at >= 4:
		n := int(binary.LittleEndian.Uint32(content[at-4:]))
		if d := serializedFor(content); d > 1 {
			return "", severalDevices(fmt.Sprintf("nr_devices = %d", d))
		}
		if n <= len(content)-at {
			return string(content[at : at+n]), nil
		}
		return "", errors.New("the file ends inside its MLIR bytecode: it is cut short")
	case !utf8.Valid(content) || !bytes.Contains(content, []byte("func.func")):
		return "", errors.New("neither tile programs as JSON nor StableHLO, as text, as MLIR bytecode or as jax.export serializes it")
	}
	if isCut(content) {
		return "", errors.New("a bracket or a string of it has no other end: it is cut short")
	}
	if d := dynamic.Find(content); d != nil {
		return "", fmt.Errorf("it has dynamic shapes (%s), which XLA's compilers do not take: export it with sizes", d)
	}
	if d := devices.Find(content); d != nil {
		return "", severalDevices(string(d))
	}
	return string(content), nil
}

// isCut reports whether MLIR's text lacks a part: not all that opens is closed.
func isCut(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '/' && bytes.HasPrefix(text[i:], []byte("//")):
			comment, _, _ := bytes.Cut(text[i:], []byte("\n"))
			i += len(comment)
		case bytes.IndexByte([]byte("([{"), c) >= 0:
			depth++
		case bytes.IndexByte([]byte(")]}"), c) >= 0:
			depth--
		}
	}
	return quoted || depth != 0
}

func severalDevices(says string) error {
	return fmt.Errorf("it is a program for several devices (%s), of which none is predicted or measured: export it for one", says)
}

// devicesField is where the table of flatbuffers that jax.export writes has for how many devices a
// program is.
const devicesField = 40

// serializedFor is that number; 0 if the file does not say.
func serializedFor(content []byte) uint32 {
	number := func(at int64) uint32 { // 0 beyond the end
		if at < 0 || at > int64(len(content)-4) {
			return 0
		}
		return binary.LittleEndian.Uint32(content[at:])
	}
	table := int64(number(0))
	fields := table - int64(int32(number(table)))
	if at := int64(uint16(number(fields + devicesField))); at > 0 && devicesField < uint16(number(fields)) {
		return number(table + at)
	}
	return 0
}
