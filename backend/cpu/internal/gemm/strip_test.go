package gemm

import (
	"maps"
	"reflect"
	"testing"

	"matladder/tools/asmgen"
)

// TestStrip: a strip is what assembly takes it for.
func TestStrip(t *testing.T) {
	for _, strip := range []reflect.Type{reflect.TypeFor[strip[float32]](), reflect.TypeFor[strip[int32]]()} {
		fields := asmgen.StripFields()
		for name, place := range fields {
			if f, ok := strip.FieldByName(name); !ok || f.Offset != place {
				t.Errorf("%v: field %s is at %d, in assembly at %d", strip, name, f.Offset, place)
			}
		}
		for i := range strip.NumField() {
			if name := strip.Field(i).Name; fields[name] == 0 && i > 0 && name != "rows" && name != "cols" {
				t.Errorf("%v: assembly does not know field %s", strip, name)
			}
		}
	}
	want := map[string]int{
		"sums": int(streamSums), "copied": int(streamCopied), "narrowPast": int(streamNarrowPast), "narrow": int(streamNarrow),
		"scaledPast": int(streamScaledPast), "scaled": int(streamScaled),
		"scaledNarrowPast": int(streamScaledNarrowPast), "scaledNarrow": int(streamScaledNarrow),
	}
	if ways := asmgen.StripStreams(); !maps.Equal(ways, want) {
		t.Errorf("streams are %v, in assembly %v", want, ways)
	}
}
