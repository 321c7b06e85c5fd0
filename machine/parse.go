package machine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"matladder/internal/yamlline"

	"gopkg.in/yaml.v3"
)

// file is the layout of chips.yaml.
type file struct {
	Sources   map[string]string   `yaml:"sources"`   // id → what it is
	Ambiguous map[string][]string `yaml:"ambiguous"` // name → keys it may mean
	Devices   []record            `yaml:"devices"`
}

type record struct {
	Key            string   `yaml:"key"`
	Names          []string `yaml:"names"`
	Vendor         string   `yaml:"vendor"`
	Kind           string   `yaml:"kind"`
	Note           string   `yaml:"note"`
	Cores          int      `yaml:"cores_per_device"`
	DevicesPerChip int      `yaml:"devices_per_chip"`
	Parallel       int      `yaml:"parallel_programs"`
	MXUs           int      `yaml:"mxus_per_core"`
	MXUSide        int      `yaml:"mxu_side"`
	MXUColumns     int      `yaml:"mxu_columns"`
	Keeps          bool     `yaml:"keeps_inputs"`

	PeakFlops       map[string]figure `yaml:"peak_flops_per_second"`
	PeakOps         map[string]figure `yaml:"peak_ops_per_second"`
	Bandwidth       figure            `yaml:"memory_bytes_per_second"`
	Memory          figure            `yaml:"memory_bytes"`
	Fast            figure            `yaml:"fast_bytes_per_core"`
	FastDefault     figure            `yaml:"fast_default_bytes_per_core"`
	Between         figure            `yaml:"between_bytes_per_core"`
	LastLevelCache  figure            `yaml:"last_level_cache_bytes"`
	Clock           figure            `yaml:"clock_hertz"`
	StepOverhead    figure            `yaml:"step_overhead_seconds"`
	Overlap         figure            `yaml:"overlap_exponent"`
	Dispatch        figure            `yaml:"dispatch_seconds"`
	Launch          figure            `yaml:"launch_seconds"`
	Attained        figure            `yaml:"memory_attained_bytes_per_second"`
	Link            figure            `yaml:"link_bytes_per_second"`
	Hop             figure            `yaml:"hop_seconds"`
	Torus           torus             `yaml:"torus_chips"`
	Align           map[string][2]int `yaml:"align_rows_columns"`
	AlignmentSource string            `yaml:"align_source"`
}

// torus is the largest pod.
type torus struct {
	Pod    []int  `yaml:"pod"`
	Wrap   int    `yaml:"wrap"`
	Source string `yaml:"source"`
}

// figure is a value of the device, or of its chip to be shared out over the
// chip's devices. One with neither is known to have no single value.
type figure struct {
	Value         *float64  `yaml:"value"`
	ChipValue     *float64  `yaml:"chip_value"`
	Source        string    `yaml:"source"`
	Why           string    `yaml:"why"`
	Disagreements []figure  `yaml:"disagreements"`
	Between       []float64 `yaml:"between"` // where the value is a guess: the least and the most that it may be
}

func (f figure) absent() bool {
	return f.Value == nil && f.ChipValue == nil && f.Source == "" && f.Why == "" && f.Disagreements == nil
}

// Keys of peak_flops_per_second and of peak_ops_per_second.
var (
	floats   = []string{"float32", Float32Highest, "bfloat16", "float8_e4m3fn", "float8_e5m2"}
	integers = []string{"int8", "uint8", "int4"}
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// parse reads a table. Errors begin with name:line.
func parse(name string, data []byte) (*table, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return nil, located(name, data, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: more than one YAML document", name)
	}
	var tree yaml.Node
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, located(name, data, err)
	}
	p := &parser{name: name, file: f, tree: &tree, used: map[string]bool{},
		t: &table{byName: map[string]int{}, ambiguous: map[string][]string{}}}
	p.run()
	return p.t, errors.Join(p.errs...)
}

