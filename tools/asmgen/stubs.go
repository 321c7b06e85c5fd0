package asmgen

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// calledByName are the routines that Go calls by their names, with memory of its stack,
// which stays there. All others are called through variables: then what is handed over
// escapes, whatever is declared.
var calledByName = []string{"packWordsRows16AVX512", "tileFloat32NEON", "tileQuadsNEON", "peakTilesBFloat16AMX", "peakTilesInt8AMX"}

// stubs is the file in Go that declares the routines of files of one folder.
func stubs(folder string, files []*Asm) []byte {
	var list []string
	for _, a := range files {
		list = append(list, a.stubs...)
	}
	slices.Sort(list)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\npackage %s\n\n", generated, path.Base(path.Join("gemm", folder)))
	if strings.Contains(strings.Join(list, ""), "unsafe.") {
		b.WriteString("import \"unsafe\"\n\n")
	}
	for i, stub := range list {
		if name, _, _ := strings.Cut(stub, "("); slices.Contains(calledByName, name) {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString("//go:noescape\n")
		}
		fmt.Fprintf(&b, "func %s\n", stub)
	}
	return []byte(b.String())
}
