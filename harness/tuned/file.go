package tuned

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"matladder/backend"
	"matladder/configs"
	"matladder/internal/files"
	"matladder/internal/yamldoc"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"

	"gopkg.in/yaml.v3"
)

// rowLayout is one row; it stands on one line of the file.
type rowLayout struct {
	Family    string             `yaml:"family,omitempty"` // matmul if absent
	Kernel    string             `yaml:"kernel"`
	Variant   string             `yaml:"variant,omitempty"`
	Batch     int                `yaml:"batch,omitempty"`
	Shape     string             `yaml:"shape"` // m×k×n; of other families as rows of results have it
	A         string             `yaml:"a"`
	B         string             `yaml:"b,omitempty"` // a's if absent
	Out       string             `yaml:"out,omitempty"`
	Precision string             `yaml:"precision,omitempty"`
	Quant     string             `yaml:"quant,omitempty"`
	Epilogue  string             `yaml:"epilogue,omitempty"`
	Options   string             `yaml:"options,omitempty"` // of other families
	Blocks    string             `yaml:"blocks"`            // bm×bk×bn
	Params    string             `yaml:"params,omitempty"`
	Mode      string             `yaml:"mode"`
	Seconds   float64            `yaml:"seconds"`
	Interval  []float64          `yaml:"interval,flow,omitempty"`
	Samples   int                `yaml:"samples,omitempty"`
	RunnerUp  string             `yaml:"runner_up,omitempty"`
	Behind    float64            `yaml:"behind,omitempty"`
	Tried     map[string]float64 `yaml:"tried,flow,omitempty"`

	Rival         string    `yaml:"rival,omitempty"`
	RivalRatio    float64   `yaml:"rival_ratio,omitempty"`
	RivalInterval []float64 `yaml:"rival_interval,flow,omitempty"`
	RivalRounds   int       `yaml:"rival_rounds,omitempty"`

	ParamsGain     float64   `yaml:"params_gain,omitempty"`
	ParamsInterval []float64 `yaml:"params_interval,flow,omitempty"`
	ParamsRounds   int       `yaml:"params_rounds,omitempty"`
	Adjustments    int       `yaml:"adjustments,omitempty"` // that were timed

	Candidates string `yaml:"candidates,omitempty"` // launched/all
	Ended      string `yaml:"ended,omitempty"`

	Versions string `yaml:"versions"`
	Date     string `yaml:"date"`
}

// fields are the keys of a row, which l then holds.
func (l *rowLayout) fields(d yamldoc.Doc) yamldoc.Fields {
	fields := yamldoc.Fields{}
	wanted := map[reflect.Type]string{
		reflect.TypeFor[string](): "text", reflect.TypeFor[int](): "a whole number", reflect.TypeFor[float64](): "a number",
		reflect.TypeFor[[]float64](): "a list of numbers", reflect.TypeFor[map[string]float64](): "block shapes, each with a number",
	}
	for f, v := range reflect.ValueOf(l).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fields[name] = d.Decode(v.Addr().Interface(), wanted[f.Type])
	}
	return fields
}

// Parse reads a table from the YAML text of file name. Keys it does not know,
// values that make no sense and keys given twice are refused, with name:line.
func Parse(name string, text []byte) (*Table, error) {
	d := yamldoc.Doc(name)
	root, err := d.Read(text, "empty, and no table of tuned blocks, which has machine and rows")
	if err != nil {
		return nil, err
	}
	t := &Table{}
	var nodes []*yaml.Node
	err = d.Mapping(root, "a table", yamldoc.Fields{
		"machine": d.Text(&t.Machine),
		"rows": func(n *yaml.Node) error {
			return d.Items(n, func(n *yaml.Node) error { nodes = append(nodes, n); return nil })
		},
	}, "machine")
	if err != nil {
		return nil, err
	}
	above, others := comments(text, nodes)
	t.Comment = others
	for i, n := range nodes {
		var l rowLayout
		if err := d.Mapping(n, "a row", l.fields(d)); err != nil {
			return nil, err
		}
		row, err := l.row()
		if err != nil {
			return nil, d.Errorf(n, "%v", err)
		}
		row.Comment = above[i]
		before := len(t.Rows)
		if t.Put(row); len(t.Rows) == before {
			return nil, d.Errorf(n, "a second row for %s", row.Key)
		}
	}
	return t, nil
}

