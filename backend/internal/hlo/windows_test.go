package hlo

import (
	"reflect"
	"testing"
)

// TestWindows: what libtpu 0.0.51 notes of an 8192³ bfloat16 product on a v6e under 120 MiB,
// shortened, and notes that lack something.
func TestWindows(t *testing.T) {
	const whole = `{"window_config":{"kernel_window_bounds":["1024","8"],"output_window_bounds":["147","8"],` +
		`"input_window_bounds":["147","64"],"estimated_cycles":"2299968","iteration_bounds":["8","7","1"],"is_mask":false}}`
	want := Windows{Kernel: "fusion", Left: [2]int64{147, 64}, Right: [2]int64{1024, 8}, Out: [2]int64{147, 8}, Blocks: [3]int64{8, 7, 1}}
	for config, has := range map[string]bool{
		whole: true, "": false, "{}": false, `{"window_config":{}}`: false, `{"window_config":3}`: false,
		`{"window_config":{"kernel_window_bounds":["1024","8"],"output_window_bounds":["147","8"],"input_window_bounds":["147","x"],"iteration_bounds":["8","7","1"]}}`: false,
		`{"window_config":{"kernel_window_bounds":["1024","8"],"output_window_bounds":["147","8"],"input_window_bounds":["147","0"],"iteration_bounds":["8","7","1"]}}`: false,
		`{"window_config":{"kernel_window_bounds":["1024","8"],"output_window_bounds":["147","8"],"input_window_bounds":["147","64"],"iteration_bounds":["8","7"]}}`:    false,
	} {
		m := &Module{Entry: &Computation{Instructions: []*Instruction{{Name: "fusion", Config: config}}}}
		wanted := []Windows{}
		if has {
			wanted = append(wanted, want)
		}
		if have := m.Windows(); !reflect.DeepEqual(have, wanted) {
			t.Errorf("%s: %+v", config, have)
		}
	}
}
