package machine

import (
	"regexp"
	"strings"
	"testing"
)

// minimal is a table of one device; cases below break it in one place.
const minimal = `sources:
  page: a page
devices:
  - key: tpu_x
    names: [TPU x]
    vendor: V
    kind: tpu
    cores_per_device: 1
    devices_per_chip: 2
    parallel_programs: 1
    peak_flops_per_second:
      bfloat16: {chip_value: 8e12, source: page}
    memory_bytes_per_second: {value: 1e12, source: page}
`

func TestParse(t *testing.T) {
	table, err := parse("t.yaml", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	d := table.devices[0]
	if got := d.Peak["bfloat16"]; got.Value != 4e12 || got.Source != "a page" {
		t.Errorf("a chip's 8e12 on two devices: %+v", got)
	}
	if got := d.BandwidthBytesPerSecond.Value; got != 1e12 {
		t.Errorf("a device's own value: %g", got)
	}
	if d.MemoryBytes.Known() || d.LastLevelCacheBytes.Known() {
		t.Error("what is left out is unknown")
	}
}

func TestParseErrorsNameFileAndLine(t *testing.T) {
	second := strings.TrimPrefix(minimal, "sources:\n  page: a page\ndevices:\n")
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", "    vendor: V", "    colour: red", "t.yaml:6: unknown key \"colour\" of a device"},
		{"unknown key of a figure", "{value: 1e12,", "{val: 1e12,", "t.yaml:13: memory_bytes_per_second: unknown key \"val\" of a figure"},
		{"unknown key of the file", "sources:", "chips: 3\nsources:", "t.yaml:1: unknown key \"chips\" of a table of devices"},
		{"key twice", "    vendor: V", "    vendor: V\n    vendor: W", "t.yaml:7: key vendor is given twice"},
		{"wrong type", "cores_per_device: 1", "cores_per_device: one", `t.yaml:8: cores_per_device: "one": want a whole number`},
		{"syntax", "    vendor: V", "    vendor: [V", `t.yaml:6: not YAML: did not find expected ',' or ']'`},
		{"unknown dtype", "bfloat16:", "bf16:", `t.yaml:12: peak_flops_per_second: bf16: want one of`},
		{"integer FLOP/s", "bfloat16:", "int8:", `t.yaml:12: peak_flops_per_second: int8: want one of`},
		{"float OP/s", "peak_flops", "peak_ops", `t.yaml:12: peak_ops_per_second: bfloat16: want one of`},
		{"unknown source", "{value: 1e12, source: page}", "{value: 1e12, source: book}", `t.yaml:13: memory_bytes_per_second: source: "book" is not under sources`},
		{"no source", "{value: 1e12, source: page}", "{value: 1e12}", "t.yaml:13: memory_bytes_per_second: a figure without source"},
		{"unused source", "sources:", "sources:\n  book: a book", "t.yaml:2: book: empty, or used nowhere"},
		{"zero", "value: 1e12", "value: 0", "t.yaml:13: memory_bytes_per_second: value 0: want a positive number; leave out what is unknown"},
		{"negative", "value: 1e12", "value: -1", "t.yaml:13: memory_bytes_per_second: value -1"},
		{"not a number", "value: 1e12", "value: .nan", "t.yaml:13: memory_bytes_per_second: value NaN"},
		{"infinite", "value: 1e12", "value: .inf", "t.yaml:13: memory_bytes_per_second: value +Inf"},
		{"two values", "{value: 1e12,", "{value: 1e12, chip_value: 2e12,", "t.yaml:13: memory_bytes_per_second: value and chip_value exclude each other"},
		{"no value, no reason", "{value: 1e12,", "{", "t.yaml:13: memory_bytes_per_second: a figure without value or chip_value needs why"},
		{"disagreement without reason", "source: page}\n    memory", "source: page, disagreements: [{value: 1, source: page}]}\n    memory",
			"t.yaml:12: peak_flops_per_second: bfloat16: a figure with disagreements needs why this value was chosen"},
		{"bad kind", "kind: tpu", "kind: cpu", `t.yaml:7: kind: "cpu": want tpu or gpu`},
		{"bad key", "key: tpu_x", "key: TPU-x", `t.yaml:4: key: "TPU-x"`},
		{"missing field", "    parallel_programs: 1\n", "", "t.yaml:4: a device needs the key parallel_programs"},
		{"one name, two devices", "devices:\n", "devices:\n" + strings.Replace(second, "tpu_x", "tpu_y", 1), `t.yaml:14: name "tpu_x" of tpu_x is already a name of tpu_y: put it under ambiguous`},
		{"ambiguous to nothing", "devices:", "ambiguous: {x: [tpu_x, tpu_z]}\ndevices:", `t.yaml:3: x: "tpu_z" is not the key of a device`},
		{"ambiguous to one", "devices:", "ambiguous: {x: [tpu_x]}\ndevices:", `t.yaml:3: x: want two keys or more`},
		{"ambiguous yet a name", "devices:", "ambiguous: {tpu-x: [tpu_x, tpu_x]}\ndevices:", `t.yaml:3: tpu-x: is a name of tpu_x`},
		{"alignment without source", "    parallel", "    align_rows_columns: {int8: [8, 128]}\n    parallel", `t.yaml:4: tpu_x: align_rows_columns and align_source go together`},
		{"alignment of nothing", "    parallel", "    align_rows_columns: {int8: [0, 128]}\n    align_source: page\n    parallel", "t.yaml:10: align_rows_columns: int8: want a dtype"},
		{"two documents", "devices:", "---\ndevices:", "t.yaml:3: a second document"},
		{"empty", minimal, "", "t.yaml: no devices"},
		{"no devices", minimal, "sources: {}", "t.yaml:1: a table of devices needs the key devices"},
	} {
		text := strings.Replace(minimal, c.old, c.new, 1)
		if text == minimal {
			t.Errorf("%s: the case changes nothing", c.name)
		}
		_, err := parse("t.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "t.yaml:") {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// FuzzParse: any text is either a table whose figures are all positive and
// sourced, or refused with the file's name.
func FuzzParse(f *testing.F) {
	f.Add(minimal)
	f.Add(string(embedded))
	f.Add("devices: [{}]")
	f.Add("devices: &a [*a]")
	f.Add("sources: {a: &x {b: *x}}")
	f.Add("\x00")
	located := regexp.MustCompile(`^t\.yaml:`)
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parse("t.yaml", []byte(text))
		if err != nil {
			if !located.MatchString(err.Error()) {
				t.Fatalf("error without the file's name: %v", err)
			}
			return
		}
		for _, d := range table.devices {
			for name, figure := range figures(d) {
				if figure.Value < 0 || figure.Known() && figure.Source == "" {
					t.Fatalf("%s: %s: %+v", d.Key, name, figure)
				}
			}
		}
	})
}