// comments are those of a file: for each row those above and behind it, and those that
// are of no row. They stay when the table is rewritten.
func comments(text []byte, rows []*yaml.Node) (above []string, others string) {
	above = make([]string, len(rows))
	number, next := 0, 0
	for line := range strings.Lines(string(text)) {
		for number++; next < len(rows) && rows[next].Line <= number; {
			next++
		}
		comment := strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(comment, "#") || comment == heading:
		case next == len(rows), next == 0 && line[0] == '#':
			others += comment + "\n"
		default:
			above[next] += comment + "\n"
		}
	}
	for i, row := range rows {
		if row.LineComment != "" {
			above[i] += row.LineComment + "\n"
		}
	}
	return above, others
}

// row checks that the figures of a row can be true.
func (l rowLayout) row() (Row, error) {
	var err error
	r := Row{
		Key: Key{Kernel: l.Kernel, Variant: l.Variant},
		Evidence: Evidence{Mode: l.Mode, Seconds: l.Seconds, Samples: l.Samples,
			Behind: l.Behind, Versions: l.Versions, Date: l.Date},
	}
	if r.Problem, err = l.problem(); err != nil {
		return Row{}, err
	}
	if r.Blocks, err = r.Problem.Family().ParseBlocks(l.Blocks); err != nil {
		return Row{}, err
	}
	extra, err := backend.ParseExtra(l.Params)
	if err != nil {
		return Row{}, fmt.Errorf("params %q: %w", l.Params, err)
	}
	r.Params = backend.Params{Extra: extra}.String()
	return r, r.Evidence.parse(l, r)
}

// problem reads what the row is tuned for.
func (l rowLayout) problem() (problem.Problem, error) {
	f, err := problem.Find(cmp.Or(l.Family, problem.Families()[0].Name))
	if err != nil {
		return nil, err
	}
	sizes, err := f.ParseShape(l.Shape)
	if strings.Contains(l.Shape, "x") {
		sizes, err = f.ParseSizes(l.Shape)
		if i, ok := f.Index(problem.BatchSize); ok {
			sizes[i] = max(1, l.Batch)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("shape %q: want %s", l.Shape, f.Form())
	}
	asked := problem.Asked{Quant: problem.Quant(l.Quant), Epilogue: problem.Epilogue(l.Epilogue), Options: l.Options}
	for _, d := range []struct {
		dtype *tile.Dtype
		text  string
	}{{&asked.A, l.A}, {&asked.B, l.B}, {&asked.Out, l.Out}} {
		if d.text == "" && d.dtype != &asked.A {
			continue
		}
		if *d.dtype, err = tile.ParseDtype(d.text); err != nil {
			return nil, err
		}
	}
	if asked.Precision, err = tile.ParsePrecision(l.Precision); err != nil {
		return nil, err
	}
	if asked, err = f.Complete(asked); err != nil {
		return nil, err
	}
	return f.Make(sizes, asked), nil
}

// parse reads what of the evidence needs checking.
func (e *Evidence) parse(l rowLayout, r Row) (err error) {
	e.Low, e.High = ends(l.Interval, e.Seconds)
	if l.RunnerUp != "" {
		if e.RunnerUp, err = tile.ParseBlocks(l.RunnerUp); err != nil {
			return err
		}
	}
	if e.Confirmed, err = l.confirmation(); err != nil {
		return err
	}
	if e.Adjusted, err = l.adjustment(); err != nil {
		return err
	}
	if e.Ended = l.Ended; l.Candidates != "" {
		launched, all, _ := strings.Cut(l.Candidates, "/")
		e.Launched, _ = strconv.Atoi(launched)
		if e.Candidates, _ = strconv.Atoi(all); e.Launched < 1 || e.Candidates < e.Launched {
			return fmt.Errorf("candidates %q: want launched/all, such as 14/62", l.Candidates)
		}
	}
	for text, ratio := range l.Tried {
		b, err := tile.ParseBlocks(text)
		if err != nil {
			return err
		}
		if !positive(ratio) {
			return fmt.Errorf("tried %s: %v: want a time over that of the choice, above 0", text, ratio)
		}
		if e.Tried == nil {
			e.Tried = map[tile.Blocks]float64{}
		}
		e.Tried[b] = ratio
	}
	switch {
	case r.Kernel == "":
		return errors.New("no kernel named")
	case e.Mode != Measured && e.Mode != Predicted:
		return fmt.Errorf("mode %q: want %s or %s", e.Mode, Measured, Predicted)
	case e.Ended != "" && e.Ended != ByEvidence && e.Ended != ByBudget:
		return fmt.Errorf("ended %q: want %s or %s", e.Ended, ByEvidence, ByBudget)
	case e.Samples < 0:
		return fmt.Errorf("samples %d: want how many were timed", e.Samples)
	case !positive(1 + e.Behind):
		return fmt.Errorf("behind %v: want a time over that of the choice, less 1", e.Behind)
	case len(l.Interval) != 0 && len(l.Interval) != 2 || !between(e.Low, e.Seconds, e.High):
		return fmt.Errorf("seconds %v with the interval %v: want low ≤ seconds ≤ high, above 0", e.Seconds, l.Interval)
	}
	return nil
}

// positive reports whether a figure is one that a time or a ratio of times can be.
func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }

