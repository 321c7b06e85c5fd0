package triton_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/lower/internal/lowertest"
	"matladder/lower/triton"
	"matladder/machine"
	"matladder/tile"
)

// device is a backend that runs programs as their Triton text says, so that the
// suite which accepts a backend tells whether the text means what interp does.
type device struct {
	operandBytes int
	target       *triton.Target // nil for that of operandBytes
}

func (device) Name() string           { return "text" }
func (device) Device() machine.Device { return machine.Device{} }
func (device) Close() error           { return nil }

func (d device) Compile(ctx context.Context, programs []*tile.Program, params backend.Params) (backend.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := triton.ParseParams(params.Extra)
	if err != nil {
		return nil, err
	}
	target := triton.TextTarget(d.operandBytes)
	if d.target != nil {
		target = *d.target
	}
	launch, err := triton.Lower(programs, triton.Options{Target: target, Params: p})
	var unsupported *triton.UnsupportedError
	var big *triton.TooBigError
	switch {
	case errors.As(err, &unsupported):
		return nil, fmt.Errorf("%w: %w", backend.ErrUnsupported, err)
	case errors.As(err, &big):
		return nil, &backend.TooBigError{What: big.What, Needed: big.Needed, Limit: big.Limit}
	case err != nil:
		return nil, err
	}
	e := &executable{launch: launch}
	return e, e.read(launch.Module())
}

// executable is a parsed launch with its arrays.
type executable struct {
	lowertest.Unpoisoned
	launch  *triton.Launch
	steps   []step
	in, out []string // what arguments and results are called
	arrays  map[string][]float64
	closed  bool
}

// step makes arrays of others.
type step func(context.Context, map[string][]float64) error

var (
	mainLine    = regexp.MustCompile(`^  func\.func public @main\((.*)\) -> \((.*)\) \{$`)
	reshapeLine = regexp.MustCompile(`^    (\S+) = stablehlo\.(?:reshape|convert) (\S+) : \(.*\) -> .*$`)
	bitcastLine = regexp.MustCompile(`^    (\S+) = stablehlo\.bitcast_convert (\S+) : \(tensor<\S+xi(\d)>\) -> tensor<\S+xi(\d)>$`)
	padLine     = regexp.MustCompile(`^    (\S+) = stablehlo\.pad (\S+), \S+, low = \[0\], high = \[1\], interior = \[0\] : .*$`)
	zeroLine    = regexp.MustCompile(`^    \S+ = stablehlo\.constant dense<0> : tensor<i4>$`)
	callLine    = regexp.MustCompile(`^    ([^ :]+)(?::\d+)? = stablehlo\.custom_call @__gpu\$xla\.gpu\.triton\(([^)]*)\) \{api_version = 4 : i32, backend_config = \{debug = false, grid_x = (\d+) : i32, grid_y = 1 : i32, grid_z = 1 : i32, ir = "([^"]*)", name = "(\w+)", num_stages = \d+ : i32, num_warps = \d+ : i32\}, operand_layouts = \[(.*?)\], result_layouts = \[(.*)\]\} : \(([^)]*)\) -> \(?([^)]*?)\)? loc\("(\w+)"\)$`)
	returnLine  = regexp.MustCompile(`^    return (.*) : (.*)$`)
	layoutText  = regexp.MustCompile(`dense<\[([^\]]*)\]>`)
	arrayType   = regexp.MustCompile(`^tensor<((?:\d+x)*)u?(\w+)>$`)
)

// read reads the StableHLO around the kernels.
func (e *executable) read(text string) error {
	for _, line := range strings.Split(text, "\n") {
		if m := mainLine.FindStringSubmatch(line); m != nil {
			for _, p := range split(m[1]) {
				name, _, _ := strings.Cut(p, ": ")
				e.in = append(e.in, name)
			}
		} else if m := reshapeLine.FindStringSubmatch(line); m != nil {
			e.rename(m[1], m[2], func(data []float64) []float64 { return data })
		} else if m := padLine.FindStringSubmatch(line); m != nil {
			e.rename(m[1], m[2], func(data []float64) []float64 { return append(data, 0) })
		} else if m := bitcastLine.FindStringSubmatch(line); m != nil {
			e.rename(m[1], m[2], map[string]func([]float64) []float64{"48": pack, "84": unpack}[m[3]+m[4]])
		} else if m := returnLine.FindStringSubmatch(line); m != nil {
			e.out = split(m[1])
		} else if m := callLine.FindStringSubmatch(line); m != nil {
			if err := e.call(m); err != nil {
				return err
			}
		} else if line = strings.TrimSpace(line); line != "" && line != "}" && !strings.HasPrefix(line, "module @") && !zeroLine.MatchString("    "+line) {
			return fmt.Errorf("line %q", line)
		}
	}
	return nil
}

