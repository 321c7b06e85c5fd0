package probe

import (
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestPeak_Operations counts the instructions in the assembly, as a rate is
// no better than the number of operations it is made from.
func TestPeak_Operations(t *testing.T) {
	source, err := os.ReadFile("peak_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	perLane := map[string]float64{"VFMADD231PS": 2, "VPMADDWD": 4, "VDPBF16PS": 4, "VPDPBUSD": 8}
	instruction := regexp.MustCompile(`(VFMADD231PS|VPMADDWD|VDPBF16PS|VPDPBUSD) ([YZ])`)
	lanes := map[string]float64{"Y": 8, "Z": 16}
	counted := map[string]float64{}
	for _, text := range strings.Split(string(source), "TEXT ·")[1:] {
		name, body, _ := strings.Cut(text, "(")
		for _, m := range instruction.FindAllStringSubmatch(body, -1) {
			counted[name] += perLane[m[1]] * lanes[m[2]]
		}
	}
	for _, isa := range []string{"avx2", "avx512"} {
		for _, dtype := range []string{"float32", "bfloat16", "int8"} {
			for _, l := range loops(isa, dtype) {
				name := runtime.FuncForPC(reflect.ValueOf(l.run).Pointer()).Name()
				name = name[strings.LastIndex(name, ".")+1:]
				if counted[name] != l.ops {
					t.Errorf("%s %s: %s has %v operations a turn, taken for %v", isa, dtype, name, counted[name], l.ops)
				}
			}
		}
	}
}

// TestPeak_Tiles counts products of tiles, each of 16×16 sums of 16 words; it
// needs no AMX.
func TestPeak_Tiles(t *testing.T) {
	source, err := os.ReadFile("peak_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for name, mnemonic := range map[string]string{"peakTilesBFloat16AMX": "// TDPBF16PS", "peakTilesInt8AMX": "// TDPBSSD"} {
		_, body, _ := strings.Cut(string(source), "TEXT ·"+name+"(")
		body, _, _ = strings.Cut(body, "TEXT ·")
		if n := strings.Count(body, mnemonic) * 16 * 16 * 16 * 2; n != tileTurn {
			t.Errorf("%s: %d operations a turn for one element in a word, taken for %d", name, n, tileTurn)
		}
	}
}

// TestBFloat16Pairs wants both rates where the instruction is, and none elsewhere. Which
// is the higher is the processor's matter, and that of its load.
func TestBFloat16Pairs(t *testing.T) {
	start := time.Now()
	pairs, widened := BFloat16Pairs()
	t.Logf("%.4g and %.4g FLOP/s in %v", pairs, widened, time.Since(start))
	if has := len(loops("avx512", "bfloat16")) == 2; (pairs > 0) != has || (widened > 0) != has {
		t.Errorf("%v, %v; the instruction is there: %v", pairs, widened, has)
	}
}
