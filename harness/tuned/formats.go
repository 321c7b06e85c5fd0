package tuned

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"matladder/backend"
	"matladder/internal/each"
	"matladder/machine"
	"matladder/problem"
	"matladder/tile"
)

// Format is a file format of another project's tuned settings, by the name that flags take.
// formats/<name>.tmpl has all that is special about it: which products it has a place for, its file
// names, keys and defaults, the text of a file, and by what expression entries are read.
type Format string

// The formats, by project.
const (
	VLLM         Format = "vllm-moe"
	TPUInference Format = "tpu-inference"
	Tokamax      Format = "tokamax"
	Triton       Format = "triton"
)

// Formats lists them.
var Formats = []Format{VLLM, TPUInference, Tokamax, Triton}

//go:embed formats
var formats embed.FS

// NeedsLayer reports whether entries are of a layer of experts.
func (f Format) NeedsLayer() bool { return f == VLLM }

// HasDefault reports whether its entries have a default, so that they can be read and compared.
func (f Format) HasDefault() bool { return f != Triton }

// Kinds are the kinds of device that it is for.
func (f Format) Kinds() []string {
	kinds, _ := f.run("kinds", nil)
	return strings.Fields(kinds)
}

// run writes a template of the format; "" is the text of a file.
func (f Format) run(name string, data any) (string, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"replace": strings.ReplaceAll, "lower": strings.ToLower,
		"divide": func(a, b int) int { return a / b }, "power": func(n int) int { return 1 << bits.Len(uint(n-1)) },
	}).ParseFS(formats, "formats/evidence.tmpl", "formats/"+string(f)+".tmpl")
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	err = t.ExecuteTemplate(&text, cmp.Or(name, string(f)+".tmpl"), data)
	return text.String(), err
}

// MoE is a layer of experts. vLLM's files name Experts and Width.
type MoE struct{ Experts, TopK, Hidden, Width int }

// Sizes are those of the layer's products for so many tokens: gate and up, then down.
func (l MoE) Sizes(tokens int) []problem.Sizes {
	batch, m := spread(tokens*l.TopK, l.Experts)
	return []problem.Sizes{{m, l.Hidden, 2 * l.Width, batch}, {m, l.Width, l.Hidden, batch}}
}

// spread deals rows to groups: how many groups have rows, and how many each, rounded up.
func spread(rows, groups int) (busy, each int) {
	return min(rows, groups), tile.Ceil(rows, min(rows, groups))
}

// Entry is one setting of a table of another project, for a product P or for a layer and tokens.
type Entry struct {
	P        problem.Matmul
	Layer    MoE
	Tokens   int
	Device   machine.Device
	Problems []problem.Matmul // it is judged by the sum of their times

	File, Key string   // below a folder, and in it
	Choices   []Answer // of which the fastest becomes the setting; of an entry that was read its own
	Default   Answer   // what the project takes without the entry

	Best                    Answer // the setting
	Seconds, DefaultSeconds float64
	Told                    string // how they compare
}

// GPU reports whether the entry is for a GPU, Scaled whether A and B are of one narrow dtype, with a
// scale for each row of A and each column of B, Plain whether all is of one dtype without scales.
func (e Entry) GPU() bool { return e.Device.Kind == machine.GPU }
func (e Entry) Scaled() bool {
	return e.P.Quant == "per_channel+token" && e.P.A == e.P.B && e.P.A.Bits() == 8
}
func (e Entry) Plain() bool {
	return e.P.Quant == problem.NoQuant && e.P.A == e.P.B && e.P.A == e.P.Out && !e.P.A.IsInteger()
}

// Name is the device's as programs on it see it, Generation the first number in that.
func (e Entry) Name() string       { return e.Device.Names[0] }
func (e Entry) Generation() string { return regexp.MustCompile(`\d+`).FindString(e.Name()) }

// Rows are those of all products, Milliseconds the time of a launch.
func (e Entry) Rows() int             { return e.P.Batch * e.P.M }
func (e Entry) Milliseconds() float64 { return 1e3 * e.Seconds }

// Side is a side of a block; on a GPU a power of two, as its kernels compute them.
func (e Entry) Side(n int) int {
	if e.GPU() {
		return max(16, 1<<bits.Len(uint(n-1)))
	}
	return n
}

// Param is a parameter of the setting, 1 where it has none.
func (e Entry) Param(name string) string {
	extra, _ := backend.ParseExtra(e.Best.Params)
	return cmp.Or(extra[name], "1")
}

// About says where settings come from.
type About struct{ Command, Chip, Mode, Kernel, Versions, Date string }

// Write returns the text of a file of entries, and what they rest on as JSON.
func (f Format) Write(entries []Entry, about About) (text, evidence string, err error) {
	data := struct {
		About
		Entries []Entry
	}{about, entries}
	text, err = f.run("", data)
	evidence, failed := f.run("evidence.tmpl", data)
	return text, evidence, cmp.Or(err, failed)
}

// entry is that of a product, or of a layer and tokens, without a setting; the key is "" where the
// format has no place for it.
func (f Format) entry(d machine.Device, l MoE, tokens int, p problem.Matmul) (Entry, error) {
	e := Entry{P: p, Layer: l, Tokens: tokens, Device: d, Problems: []problem.Matmul{p}}
	if f.NeedsLayer() {
		e.Problems = each.Of(l.Sizes(tokens), func(s problem.Sizes) problem.Matmul { return problem.MakeMatmul(s, p.Asked()) })
	}
	file, err := f.run("file", e)
	key, failed := f.run("key", e)
	if e.File, e.Key, err = file, key, cmp.Or(err, failed); err != nil || e.Key == "" {
		return e, err
	}
	text, err := f.run("default", e)
	if err != nil {
		return e, err
	}
	blocks, params, _ := strings.Cut(text, " ")
	e.Default.Params = params
	e.Default.Blocks, err = tile.ParseBlocks(blocks)
	return e, err
}

