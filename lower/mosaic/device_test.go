package mosaic_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/lower/internal/lowertest"
	"matladder/lower/mosaic"
	"matladder/machine"
	"matladder/tile"
)

// device is a backend that runs programs as their Mosaic text says, so that the
// suite which accepts a backend tells whether the text means what interp does.
type device struct{ options mosaic.Options }

func (device) Name() string           { return "text" }
func (device) Device() machine.Device { return machine.Device{} }
func (device) Close() error           { return nil }

func (d device) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	options := d.options
	options.VMEMBytes = params.VMEMBytes
	launch, err := mosaic.Lower(programs, options)
	var unsupported *mosaic.UnsupportedError
	if errors.As(err, &unsupported) {
		return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	e := &executable{launch: launch}
	return e, e.read(launch.Module())
}

// executable is a parsed launch with its arrays.
type executable struct {
	lowertest.Unpoisoned
	launch  *mosaic.Launch
	steps   []step
	in, out []string // what arguments and results are called
	arrays  map[string]*array
	closed  bool
}

// step is a reshape or a slice (no machine), or a custom call.
type step struct {
	*simulator
	operands, results []string
	types             []string // of operands, then results
	from              int      // of a slice: where it begins
}

var (
	mainPattern    = regexp.MustCompile(`^  func\.func public @main\((.*)\) -> \((.*)\) \{$`)
	reshapePattern = regexp.MustCompile(`^    (\S+) = stablehlo\.reshape (\S+) : \((.*)\) -> (.*)$`)
	slicePattern   = regexp.MustCompile(`^    (\S+) = stablehlo\.slice (\S+) \[(\d+):\d+\] : \((.*)\) -> (.*)$`)
	callPattern    = regexp.MustCompile(`^    ([^ :]+)(?::\d+)? = stablehlo\.custom_call @tpu_custom_call\(([^)]*)\) \{backend_config = "([^"]*)", .*\} : \(([^)]*)\) -> \(?([^)]*?)\)? loc\("(\w+)"\)$`)
	returnPattern  = regexp.MustCompile(`^    return (.*) : (.*)$`)
	tensorPattern  = regexp.MustCompile(`^tensor<(.*)>$`)
)

// read reads the StableHLO around the kernels.
func (e *executable) read(text string) error {
	for _, line := range strings.Split(text, "\n") {
		if m := mainPattern.FindStringSubmatch(line); m != nil {
			for _, p := range split(m[1]) {
				name, _, _ := strings.Cut(p, ": ")
				e.in = append(e.in, name)
			}
		} else if m := reshapePattern.FindStringSubmatch(line); m != nil {
			e.steps = append(e.steps, step{operands: []string{m[2]}, results: []string{m[1]}, types: []string{m[3], m[4]}})
		} else if m := slicePattern.FindStringSubmatch(line); m != nil {
			from, err := strconv.Atoi(m[3])
			if err != nil {
				return err
			}
			e.steps = append(e.steps, step{operands: []string{m[2]}, results: []string{m[1]}, types: []string{m[4], m[5]}, from: from})
		} else if m := returnPattern.FindStringSubmatch(line); m != nil {
			e.out = split(m[1])
		} else if m := callPattern.FindStringSubmatch(line); m != nil {
			body, err := bodyOf(m[3])
			if err != nil {
				return err
			}
			kernel, err := load(body)
			if err != nil {
				return fmt.Errorf("%w\n%s", err, body)
			}
			results, types := []string{m[1]}, split(m[5])
			if len(types) > 1 {
				results = nil
				for i := range types {
					results = append(results, fmt.Sprintf("%s#%d", m[1], i))
				}
			}
			e.steps = append(e.steps, step{kernel, split(m[2]), results, append(split(m[4]), types...), 0})
		} else if line = strings.TrimSpace(line); line != "" && line != "}" && !strings.HasPrefix(line, "module @") {
			return fmt.Errorf("line %q", line)
		}
	}
	return nil
}

// bodyOf takes the kernel out of a backend_config.
func bodyOf(config string) (string, error) {
	config = strings.ReplaceAll(strings.ReplaceAll(config, `\22`, `"`), `\5C`, `\`)
	var c struct {
		Call struct {
			Body string `json:"body"`
		} `json:"custom_call_config"`
	}
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return "", err
	}
	body, err := base64.StdEncoding.DecodeString(c.Call.Body)
	return string(body), err
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ", ")
}

// tensorOf makes an array of a StableHLO type.
func tensorOf(typ string) *array {
	inner := tensorPattern.FindStringSubmatch(typ)[1]
	t := parseType("vector<" + inner + ">")
	return &array{elem: strings.TrimPrefix(t.elem, "u"), dims: t.dims, data: repeat(lowertest.Junk(strings.TrimPrefix(t.elem, "u")), elements(t.dims))}
}

func (e *executable) Load(in ...tile.Tensor) error {
	if e.closed || len(in) != len(e.launch.In) {
		return fmt.Errorf("%d arrays for %d arguments, or closed", len(in), len(e.launch.In))
	}
	arrays := map[string]*array{}
	for i, t := range in {
		r := e.launch.In[i]
		if err := t.Matches(r); err != nil {
			return err
		}
		a := &array{dims: r.Array, data: make([]float64, t.Len())}
		for j := range a.data {
			a.data[j] = t.At(j)
			a.data[j] = lowertest.Held(r.Dtype, a.data[j])
		}
		arrays[e.in[i]] = a
	}
	e.arrays = arrays
	return nil
}

func (e *executable) Run(ctx context.Context, launches int) (backend.Sample, error) {
	if launches < 1 || e.closed || e.arrays == nil {
		return backend.Sample{}, fmt.Errorf("%d launches, or nothing loaded, or closed", launches)
	}
	start := time.Now()
	for range launches {
		if err := e.once(ctx); err != nil {
			return backend.Sample{}, err
		}
	}
	return backend.Sample{Elapsed: time.Since(start), Method: "text"}, nil
}

func (e *executable) once(ctx context.Context) error {
	for _, s := range e.steps {
		operands, results := []*array{}, []*array{}
		for i, name := range s.operands {
			a, want := e.arrays[name], tensorOf(s.types[i])
			if s.simulator != nil && !slices.Equal(a.dims, want.dims) {
				return fmt.Errorf("%s is %v, not %s", name, a.dims, s.types[i])
			}
			operands = append(operands, &array{want.elem, want.dims, a.data})
		}
		for i := range s.results {
			results = append(results, tensorOf(s.types[len(s.operands)+i]))
		}
		if s.simulator == nil {
			results[0].data = operands[0].data[s.from:][:len(results[0].data)]
		} else if err := s.run(ctx, operands, results); err != nil {
			return err
		}
		for i, name := range s.results {
			e.arrays[name] = results[i]
		}
	}
	return ctx.Err()
}

func (e *executable) Results(out ...tile.Tensor) error {
	if e.closed || len(out) != len(e.launch.Out) {
		return fmt.Errorf("%d arrays for %d results, or closed", len(out), len(e.launch.Out))
	}
	for i, t := range out {
		r := e.launch.Out[i]
		if err := t.Matches(r); err != nil {
			return err
		}
		a := e.arrays[e.out[i]]
		if a == nil || !slices.Equal(a.dims, r.Array) {
			return fmt.Errorf("%s is no array %v", e.out[i], r.Array)
		}
		for j, x := range a.data {
			t.Set(j, lowertest.Meant(r.Dtype, x))
		}
	}
	return nil
}

func (e *executable) Close() error {
	e.closed = true
	return nil
}