// located turns the YAML package's "line 3: …" into "name:3: …".
func located(name string, data []byte, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:1: no devices", name)
	}
	lines := []string{err.Error()}
	var te *yaml.TypeError
	if errors.As(err, &te) {
		lines = te.Errors
	}
	for i, l := range lines {
		line, words := yamlline.Cut(l, data)
		words = strings.Replace(words, " not found in type machine.", " is not a key of a ", 1)
		if lines[i] = name + ": " + words; line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", name, line, words)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// parser checks a decoded file and collects its faults.
type parser struct {
	name string
	file file
	tree *yaml.Node
	used map[string]bool // source ids
	t    *table
	errs []error
}

func (p *parser) run() {
	if len(p.file.Devices) == 0 {
		p.fail(nil, "no devices")
	}
	for i := range p.file.Devices {
		p.device(i)
	}
	for _, name := range slices.Sorted(maps.Keys(p.file.Ambiguous)) {
		p.ambiguity(name, p.file.Ambiguous[name])
	}
	for _, id := range slices.Sorted(maps.Keys(p.file.Sources)) {
		if !p.used[id] {
			p.fail([]any{"sources", id}, "source %s is used nowhere", id)
		}
		if strings.TrimSpace(p.file.Sources[id]) == "" {
			p.fail([]any{"sources", id}, "source %s is empty", id)
		}
	}
}

func (p *parser) device(i int) {
	r := p.file.Devices[i]
	at := []any{"devices", i}
	if !keyForm.MatchString(r.Key) {
		p.fail(at, "key %q: want lower case letters, digits and _", r.Key)
	}
	if r.Kind != TPU && r.Kind != GPU {
		p.fail(at, "%s: kind %q: want %s or %s", r.Key, r.Kind, TPU, GPU)
	}
	if r.Vendor == "" || r.Cores < 1 || r.DevicesPerChip < 1 || r.Parallel < 1 || len(r.Names) == 0 {
		p.fail(at, "%s: names, vendor, cores_per_device, devices_per_chip and parallel_programs are required", r.Key)
		return
	}
	if r.MXUs < 0 || (r.MXUs > 0) != (r.MXUSide > 0) {
		p.fail(at, "%s: mxus_per_core and mxu_side go together", r.Key)
	}
	f := func(field string, v figure) Figure {
		return p.figure(append(at[:2:2], field), v, r.DevicesPerChip)
	}
	d := Device{
		Key: r.Key, Names: r.Names, Vendor: r.Vendor, Kind: r.Kind, Note: r.Note,
		Cores: r.Cores, DevicesPerChip: r.DevicesPerChip, Parallel: r.Parallel,
		MXUs: r.MXUs, MXUSide: r.MXUSide, MXUColumns: cmp.Or(r.MXUColumns, r.MXUSide), Keeps: r.Keeps, Peak: map[string]Figure{},
		BandwidthBytesPerSecond: f("memory_bytes_per_second", r.Bandwidth),
		MemoryBytes:             f("memory_bytes", r.Memory),
		FastBytes:               f("fast_bytes_per_core", r.Fast),
		FastDefaultBytes:        f("fast_default_bytes_per_core", r.FastDefault),
		BetweenBytes:            f("between_bytes_per_core", r.Between),
		LastLevelCacheBytes:     f("last_level_cache_bytes", r.LastLevelCache),
		ClockHertz:              f("clock_hertz", r.Clock),
		StepOverheadSeconds:     f("step_overhead_seconds", r.StepOverhead),
		OverlapExponent:         f("overlap_exponent", r.Overlap),
		DispatchSeconds:         f("dispatch_seconds", r.Dispatch),
		LaunchSeconds:           f("launch_seconds", r.Launch),
		AttainedBytesPerSecond:  f("memory_attained_bytes_per_second", r.Attained),
		LinkBytesPerSecond:      f("link_bytes_per_second", r.Link),
		HopSeconds:              f("hop_seconds", r.Hop),
	}
	if t := r.Torus; len(t.Pod) > 0 {
		at := append(at[:2:2], "torus_chips")
		if len(t.Pod) < 2 || len(t.Pod) > 3 || slices.Min(t.Pod) < 1 || t.Wrap < 1 {
			p.fail(at, "%s: torus_chips: want a pod of two or three sides, and wrap", r.Key)
		}
		if _, ok := p.file.Sources[t.Source]; !ok {
			p.fail(at, "%s: torus_chips: unknown source %q", r.Key, t.Source)
		}
		p.used[t.Source] = true
		d.Torus = Torus{Pod: t.Pod, Wrap: t.Wrap, Source: p.file.Sources[t.Source]}
	}
	p.peaks(d, append(at[:2:2], "peak_flops_per_second"), r.PeakFlops, floats)
	p.peaks(d, append(at[:2:2], "peak_ops_per_second"), r.PeakOps, integers)
	if len(r.Align) > 0 || r.AlignmentSource != "" {
		p.align(&d, append(at[:2:2], "align_rows_columns"), r)
	}
	index := len(p.t.devices)
	p.t.devices = append(p.t.devices, d)
	for _, n := range append([]string{d.Key}, d.Names...) {
		if other, taken := p.t.byName[normalize(n)]; taken && other != index {
			p.fail(at, "name %q of %s is already a name of %s: put it under ambiguous", n, d.Key, p.t.devices[other].Key)
		}
		p.t.byName[normalize(n)] = index
	}
}

func (p *parser) peaks(d Device, at []any, figures map[string]figure, dtypes []string) {
	for _, dtype := range slices.Sorted(maps.Keys(figures)) {
		if !slices.Contains(dtypes, dtype) {
			p.fail(append(at, dtype), "%s: %v has no dtype %q: want one of %s", d.Key, at[len(at)-1], dtype, strings.Join(dtypes, ", "))
			continue
		}
		d.Peak[dtype] = p.figure(append(at[:len(at):len(at)], dtype), figures[dtype], d.DevicesPerChip)
	}
}

func (p *parser) align(d *Device, at []any, r record) {
	d.Align = r.Align
	d.AlignSource = p.source(at, r.AlignmentSource)
	if len(r.Align) == 0 {
		p.fail(at, "%s: align_source without align_rows_columns", d.Key)
	}
	for _, dtype := range slices.Sorted(maps.Keys(r.Align)) {
		a := r.Align[dtype]
		known := slices.Contains(floats, dtype) || slices.Contains(integers, dtype) || dtype == "int32"
		if !known || a[0] < 1 || a[1] < 1 {
			p.fail(append(at, dtype), "%s: alignment %s %v: want a dtype and two positive numbers", d.Key, dtype, a)
		}
	}
}

// figure resolves the source and shares a chip's value out over its devices.
func (p *parser) figure(at []any, v figure, devices int) Figure {
	if v.absent() {
		return Figure{}
	}
	f := Figure{Why: v.Why}
	// Only a figure without value may leave the sources to its disagreements.
	if unknown := v.Value == nil && v.ChipValue == nil && len(v.Disagreements) > 0; v.Source != "" || !unknown {
		f.Source = p.source(at, v.Source)
	}
	value, share := v.Value, 1.0
	if v.ChipValue != nil {
		value, share = v.ChipValue, float64(devices)
	}
	switch {
	case v.Value != nil && v.ChipValue != nil:
		p.fail(at, "value and chip_value exclude each other")
	case value == nil && v.Why == "":
		p.fail(at, "a figure without value or chip_value needs why")
	case value != nil && !(*value > 0 && !math.IsInf(*value, 0)):
		p.fail(at, "value %v: want a positive number; leave out what is unknown", *value)
	case value != nil:
		f.Value = *value / share
	}
	if b := v.Between; b != nil {
		if len(b) != 2 || !(0 < b[0] && b[0] <= f.Value && f.Value <= b[1]) || math.IsInf(b[1], 0) {
			p.fail(at, "between %v: want two numbers with the value between them", b)
			b = []float64{0, 0}
		}
		f.Low, f.High = b[0], b[1]
	}
	if len(v.Disagreements) > 0 && v.Why == "" {
		p.fail(at, "a figure with disagreements needs why this value was chosen")
	}
	for i, o := range v.Disagreements {
		where := append(at[:len(at):len(at)], "disagreements", i)
		if len(o.Disagreements) > 0 {
			p.fail(where, "a disagreement has none of its own")
			continue
		}
		f.Others = append(f.Others, p.figure(where, o, devices))
	}
	return f
}

func (p *parser) source(at []any, id string) string {
	text, ok := p.file.Sources[id]
	if !ok {
		p.fail(at, "source %q is not under sources", id)
	}
	p.used[id] = true
	return text
}

func (p *parser) ambiguity(name string, keys []string) {
	at := []any{"ambiguous", name}
	n := normalize(name)
	if i, taken := p.t.byName[n]; taken {
		p.fail(at, "ambiguous name %q is a name of %s", name, p.t.devices[i].Key)
	}
	if len(keys) < 2 {
		p.fail(at, "ambiguous name %q: want two keys or more", name)
	}
	for _, k := range keys {
		if i, ok := p.t.byName[normalize(k)]; !ok || p.t.devices[i].Key != k {
			p.fail(at, "ambiguous name %q: %q is not the key of a device", name, k)
		}
	}
	p.t.ambiguous[n] = keys
}

// fail records a fault at the node that path leads to.
func (p *parser) fail(path []any, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("%s:%d: %s", p.name, lineOf(p.tree, path), fmt.Sprintf(format, args...)))
}

// lineOf follows keys (string) and indices (int) as far as they lead.
func lineOf(n *yaml.Node, path []any) int {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	line := max(n.Line, 1)
	for _, step := range path {
		var next *yaml.Node
		switch s := step.(type) {
		case int:
			if n.Kind == yaml.SequenceNode && s < len(n.Content) {
				next = n.Content[s]
				line = next.Line
			}
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == s {
					next = n.Content[i+1]
					line = n.Content[i].Line
				}
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return line
}