// Entries are what the rows of a kernel are in a format, each with its choices; of a layer, those
// for numbers of tokens.
func (f Format) Entries(t *Table, kernel string, d machine.Device, l MoE, tokens []int) (list []Entry, err error) {
	if !f.NeedsLayer() {
		tokens = []int{0}
	}
	for _, n := range tokens {
		for _, r := range t.Rows {
			p, ok := r.Problem.(problem.Matmul)
			if !ok || r.Kernel != kernel || r.Variant != "" || p.Epilogue() != "" || p.Precision != tile.Default {
				continue
			}
			e, err := f.entry(d, l, n, p)
			if err != nil {
				return nil, err
			}
			if e.Key == "" || !slices.Contains(e.Problems, p) {
				continue
			}
			extra, _ := backend.ParseExtra(r.Params)
			if f.NeedsLayer() || f == Triton {
				delete(extra, "split_k") // which these kernels do not have
			} else if e.GPU() {
				extra = backend.Params{Extra: extra}.With("group", "1").Extra // their grid has no other
			}
			i := slices.IndexFunc(list, func(x Entry) bool { return x.File == e.File && x.Key == e.Key })
			if i < 0 {
				i, list = len(list), append(list, e)
			}
			list[i].Choices = append(list[i].Choices, Answer{Blocks: r.Blocks, Params: backend.Params{Extra: extra}.String()})
		}
	}
	return list, nil
}

// flat are the lines of a JSON object, a key with its value, or with the fastest of those keys of it
// that are JSON themselves. Fields are in alphabetical order.
func flat(text []byte) (lines []string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	sorted := func(text string) string {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return text
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value, least := string(all[key]), math.Inf(1)
		var configs map[string]struct {
			Times []float64 `json:"evaluation_times_ms"`
		}
		if json.Unmarshal(all[key], &configs) == nil {
			for name, c := range configs {
				if slices.Sort(c.Times); len(c.Times) > 0 && c.Times[len(c.Times)/2] < least {
					value, least = name, c.Times[len(c.Times)/2]
				}
			}
		}
		lines = append(lines, sorted(key)+" "+sorted(value))
	}
	return lines, nil
}

// longDtypes are dtypes by JAX's short names.
var longDtypes = map[string]string{"bf16": "bfloat16", "f16": "float16", "f32": "float32"}

// Read reads a file of a format as entries for a device; others is how many are of other devices, or
// of what there is no entry of ours for. A file of vLLM is of the layer. Errors begin with the name.
func (f Format) Read(name string, text []byte, d machine.Device, l MoE) (list []Entry, others int, err error) {
	lines := []string{string(text)}
	if strings.HasSuffix(name, ".json") {
		if lines, err = flat(text); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		others = len(lines)
	}
	form, err := f.run("read", Entry{Device: d})
	if err != nil {
		return nil, 0, err
	}
	pattern := regexp.MustCompile(form)
	matches := pattern.FindAllStringSubmatch(strings.Join(lines, "\n"), -1)
	for _, m := range matches {
		of, n := map[string]string{}, map[string]int{}
		for i, field := range pattern.SubexpNames() {
			of[field] = m[i]
			n[field], _ = strconv.Atoi(m[i]) // 0 for what overflows
		}
		asked := cmp.Or(longDtypes[of["dtype"]], of["dtype"], "bfloat16")
		if strings.HasSuffix(name, ",dtype=fp8_w8a8.json") {
			asked = "float8_e4m3fn"
		}
		if a, err := problem.MatmulFamily.Parse(asked + ":per_channel+token"); err == nil && a.A.Bits() == 8 {
			asked += ":per_channel+token"
		}
		a, err := problem.MatmulFamily.Parse(asked)
		sizes := problem.Sizes{n["m"], n["k"], n["n"], 1}
		if groups := n["groups"]; groups > 0 {
			sizes[3], sizes[0] = spread(n["m"], groups)
		} else if n["tokens"] > 0 {
			sizes = l.Sizes(n["tokens"])[0]
		}
		p := problem.MakeMatmul(sizes, a)
		if err != nil || p.Validate() != nil || of["dtype"] != of["other"] || min(n["bm"], n["bk"], n["bn"]) < 1 {
			continue
		}
		e, err := f.entry(d, l, n["tokens"], p)
		switch {
		case err != nil:
			return nil, 0, err
		case f.NeedsLayer() && e.File != filepath.Base(name):
			return nil, 0, fmt.Errorf("%s: the file of this layer on %s is %s", name, e.Name(), e.File)
		case e.Key == "" || of["generation"] != "" && of["generation"] != e.Generation():
			continue
		}
		if e.GPU() {
			n["group"] = max(1, n["group"])
		}
		choice := Answer{Blocks: tile.Blocks{M: n["bm"], K: n["bk"], N: n["bn"]}}
		for _, param := range []string{"group", "num_stages", "num_warps", "split_k"} {
			if n[param] > 0 {
				choice.Params = strings.TrimSpace(fmt.Sprintf("%s %s=%d", choice.Params, param, n[param]))
			}
		}
		e.Choices = []Answer{choice}
		list = append(list, e)
	}
	if len(matches) == 0 {
		return nil, 0, fmt.Errorf("%s: no entries as %s writes them", name, f)
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Compare(a.Tokens, b.Tokens) })
	return list, max(others, len(matches)) - len(list), nil
}