// ends are those of an interval as it is written; of any other both are usual.
func ends(interval []float64, usual float64) (low, high float64) {
	if len(interval) == 2 {
		return interval[0], interval[1]
	}
	return usual, usual
}

// between reports whether a figure lies in its interval, of figures that can be.
func between(low, v, high float64) bool { return 0 < low && low <= v && v <= high && positive(high) }

// confirmation reads how the choice was made; a row may say nothing about that.
func (l rowLayout) confirmation() (c Confirmation, err error) {
	if l.Rival == "" {
		return c, nil
	}
	if c.Rival, err = tile.ParseBlocks(l.Rival); err != nil {
		return c, err
	}
	c.Ratio, c.Rounds = l.RivalRatio, l.RivalRounds
	if c.Low, c.High = ends(l.RivalInterval, 0); !between(c.Low, c.Ratio, c.High) || c.Rounds <= 0 {
		return c, fmt.Errorf("rival_ratio %v with the interval %v of %d rounds: want low ≤ ratio ≤ high, above 0", l.RivalRatio, l.RivalInterval, l.RivalRounds)
	}
	return c, nil
}

// adjustment reads what parameters gain; a row may have none.
func (l rowLayout) adjustment() (a Adjustment, err error) {
	a = Adjustment{Tried: l.Adjustments, Gain: l.ParamsGain, Rounds: l.ParamsRounds}
	a.Low, a.High = ends(l.ParamsInterval, 0)
	predicted := l.Mode == Predicted && len(l.ParamsInterval) == 0 && a.Rounds == 0
	switch {
	case a.Tried < 0:
		return a, fmt.Errorf("adjustments %d: want how many were timed", a.Tried)
	case l.Params == "" && (a.Gain != 0 || a.Rounds != 0 || len(l.ParamsInterval) > 0):
		return a, errors.New("params_gain, params_interval or params_rounds without params")
	case l.Params == "":
	case predicted && !positive(a.Gain):
		return a, fmt.Errorf("params_gain %v: want how many times as fast, above 0", a.Gain)
	case predicted:
		a.Low, a.High = a.Gain, a.Gain
	case !between(a.Low, a.Gain, a.High) || a.Rounds <= 0:
		return a, fmt.Errorf("params_gain %v with the interval %v of %d rounds: want low ≤ gain ≤ high, above 0", l.ParamsGain, l.ParamsInterval, l.ParamsRounds)
	}
	return a, nil
}

// heading is the first line of a table's file.
const heading = "# Block shapes tuned for one machine, each with its evidence. Made by: go run ./cmd/tune"

