package probe

import (
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
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
