package cpu

import (
	"context"
	"slices"
	"strings"

	"matladder/backend"
	"matladder/backend/cpu/internal/gemm"
	"matladder/backend/cpu/internal/gemm/asmgen"
	"matladder/backend/cpu/internal/plan"
	"matladder/tile"
)

// Assembly compiles programs as Compile does and returns the micro-kernels that their
// products call, each once. Nothing runs. Errors are those of Compile.
func (b *Backend) Assembly(ctx context.Context, programs []*tile.Program, params backend.Params) ([]backend.Routine, error) {
	e, err := b.compile(ctx, programs, params)
	if err != nil {
		return nil, err
	}
	var seen []plan.Routine
	var list []backend.Routine
	files := asmgen.Files()
	for i := range e.Plans {
		for _, r := range e.Plans[i].Routines() {
			if slices.Contains(seen, r) {
				continue
			}
			seen = append(seen, r)
			one := backend.Routine{Name: r.Name, Product: r.Product}
			if one.File, one.Text = sourceOf(files, r.Name); one.File == "" {
				one.Name = "" // it is in Go
			} else {
				one.Code = gemm.Code(r.Name)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// sourceOf is the text of a routine as Go's assembler reads it, and the file that has it.
func sourceOf(files map[string][]byte, name string) (file, text string) {
	for file, all := range files {
		_, rest, found := strings.Cut(string(all), "\nTEXT ·"+name+"(SB)")
		if !found {
			continue
		}
		if next := strings.Index(rest, "\n\n//"); next >= 0 {
			rest = rest[:next+1]
		}
		return "backend/cpu/internal/gemm/" + file, "TEXT ·" + name + "(SB)" + rest
	}
	return "", ""
}
