package tuned

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// Tuple is a row of a published table of block sizes for quantized products on
// TPUs: no time, no version, no date.
type Tuple struct {
	Version        int // generation of the TPU; 0 if the table does not say
	Batch, Out, In int // m, n and k of our words
	X, W           tile.Dtype
	Blocks         tile.Blocks // batch, in and out block as bm, bk and bn
	Line           int         // where it stands; 0 for JSON
}

// tupleForm is one entry of a Python dict, with or without the names of its tuples and fields:
//
//	(6, 1024, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192),
//	TunedKey(6, 1024, 1280, 8192, "int8", "int8"): TunedValue(1024, 256, 8192, 1),
var tupleForm = regexp.MustCompile(`(?:\w+)?\(\s*(\d+),\s*(\d+),\s*(\d+),\s*(\d+),\s*['"](\w+)['"],\s*['"](\w+)['"],?\s*\)\s*:\s*(?:\w+)?\(\s*(\d+),\s*(\d+),\s*(\d+)\s*(?:,\s*\d+)?,?\s*\)`)

// ParseTuples reads a table in the forms of vllm-project/tpu-inference's quantized_matmul: the
// Python dict of its earlier versions, or the JSON object of its later ones, whose keys are
// "batch,out,in,x,w" and whose values are [batch block, out block, in block].
func ParseTuples(name string, text []byte) ([]Tuple, error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "{") && json.Valid(text) {
		return parseJSON(name, text)
	}
	var list []Tuple
	src := string(text)
	for _, m := range tupleForm.FindAllStringSubmatchIndex(src, -1) {
		line := 1 + strings.Count(src[:m[0]], "\n")
		field := func(i int) string { return src[m[2*i]:m[2*i+1]] }
		t, err := newTuple([]string{field(2), field(3), field(4), field(5), field(6)}, []string{field(7), field(8), field(9)})
		if err == nil {
			t.Version, err = strconv.Atoi(field(1))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		t.Line = line
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no tuned block sizes found (want entries such as (6, 1024, 1280, 8192, 'int8', 'int8'): (1024, 256, 8192), or a JSON object)", name)
	}
	return list, nil
}

func parseJSON(name string, text []byte) ([]Tuple, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: want a JSON object of block sizes", name)
	}
	var list []Tuple
	for key, raw := range entries {
		value, err := blockSizes(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, key, err)
		}
		parts := strings.Split(key, ",")
		if len(parts) != 5 {
			return nil, fmt.Errorf("%s: %q: want batch,out,in,x dtype,w dtype", name, key)
		}
		t, err := newTuple(parts, value)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, key, err)
		}
		list = append(list, t)
	}
	sortTuples(list)
	return list, nil
}

// blockSizes reads a JSON value: a list, or an object around named sizes.
func blockSizes(raw json.RawMessage) ([]string, error) {
	var sizes []json.Number
	if json.Unmarshal(raw, &sizes) != nil {
		var named struct {
			Config struct {
				Batch json.Number `json:"batch_block_size"`
				Out   json.Number `json:"out_block_size"`
				In    json.Number `json:"in_block_size"`
			} `json:"config"`
		}
		if err := json.Unmarshal(raw, &named); err != nil {
			return nil, errors.New("want a list of three block sizes, or an object whose config has batch_block_size, out_block_size and in_block_size")
		}
		sizes = []json.Number{named.Config.Batch, named.Config.Out, named.Config.In}
	}
	if len(sizes) < 3 {
		return nil, fmt.Errorf("%d block sizes, want batch, out and in", len(sizes))
	}
	return []string{sizes[0].String(), sizes[1].String(), sizes[2].String()}, nil
}

// newTuple converts batch, out, in, x, w and the three block sizes.
func newTuple(key, value []string) (t Tuple, err error) {
	for _, f := range []struct {
		to   *int
		text string
	}{
		{&t.Batch, key[0]}, {&t.Out, key[1]}, {&t.In, key[2]},
		{&t.Blocks.M, value[0]}, {&t.Blocks.N, value[1]}, {&t.Blocks.K, value[2]},
	} {
		if *f.to, err = strconv.Atoi(strings.TrimSpace(f.text)); err != nil || *f.to < 1 {
			return Tuple{}, fmt.Errorf("size %q: want a positive number", f.text)
		}
	}
	if t.X, err = tile.ParseDtype(strings.TrimSpace(key[3])); err == nil {
		t.W, err = tile.ParseDtype(strings.TrimSpace(key[4]))
	}
	return t, err
}

// sortTuples orders tuples by shape; a JSON object has no order of its own.
func sortTuples(list []Tuple) {
	slices.SortFunc(list, func(a, b Tuple) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.W, b.W), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.Batch, b.Batch))
	})
}
