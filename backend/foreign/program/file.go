package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"unicode/utf8"

	"matladder/internal/files"
)

// Largest is how many bytes a file may have.
const Largest = 64 << 20

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
	content, err := files.ReadRegular(path, Largest)
	if err != nil {
		return File{}, err
	}
	program, err := Parse(content)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(content)
	return File{path, fmt.Sprintf("%x", sum[:4]), program}, nil
}

// bytecode is how MLIR bytecode begins.
const bytecode = "ML\xefR"

// dynamic is a type whose size is not known.
var dynamic = regexp.MustCompile(`tensor<[^>]*\?[^>]*>`)

// several is what a program over several devices says of itself.
var several = regexp.MustCompile(`mhlo\.num_(partitions|replicas) = ([2-9]|[1-9]\d+)\b`)

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
		if n := int(binary.LittleEndian.Uint32(content[at-4:])); n <= len(content)-at {
			return string(content[at : at+n]), nil
		}
		return "", errors.New("the file ends inside its MLIR bytecode: it is cut short")
	case !utf8.Valid(content) || !bytes.Contains(content, []byte("func.func")):
		return "", errors.New("neither tile programs as JSON nor StableHLO, as text, as MLIR bytecode or as jax.export serializes it")
	}
	if n := several.FindSubmatch(content); n != nil {
		return "", fmt.Errorf("it is for %s devices (mhlo.num_%s), and programs over several are not taken: export it for one", n[2], n[1])
	}
	if d := dynamic.Find(content); d != nil {
		return "", fmt.Errorf("it has dynamic shapes (%s), which XLA's compilers do not take: export it with sizes", d)
	}
	return string(content), nil
}
