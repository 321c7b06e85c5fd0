package machine

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"matladder/internal/yamldoc"

	"gopkg.in/yaml.v3"
)

// Keys of peak_flops_per_second and of peak_ops_per_second.
var (
	floats   = []string{"float32", Float32Highest, "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"}
	integers = []string{"int8", "uint8", "int4"}
)

var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// parse reads a table. Errors begin with name:line.
func parse(name string, text []byte) (*table, error) {
	p := &parser{Doc: yamldoc.Doc(name), sources: map[string]string{}, used: map[string]bool{},
		t: &table{byName: map[string]int{}, ambiguous: map[string][]string{}}}
	root, err := p.Read(text, "no devices")
	if err != nil {
		return nil, err
	}
	// Devices name sources, and ambiguous names are of devices, whatever order they stand in.
	parts := map[string]*yaml.Node{}
	part := func(key string) yamldoc.Field { return func(n *yaml.Node) error { parts[key] = n; return nil } }
	err = p.Mapping(root, "a table of devices", yamldoc.Fields{
		"sources": part("sources"), "devices": part("devices"), "ambiguous": part("ambiguous"),
	}, "sources", "devices")
	if err != nil {
		return nil, err
	}
	err = p.Entries(parts["sources"], "sources", func(id, text *yaml.Node) error {
		p.sources[id.Value] = strings.TrimSpace(text.Value)
		return nil
	})
	if err == nil {
		err = p.OneOrItems(parts["devices"], p.device)
	}
	if n := parts["ambiguous"]; err == nil && n != nil {
		err = p.Entries(n, "ambiguous names", p.ambiguity)
	}
	if err == nil {
		err = p.Entries(parts["sources"], "sources", func(id, _ *yaml.Node) error {
			if !p.used[id.Value] || p.sources[id.Value] == "" {
				return p.Errorf(id, "empty, or used nowhere")
			}
			return nil
		})
	}
	return p.t, err
}

// parser reads a table's text into t.
type parser struct {
	yamldoc.Doc
	sources map[string]string // id → what it is
	used    map[string]bool   // ids of sources
	t       *table
}

