package gemm

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// Routines names the micro-kernels of the path of that name which multiply where B is read
// in a way, as they are named in assembly. There is none where loops in Go multiply, and none
// that widens B as it reads it.
func (k *Kernels) Routines(path string, read ReadB) []string {
	for _, found := range [][]string{
		k.Float32.routines(path, read), k.WideBFloat16.routines(path, read), k.PairsBFloat16.routines(path, read), k.TilesBFloat16.routines(path, read),
		k.Int8.routines(path, read), k.ThinInt8.routines(path, read), k.WideInt8.routines(path, read), k.WideUint8.routines(path, read), k.TilesInt8.routines(path, read),
	} {
		if found != nil {
			return found
		}
	}
	return nil
}

// tilesRoutines are those of AMX, which are called through a closure.
var tilesRoutines = map[string]string{formatBFloat16Tiles: "tilesBFloat16AMX", formatInt8Tiles: "tilesInt8AMX"}

func (p *Path[S, C]) routines(name string, read ReadB) (names []string) {
	if p == nil || p.Name != name {
		return nil
	}
	if p.Words > 1 {
		return []string{tilesRoutines[p.Format]}
	}
	var f any
	switch read {
	case ReadPacked, ReadPieces:
		f = p.kernel.tile
	case ReadTiles:
		f = p.direct.tile
	case ReadStreams:
		f = p.stream.run
	default:
		return []string{}
	}
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return []string{}
	}
	full := runtime.FuncForPC(v.Pointer()).Name()
	return []string{full[strings.LastIndex(full, ".")+1:]}
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