func (e *executable) rename(to, from string, f func([]float64) []float64) {
	e.steps = append(e.steps, func(_ context.Context, arrays map[string][]float64) error {
		arrays[to] = f(append([]float64(nil), arrays[from]...))
		return nil
	})
}

// pack puts pairs of int4 into bytes, the first in the low half.
func pack(data []float64) []float64 {
	out := make([]float64, len(data)/2)
	for i := range out {
		out[i] = float64(int8(uint8(int8(data[2*i]))&15 | uint8(int8(data[2*i+1]))<<4))
	}
	return out
}

func unpack(data []float64) []float64 {
	out := make([]float64, 0, 2*len(data))
	for _, x := range data {
		b := int8(x)
		out = append(out, float64(b<<4>>4), float64(b>>4))
	}
	return out
}

// call reads a custom call.
func (e *executable) call(m []string) error {
	body := strings.NewReplacer(`\22`, `"`, `\0A`, "\n", `\5C`, `\`).Replace(m[4])
	f, err := parse(body)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, body)
	}
	if f.name != m[5] {
		return fmt.Errorf("function %s, kernel %s", f.name, m[5])
	}
	programs, _ := strconv.Atoi(m[3])
	names, in, out := split(m[2]), split(m[8]), split(m[9])
	layouts, made := layoutText.FindAllStringSubmatch(m[6], -1), layoutText.FindAllStringSubmatch(m[7], -1)
	results := []string{m[1]}
	if len(out) > 1 {
		results = nil
		for i := range out {
			results = append(results, fmt.Sprintf("%s#%d", m[1], i))
		}
	}
	e.steps = append(e.steps, func(ctx context.Context, arrays map[string][]float64) error {
		var operands, outputs []*array
		for i, name := range names {
			elem, n := arrayOf(in[i])
			if len(arrays[name]) != n {
				return fmt.Errorf("%s has %d elements, not %s", name, len(arrays[name]), in[i])
			}
			operands = append(operands, &array{elem: elem, data: laid(arrays[name], in[i], layouts[i][1], false)})
		}
		for _, t := range out {
			elem, n := arrayOf(t)
			outputs = append(outputs, newArray(elem, n, true))
		}
		if err := f.run(ctx, programs, operands, outputs); err != nil {
			return fmt.Errorf("%w\n%s", err, body)
		}
		for i, a := range outputs {
			arrays[results[i]] = laid(a.data, out[i], made[i][1], true)
		}
		return nil
	})
	return nil
}

// laid is an array whose dimensions lie in memory as a layout says, the fastest first: in
// order, or with the last two in each other's place. Back has it in order again.
func laid(data []float64, typ, layout string, back bool) []float64 {
	dims := strings.Split(arrayType.FindStringSubmatch(typ)[1], "x") // and one behind the last
	if !strings.HasPrefix(layout, fmt.Sprintf("%d, %d", len(dims)-3, len(dims)-2)) {
		return data
	}
	rows, _ := strconv.Atoi(dims[len(dims)-3])
	cols, _ := strconv.Atoi(dims[len(dims)-2])
	out := make([]float64, len(data))
	for i := range out {
		at := i % (rows * cols)
		if there := i - at + at%cols*rows + at/cols; back {
			out[i] = data[there]
		} else {
			out[there] = data[i]
		}
	}
	return out
}

func arrayOf(typ string) (elem string, n int) {
	m := arrayType.FindStringSubmatch(typ)
	n = 1
	for _, d := range strings.Split(strings.TrimSuffix(m[1], "x"), "x") {
		size, _ := strconv.Atoi(d)
		n *= size
	}
	return m[2], n
}

func (e *executable) Load(in ...tile.Tensor) error {
	if e.closed || len(in) != len(e.launch.In) {
		return fmt.Errorf("%d arrays for %d arguments, or closed", len(in), len(e.launch.In))
	}
	arrays := map[string][]float64{}
	for i, t := range in {
		r := e.launch.In[i]
		if err := t.Matches(r); err != nil {
			return err
		}
		data := make([]float64, t.Len())
		for j := range data {
			data[j] = t.At(j)
			data[j] = lowertest.Held(r.Dtype, data[j])
		}
		arrays[e.in[i]] = data
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
		for _, s := range e.steps {
			if err := s(ctx, e.arrays); err != nil {
				return backend.Sample{}, err
			}
		}
	}
	return backend.Sample{Elapsed: time.Since(start), Method: "text"}, ctx.Err()
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
		data := e.arrays[e.out[i]]
		if len(data) != t.Len() {
			return fmt.Errorf("%s is no array %v", e.out[i], r.Array)
		}
		for j, x := range data {
			t.Set(j, lowertest.Meant(r.Dtype, x))
		}
	}
	return nil
}

func (e *executable) Close() error {
	e.closed = true
	return nil
}