// device reads one record.
func (p *parser) device(n *yaml.Node) error {
	d := Device{Peak: map[string]Figure{}}
	count := func(to *int) yamldoc.Field { return p.Decode(to, "a whole number") }
	if n := yamldoc.Get(n, "devices_per_chip"); n != nil { // ahead of the figures that they share
		_ = count(&d.DevicesPerChip)(n)
	}
	figure := func(to *Figure) yamldoc.Field {
		return func(n *yaml.Node) (err error) { *to, err = p.figure(n, d.DevicesPerChip); return err }
	}
	peaks := func(what string, dtypes []string) yamldoc.Field {
		return func(n *yaml.Node) error {
			return p.Entries(n, what, func(dtype, n *yaml.Node) (err error) {
				if !slices.Contains(dtypes, dtype.Value) {
					return p.Errorf(dtype, "want one of %s", strings.Join(dtypes, ", "))
				}
				d.Peak[dtype.Value], err = p.figure(n, d.DevicesPerChip)
				return err
			})
		}
	}
	err := p.Mapping(n, "a device", yamldoc.Fields{
		"key": p.Text(&d.Key, func(s string) error {
			if !keyForm.MatchString(s) {
				return fmt.Errorf("%q: want lower case letters, digits and _", s)
			}
			return nil
		}),
		"names": p.Decode(&d.Names, "a list of names"), "vendor": p.Decode(&d.Vendor, "a name"), "note": p.Decode(&d.Note, "a text"),
		"kind": p.Text(&d.Kind, func(s string) error {
			if s != TPU && s != GPU {
				return fmt.Errorf("%q: want %s or %s", s, TPU, GPU)
			}
			return nil
		}),
		"cores_per_device": count(&d.Cores), "devices_per_chip": count(&d.DevicesPerChip), "parallel_programs": count(&d.Parallel),
		"mxus_per_core": count(&d.MXUs), "mxu_side": count(&d.MXUSide), "mxu_columns": count(&d.MXUColumns),
		"keeps_inputs":                  p.Decode(&d.Keeps, "true or false"),
		"peak_flops_per_second":         peaks("peak_flops_per_second", floats),
		"peak_ops_per_second":           peaks("peak_ops_per_second", integers),
		"memory_bytes_per_second":       figure(&d.BandwidthBytesPerSecond),
		"memory_bytes":                  figure(&d.MemoryBytes),
		"fast_bytes_per_core":           figure(&d.FastBytes),
		"fast_default_bytes_per_core":   figure(&d.FastDefaultBytes),
		"between_bytes_per_core":        figure(&d.BetweenBytes),
		"last_level_cache_bytes":        figure(&d.LastLevelCacheBytes),
		"l2_caches":                     count(&d.L2Caches),
		"l2_bytes_per_clock_per_core":   figure(&d.L2BytesPerClock),
		"fast_bytes_per_clock_per_core": figure(&d.FastBytesPerClock),
		"last_level_bytes_per_second":   figure(&d.LastLevelBytesPerSecond),
		"clock_hertz":                   figure(&d.ClockHertz),
		"clock_by_p_state": func(n *yaml.Node) error {
			d.PStates = map[int]Figure{}
			return p.Entries(n, "power states", func(key, n *yaml.Node) (err error) {
				var state int
				if err := p.Decode(&state, "a whole number")(key); err != nil {
					return err
				}
				d.PStates[state], err = p.figure(n, d.DevicesPerChip)
				return err
			})
		},
		"step_overhead_seconds":            figure(&d.StepOverheadSeconds),
		"overlap_exponent":                 figure(&d.OverlapExponent),
		"dispatch_seconds":                 figure(&d.DispatchSeconds),
		"launch_seconds":                   figure(&d.LaunchSeconds),
		"memory_attained_bytes_per_second": figure(&d.AttainedBytesPerSecond),
		"sustained_share":                  figure(&d.SustainedShare),
		"warp_share":                       figure(&d.WarpShare),
		"link_bytes_per_second":            figure(&d.LinkBytesPerSecond),
		"hop_seconds":                      figure(&d.HopSeconds),
		"collective_seconds":               figure(&d.CollectiveSeconds),
		"torus_chips": func(n *yaml.Node) error {
			t := &d.Torus
			err := p.Mapping(n, "a torus", yamldoc.Fields{"pod": p.Decode(&t.Pod, "a list of lengths"), "wrap": count(&t.Wrap), "source": p.source(&t.Source)}, "source")
			if err == nil && (len(t.Pod) < 2 || len(t.Pod) > 3 || slices.Min(t.Pod) < 1 || t.Wrap < 1) {
				err = p.Errorf(n, "want a pod of two or three sides, and wrap")
			}
			return err
		},
		"align_rows_columns": func(n *yaml.Node) error {
			d.Align = map[string][2]int{}
			return p.Entries(n, "alignments", func(dtype, n *yaml.Node) error {
				var a [2]int
				known := slices.Contains(floats, dtype.Value) || slices.Contains(integers, dtype.Value) || dtype.Value == "int32"
				if err := n.Decode(&a); err != nil || !known || a[0] < 1 || a[1] < 1 {
					return p.Errorf(dtype, "want a dtype and two positive numbers")
				}
				d.Align[dtype.Value] = a
				return nil
			})
		},
		"align_source": p.source(&d.AlignSource),
	}, "key", "names", "vendor", "kind", "cores_per_device", "devices_per_chip", "parallel_programs")
	switch {
	case err != nil:
		return err
	case len(d.Names) == 0 || d.Vendor == "" || min(d.Cores, d.DevicesPerChip, d.Parallel) < 1:
		return p.Errorf(n, "%s: names and vendor are empty, or cores_per_device, devices_per_chip or parallel_programs are below 1", d.Key)
	case d.MXUs < 0 || (d.MXUs > 0) != (d.MXUSide > 0):
		return p.Errorf(n, "%s: mxus_per_core and mxu_side go together", d.Key)
	case (len(d.Align) > 0) != (d.AlignSource != ""):
		return p.Errorf(n, "%s: align_rows_columns and align_source go together", d.Key)
	}
	d.MXUColumns = cmp.Or(d.MXUColumns, d.MXUSide)
	index := len(p.t.devices)
	for _, name := range append([]string{d.Key}, d.Names...) {
		if other, taken := p.t.byName[normalize(name)]; taken && other != index {
			return p.Errorf(n, "name %q of %s is already a name of %s: put it under ambiguous", name, d.Key, p.t.devices[other].Key)
		}
		p.t.byName[normalize(name)] = index
	}
	p.t.devices = append(p.t.devices, d)
	return nil
}