// WriteTo writes the table as YAML, one row a line, with its comments.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	machine, err := yaml.Marshal(t.Machine)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(&b, "%s\n%smachine: %srows:\n", heading, t.Comment, machine)
	for _, r := range t.Rows {
		for line := range strings.Lines(r.Comment) {
			b.WriteString("  " + line)
		}
		var node yaml.Node
		if err := node.Encode(r.layout()); err != nil {
			return 0, err
		}
		node.Style = yaml.FlowStyle
		line, err := yaml.Marshal(&node)
		if err != nil {
			return 0, err
		}
		// The encoder folds a long flow mapping; indentation is all that a fold means.
		fmt.Fprintf(&b, "  - %s\n", folded.ReplaceAllString(strings.TrimSpace(string(line)), " "))
	}
	return b.WriteTo(w)
}

var folded = regexp.MustCompile(`\n *`)

// layout is the row as it is written.
func (r Row) layout() rowLayout {
	p := r.Problem
	f, asked := p.Family(), p.Asked()
	l := rowLayout{
		Family: familyWord(p), Kernel: r.Kernel, Variant: r.Variant,
		Shape: f.Shape(p.Sizes()), A: asked.A.String(),
		Quant: string(asked.Quant), Epilogue: string(asked.Epilogue), Options: asked.Options, Blocks: r.Blocks.String(),
		Mode: r.Evidence.Mode, Seconds: r.Evidence.Seconds, Samples: r.Evidence.Samples,
		Behind: r.Evidence.Behind, Ended: r.Evidence.Ended, Versions: r.Evidence.Versions, Date: r.Evidence.Date,
	}
	if l.Family == "" { // as before others came
		l.Shape = f.Joined(p.Sizes())
		if batch := f.Batch(p.Sizes()); batch > 1 {
			l.Batch = batch
		}
	}
	if e := r.Evidence; e.Candidates > 0 {
		l.Candidates = fmt.Sprintf("%d/%d", e.Launched, e.Candidates)
	}
	if asked.B != asked.A && asked.B != tile.InvalidDtype {
		l.B = asked.B.String()
	}
	if asked.Out != tile.InvalidDtype {
		l.Out = asked.Out.String()
	}
	if asked.Precision != tile.Default {
		l.Precision = asked.Precision.String()
	}
	if e := r.Evidence; e.Low != e.Seconds || e.High != e.Seconds {
		l.Interval = []float64{e.Low, e.High}
	}
	if r.Evidence.RunnerUp != (tile.Blocks{}) {
		l.RunnerUp = r.Evidence.RunnerUp.String()
	}
	if c := r.Evidence.Confirmed; c.Rounds > 0 {
		l.Rival, l.RivalRatio, l.RivalInterval, l.RivalRounds = c.Rival.String(), c.Ratio, []float64{c.Low, c.High}, c.Rounds
	}
	a := r.Evidence.Adjusted
	if l.Params, l.Adjustments = r.Params, a.Tried; r.Params != "" {
		if l.ParamsGain, l.ParamsRounds = a.Gain, a.Rounds; a.Rounds > 0 {
			l.ParamsInterval = []float64{a.Low, a.High}
		}
	}
	l.Tried = map[string]float64{}
	for b, ratio := range r.Evidence.Tried {
		l.Tried[b.String()] = ratio
	}
	return l
}

// ReadFile reads a table from a file.
func ReadFile(path string) (*Table, error) {
	text, err := files.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// WriteFile writes the table to a file: whole, or not at all.
func (t *Table) WriteFile(path string) error {
	var text bytes.Buffer
	if _, err := t.WriteTo(&text); err != nil {
		return err
	}
	return files.Replace(path, text.Bytes())
}

// OfMachine reads the table of tuned block shapes and parameters that comes with matladder for a
// machine: a device with the instruction set and threads of params. It is nil if there is none.
func OfMachine(d machine.Device, params backend.Params) (*Table, error) {
	text, file, ok := configs.Tuned(MachineName(d, params.ISA, params.Threads))
	if !ok {
		return nil, nil
	}
	return Parse(file, text)
}
