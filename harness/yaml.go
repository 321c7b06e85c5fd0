package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/check"
	"matladder/internal/yamlline"
	"matladder/problem"
	"matladder/tile"

	"gopkg.in/yaml.v3"
)

// Parse reads a sweep from the YAML text of file name. Keys it does not know,
// keys and items given twice, and values that make no sense are refused; the
// error is a *ConfigError with the line.
//
//	name: mine                     # default: the file's
//	sizes:                         # required
//	  - 512                        # a square
//	  - 512x1024x2048              # m×k×n
//	  - {start: 128, end: 4096, multiplier: 2}   # squares; or step: 128
//	  - {m: [1, 16], k: 4096, n: {start: 1024, end: 4096, step: 1024}}   # the product
//	kernels: [1, v3_block, 5]      # default: all; 0 is the baseline
//	dtypes: [float32, int8, int8:bfloat16:per_channel+token, {a: int8, out: bfloat16, quant: per_tensor}]
//	batch: [1, 8]                  # products at once
//	blocks: [512x1024x1024]        # bm×bk×bn for the rungs that take a choice; or all
//	precision: [default, highest]  # of float32 products
//	together: true                 # dtypes of one size take turns in the same rounds, compared with the first; default: false
//	time_budget: 60s               # of the whole execution
//	timeout: 10m                   # of one compilation or repetition
//	rounds: {min: 6, max: 30}
//	repetitions: 1                 # of a point in a round
//	warmup: 1                      # untimed executions
//	seed: 1
//	dist: uniform                  # or normal, integers
//	threads: 0                     # one a core
func Parse(name string, text []byte) (Config, error) {
	d := document{name}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return Config{}, &ConfigError{name, 0, "empty: a sweep needs at least sizes"}
	} else if err != nil {
		return Config{}, d.syntax(err, text)
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return Config{}, d.errorf(&second, "a second document; a file is one sweep")
	} else if !errors.Is(err, io.EOF) {
		return Config{}, d.syntax(err, text)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return Config{}, &ConfigError{name, 0, "empty: a sweep needs at least sizes"}
	}
	c := Default()
	c.Name = strings.TrimSuffix(path.Base(name), path.Ext(name))
	if err := d.mapping(root.Content[0], "a sweep", d.sweep(&c), "sizes"); err != nil {
		return Config{}, err
	}
	return c, nil
}

// sweep has the keys of a sweep.
func (d document) sweep(c *Config) fields {
	return fields{
		"name":        d.text(&c.Name, func(s string) (string, error) { return s, nil }),
		"sizes":       func(n *yaml.Node) (err error) { c.Shapes, err = d.sizes(n); return err },
		"kernels":     list(d, &c.Kernels, scalar(d, parseKernel)),
		"dtypes":      list(d, &c.Operands, d.operands),
		"blocks":      d.blocks(c),
		"batch":       list(d, &c.Batches, scalar(d, parseSize)),
		"precision":   list(d, &c.Precisions, scalar(d, parsePrecision)),
		"together":    value(d, &c.Together, truth),
		"time_budget": value(d, &c.TimeBudget, duration),
		"timeout":     value(d, &c.Timeout, positive(duration)),
		"rounds": func(n *yaml.Node) error {
			err := d.mapping(n, "limits", fields{
				"min": value(d, &c.MinRounds, positive(whole)),
				"max": value(d, &c.MaxRounds, positive(whole)),
			})
			if err == nil && c.MinRounds > c.MaxRounds {
				err = d.errorf(n, "min %d is above max %d", c.MinRounds, c.MaxRounds)
			}
			return err
		},
		"repetitions": value(d, &c.Repetitions, positive(whole)),
		"warmup":      value(d, &c.Warmup, whole),
		"seed":        value(d, &c.Seed, seed),
		"dist":        d.text(&c.Dist, distribution),
		"threads":     value(d, &c.Threads, whole),
	}
}

func (d document) blocks(c *Config) field {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.Value == allBlocks {
			c.AllBlocks = true
			return nil
		}
		return list(d, &c.Blocks, scalar(d, tile.ParseBlocks))(n)
	}
}

// operands reads operands in one word, or {a, b, out, quant, activation}.
func (d document) operands(n *yaml.Node) (Operands, error) {
	if n.Kind != yaml.MappingNode {
		return scalar(d, parseOperands)(n)
	}
	var o Operands
	err := d.mapping(n, "a dtype", fields{
		"a": value(d, &o.A, tile.ParseDtype), "b": value(d, &o.B, tile.ParseDtype), "out": value(d, &o.Out, tile.ParseDtype),
		"quant": value(d, &o.Quant, problem.ParseQuant), "activation": value(d, &o.Epilogue, problem.ParseEpilogue),
	}, "a")
	if err != nil {
		return Operands{}, err
	}
	if o, err = o.complete(); err != nil {
		return Operands{}, d.errorf(n, "%v", err)
	}
	return o, nil
}

func distribution(s string) (string, error) {
	if !slices.Contains(check.Distributions(), s) {
		return "", fmt.Errorf("unknown distribution %q (known: %s)", s, strings.Join(check.Distributions(), ", "))
	}
	return s, nil
}

func truth(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("%q is neither true nor false", s)
	}
	return s == "true", nil
}

func duration(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 90s or 10m", s)
	}
	return v, nil
}

// maxCount is far above any sensible number of rounds, repetitions or threads.
const maxCount = 1 << 20

func whole(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 || v > maxCount {
		return 0, fmt.Errorf("%q is not a whole number from 0 to %d", s, maxCount)
	}
	return v, nil
}

func seed(s string) (int64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number of 64 bits", s)
	}
	return v, nil
}

func positive[T int | time.Duration](parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := parse(s)
		if err == nil && v == 0 {
			err = fmt.Errorf("must be more than 0")
		}
		return v, err
	}
}

// syntax turns the YAML package's "yaml: line 3: …" into file:line.
func (d document) syntax(err error, text []byte) error {
	line, words := yamlline.Cut(err.Error(), text)
	return &ConfigError{d.name, line, "not YAML: " + words}
}
