package asmgen

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// stubs is the file in Go that declares the routines of files of one folder. None keeps what it
// is handed: memory of the stack may stay there.
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
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "//go:noescape\nfunc %s\n", stub)
	}
	return []byte(b.String())
}
