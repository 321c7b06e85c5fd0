package schedule

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

// looped is what libtpu 0.0.51 leaves of an attention over 2048 rows on v6e, shortened.
const looped = `HloModule main, is_scheduled=true

%fusion.23_body (body_param: (s32[], bf16[8])) -> (s32[], bf16[8]) {
  %constant.30 = s32[] constant(256)
  %fusion.49 = (f32[8,256]{1,0:T(8,128)S(1)}) fusion(%a, %b), kind=kOutput, calls=%fused_computation.28
  %fusion.45 = bf16[8]{0} fusion(%fusion.49), kind=kOutput, calls=%fused_computation.25
  ROOT %tuple.17 = (s32[], bf16[8]) tuple(%add, %fusion.45)
}

%fusion.23_cond (cond_param: (s32[], bf16[8])) -> pred[] {
  %constant.25 = s32[] constant(8)
  %get-tuple-element.2 = s32[] get-tuple-element(%cond_param), index=0
  ROOT %compare = pred[] compare(%get-tuple-element.2, %constant.25), direction=LT, backend_config={}
}

ENTRY %main.4 (Arg_0.7: bf16[8]) -> bf16[8] {
  %copy.3 = s32[] copy(%constant.36)
  %while = (s32[], bf16[8]) while(%tuple.20), condition=%fusion.23_cond, body=%fusion.23_body, backend_config={}
  ROOT %fusion.9 = bf16[8] fusion(%while), kind=kLoop, calls=%fused_computation.1
}
`

func TestRepeats(t *testing.T) {
	dump := fstest.MapFS{"17-TLP-hlo.txt": {Data: []byte(looped)}}
	got, err := Repeats(dump, nil)
	want := map[string]int{"constant.30": 8, "fusion.49": 8, "fusion.45": 8, "tuple.17": 8}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	// A branch in the loop runs as often as that, and what it calls too.
	branch := strings.Replace(looped, "  ROOT %tuple.17", "  %conditional.1 = bf16[8] conditional(%p, %a, %b), branch_computations={%one, %other}\n  ROOT %tuple.17", 1)
	branch = "%inner (x: bf16[8]) -> bf16[8] {\n  ROOT %fusion.70 = bf16[8] fusion(%x)\n}\n\n%one (x: bf16[8]) -> bf16[8] {\n  ROOT %call.1 = bf16[8] call(%x), to_apply=%inner\n}\n\n" +
		"%other (x: bf16[8]) -> bf16[8] {\n  ROOT %fusion.71 = bf16[8] fusion(%x)\n}\n\n" + branch
	dump["17-TLP-hlo.txt"].Data = []byte(branch)
	if got, err := Repeats(dump, nil); err != nil || got["fusion.70"] != 8 || got["fusion.71"] != 8 || got["fusion.9"] != 0 {
		t.Errorf("of branches in a loop: %v, %v", got, err)
	}
	if got, err := Repeats(fstest.MapFS{}, nil); err != nil || len(got) > 0 {
		t.Errorf("of no program: %v, %v", got, err)
	}
	// A counter that begins or goes on in another way is not believed, nor a bound that is data.
	const begins = "\n  %tuple.20 = (s32[]{:T(128)}, bf16[8]) tuple(%copy.3, %x)\n  %while"
	const steps = "%add = s32[]{:T(128)} add(%n, %one)\n  ROOT %tuple.17"
	loop := func(first, step string) string {
		text := strings.Replace(looped, "  %copy.3", "  %constant.36 = s32[]{:T(128)} "+first+"\n  %copy.3", 1)
		text = strings.Replace(text, "\n  %while", begins, 1)
		return strings.Replace(text, "ROOT %tuple.17", "%one = s32[] constant("+step+")\n  "+steps, 1)
	}
	for text, counts := range map[string]bool{
		loop("constant(0)", "1"): true, loop("constant(3)", "1"): false, loop("parameter(0)", "1"): false, loop("constant(0)", "2"): false,
	} {
		dump["17-TLP-hlo.txt"].Data = []byte(text)
		if got, err := Repeats(dump, nil); (err == nil) != counts || counts && got["fusion.49"] != 8 {
			t.Errorf("%v, %v of\n%s", got, err, text)
		}
	}
	dump["17-TLP-hlo.txt"].Data = []byte(strings.Replace(looped, "constant(8)", "parameter(1)", 1))
	if got, err := Repeats(dump, nil); err == nil || got["fusion.49"] != 0 || len(got) != len(want) {
		t.Errorf("of a loop without a number: %v", got)
	}
	if got, err := Repeats(dump, map[string][]int{"while": {5}}); err != nil || got["fusion.49"] != 5 {
		t.Errorf("of a loop that is assumed: %v, %v", got, err)
	}
}
