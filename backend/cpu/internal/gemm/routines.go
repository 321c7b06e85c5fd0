package gemm

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// tilesRoutines are those of AMX, which are called through a closure.
var tilesRoutines = map[string]string{formatBFloat16Tiles: "tilesBFloat16AMX", formatInt8Tiles: "tilesInt8AMX"}

// Routine is the micro-kernel that multiplies where B is read in a way, as it is named in
// assembly; "" where loops in Go multiply, and for what widens B as it reads it.
func (p *MicroKernels[S, C]) Routine(read ReadB) string {
	if p.Words > 1 {
		return tilesRoutines[p.Format]
	}
	tile, _ := p.direct.of(p.MR, p.NR, 1)
	f, ok := map[ReadB]any{
		ReadPacked: p.kernel.tile, ReadPieces: p.kernel.tile, ReadTiles: tile.run, ReadStreams: p.stream.run, ReadDots: p.dots.run, ReadColumns: p.kernel.gemv.run,
	}[read]
	if !ok || reflect.ValueOf(f).IsNil() {
		return ""
	}
	return nameOf(f)
}

// Routine is the micro-kernel, as Routine of MicroKernels.
func (p *Groups) Routine() string { return nameOf(p.tile) }

func nameOf(f any) string {
	full := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return strings.Replace(full[strings.LastIndex(full, ".")+1:], "OnNEON", "NEON", 1) // what Go does around the routine has this name
}

// Assembly is the text of a routine as Go's assembler reads it, and the file that has it; empty
// if it has none.
func Assembly(name string) (file, text string) {
	files, _ := sources.ReadDir(".")
	for _, f := range files {
		all, _ := sources.ReadFile(f.Name())
		_, rest, found := strings.Cut(string(all), "\nTEXT ·"+name+"(SB)")
		if !found {
			continue
		}
		if next := strings.Index(rest, "\n\n//"); next >= 0 {
			rest = rest[:next+1]
		}
		return f.Name(), "TEXT ·" + name + "(SB)" + rest
	}
	return "", ""
}

// functionAlign is what functions begin at multiples of, on every architecture with routines.
const functionAlign = 16

// Code is the machine code of a routine in assembly as it lies in this process, which is
// not to be written to; nil if it has none.
func Code(name string) []byte {
	here := reflect.ValueOf(Code).Pointer()
	folder := strings.TrimSuffix(runtime.FuncForPC(here).Name(), "Code") // and a dot
	var longest []byte                                                   // the other function of the name is what calls it from Go
	for _, step := range []int{-functionAlign, functionAlign} {
		for pc := here &^ (functionAlign - 1); ; pc = uintptr(int(pc) + step) {
			f := runtime.FuncForPC(pc)
			if f == nil {
				break
			}
			if f.Entry() != pc || f.Name() != folder+name {
				continue
			}
			end := pc + functionAlign
			for g := runtime.FuncForPC(end); g != nil && g.Entry() == pc; g = runtime.FuncForPC(end) {
				end += functionAlign
			}
			if n := int(end - pc); n > len(longest) {
				longest = bytes.TrimRight(unsafe.Slice((*byte)(codeAt(pc)), n), "\xcc") // INT3, which pads
			}
		}
	}
	return longest
}

// codeAt is the address of code, which no garbage collector moves.
func codeAt(pc uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&pc)) }