// figure reads a value of the device, or of its chip, which devices share out. One with
// neither is known to have no single value.
func (p *parser) figure(n *yaml.Node, devices int) (f Figure, err error) {
	var value, chip *float64
	var between []float64
	var others *yaml.Node
	err = p.Mapping(n, "a figure", yamldoc.Fields{
		"value": p.Decode(&value, "a number"), "chip_value": p.Decode(&chip, "a number"),
		"source": p.source(&f.Source), "why": p.Decode(&f.Why, "a text"),
		"between":       p.Decode(&between, "two numbers"), // where the value is a guess: the least and the most that it may be
		"disagreements": func(n *yaml.Node) error { others = n; return nil },
	})
	if err != nil {
		return f, err
	}
	share := 1.0
	if value != nil && chip != nil {
		return f, p.Errorf(n, "value and chip_value exclude each other")
	} else if chip != nil {
		value, share = chip, float64(devices)
	}
	switch {
	case value == nil && f.Why == "":
		return f, p.Errorf(n, "a figure without value or chip_value needs why")
	case value != nil && !(*value > 0 && !math.IsInf(*value, 0)):
		return f, p.Errorf(n, "value %v: want a positive number; leave out what is unknown", *value)
	case f.Source == "" && (value != nil || others == nil):
		return f, p.Errorf(n, "a figure without source: only one without value leaves that to its disagreements")
	case others != nil && f.Why == "":
		return f, p.Errorf(n, "a figure with disagreements needs why this value was chosen")
	case value != nil:
		f.Value = *value / share
	}
	if between != nil {
		if len(between) != 2 || !(0 < between[0] && between[0] <= f.Value && f.Value <= between[1]) || math.IsInf(between[1], 0) {
			return f, p.Errorf(n, "between %v: want two numbers with the value between them", between)
		}
		f.Low, f.High = between[0], between[1]
	}
	if others == nil {
		return f, nil
	}
	return f, p.Items(others, func(n *yaml.Node) error {
		if yamldoc.Get(n, "disagreements") != nil {
			return p.Errorf(n, "a disagreement has none of its own")
		}
		other, err := p.figure(n, devices)
		f.Others = append(f.Others, other)
		return err
	})
}

// source is the id of a source, read as what that is.
func (p *parser) source(to *string) yamldoc.Field {
	return yamldoc.Value(p.Doc, to, func(id string) (string, error) {
		text, ok := p.sources[id]
		if !ok {
			return "", fmt.Errorf("%q is not under sources", id)
		}
		p.used[id] = true
		return text, nil
	})
}

// ambiguity reads a name that may mean several devices.
func (p *parser) ambiguity(name, n *yaml.Node) error {
	var keys []string
	if i, taken := p.t.byName[normalize(name.Value)]; taken {
		return p.Errorf(name, "is a name of %s", p.t.devices[i].Key)
	}
	err := yamldoc.List(p.Doc, &keys, yamldoc.Scalar(p.Doc, func(key string) (string, error) {
		if i, ok := p.t.byName[normalize(key)]; !ok || p.t.devices[i].Key != key {
			return "", fmt.Errorf("%q is not the key of a device", key)
		}
		return key, nil
	}))(n)
	if err == nil && len(keys) < 2 {
		err = p.Errorf(n, "want two keys or more")
	}
	p.t.ambiguous[normalize(name.Value)] = keys
	return err
}
