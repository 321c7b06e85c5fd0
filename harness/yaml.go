package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/check"
	"matladder/configs"
	"matladder/internal/files"
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
//	family: matmul                 # of problems; default: matmul. What sizes, dtypes and blocks are called is the family's
//	sizes:                         # required
//	  - 512                        # all sizes that have no default: a square
//	  - 512x1024x2048              # m×k×n
//	  - {start: 128, end: 4096, multiplier: 2}   # squares; or step: 128
//	  - {m: [1, 16], k: 4096, n: {start: 1024, end: 4096, step: 1024}}   # the product
//	kernels: [1, v3_block, 5]      # default: all; 0 is the baseline
//	dtypes: [float32, int8, int8:bfloat16:per_channel+token, {a: int8, out: bfloat16, quant: per_tensor}]
//	batch: [1, 8]                  # problems at once, where the family has that size
//	blocks: [512x1024x1024]        # bm×bk×bn for the rungs that take a choice; or all
//	precision: [default, highest]  # of float32 products
//	layers:                        # in place of sizes: layers of models, added up behind the rows
//	  - layer: decode
//	    parts:
//	      - {part: down, family: matmul, size: 8x14336x4096, dtype: bfloat16, kernels: [5], times: 1}
//	together: true                 # dtypes of one size take turns in the same rounds, compared with the first; default: false
//	shardings: [gather, scatter]   # how products are spread over a mesh of devices (flag --mesh); default: all ways
//	scaling: [strong, weak]        # from one device to that mesh: one product, or rows that grow with the devices; default: that mesh alone
//	time_budget: 60s               # of the whole execution
//	timeout: 10m                   # of one compilation or repetition
//	rounds: {min: 6, max: 30}
//	repetitions: 1                 # of a point in a round
//	warmup: 1                      # untimed executions
//	seed: 1
//	dist: uniform                  # or normal, integers
//	threads: 0                     # one a core
//	pin: true                      # threads are bound to cores; default: false
//	cache: cold                    # launches find nothing of their operands in the caches; default: warm
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
	f, err := d.family(root.Content[0])
	if err != nil {
		return Config{}, err
	}
	c := Default(f)
	c.Name = strings.TrimSuffix(path.Base(name), path.Ext(name))
	if err := d.mapping(root.Content[0], "a sweep", d.sweep(&c)); err != nil {
		return Config{}, err
	}
	switch {
	case len(c.Layers) == 0 && len(c.Sizes) == 0:
		return Config{}, d.errorf(root.Content[0], "a sweep needs the key sizes")
	case len(c.Layers) > 0 && valueOf(root.Content[0], familyKey, "sizes", "kernels", "dtypes", "blocks", "batch", "precision", "together") != nil:
		return Config{}, d.errorf(root.Content[0], "layers say what their parts are; beside them a sweep has neither family, sizes, kernels, dtypes, blocks, batch, precision nor together")
	}
	return c, nil
}

// family reads the key family ahead of all others, which depend on it.
func (d document) family(n *yaml.Node) (*problem.Family, error) {
	f := problem.Families()[0]
	if name := valueOf(n, familyKey); name != nil {
		return f, value(d, &f, problem.Find)(name)
	}
	return f, nil
}

const familyKey = "family"

// sweep has the keys of a sweep.
func (d document) sweep(c *Config) fields {
	return fields{
		"name":        d.text(&c.Name, func(s string) (string, error) { return s, nil }),
		familyKey:     func(*yaml.Node) error { return nil }, // read before
		"sizes":       func(n *yaml.Node) (err error) { c.Sizes, err = d.sizes(c.Family, n); return err },
		"kernels":     list(d, &c.Kernels, scalar(d, func(s string) (int, error) { return parseKernel(c.Family, s) })),
		"dtypes":      list(d, &c.Asked, func(n *yaml.Node) (problem.Asked, error) { return d.asked(c.Family, n) }),
		"blocks":      d.blocks(c),
		"batch":       func(n *yaml.Node) error { return d.batches(c, n) },
		"precision":   list(d, &c.Precisions, scalar(d, parsePrecision)),
		"shardings":   list(d, &c.Shardings, scalar(d, sharding)),
		"scaling":     list(d, &c.Scaling, scalar(d, scaling)),
		"layers":      func(n *yaml.Node) error { return d.layers(c, n) },
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
		"pin":         value(d, &c.Pin, truth),
		"cache":       value(d, &c.Cache, ParseCache),
	}
}

func (d document) blocks(c *Config) field {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.Value == allBlocks {
			c.AllBlocks = true
			return nil
		}
		return list(d, &c.Blocks, scalar(d, c.Family.ParseBlocks))(n)
	}
}

// batches reads how many problems are solved at once.
func (d document) batches(c *Config, n *yaml.Node) error {
	if _, ok := c.Family.Index(problem.BatchSize); !ok {
		return d.errorf(n, "problems of %s have no size batch", c.Family.Name)
	}
	return list(d, &c.Batches, scalar(d, problem.ParseSize))(n)
}

// asked reads what is asked of a family in one word, or {a, b, out, quant, activation,
// options}.
func (d document) asked(f *problem.Family, n *yaml.Node) (problem.Asked, error) {
	if n.Kind != yaml.MappingNode {
		return scalar(d, f.Parse)(n)
	}
	var o problem.Asked
	err := d.mapping(n, "a dtype", fields{
		"a": value(d, &o.A, tile.ParseDtype), "b": value(d, &o.B, tile.ParseDtype), "out": value(d, &o.Out, tile.ParseDtype),
		"quant": value(d, &o.Quant, problem.ParseQuant), "activation": value(d, &o.Epilogue, problem.ParseEpilogue),
		"options": d.text(&o.Options, func(s string) (string, error) { return s, nil }),
	}, "a")
	if err != nil {
		return problem.Asked{}, err
	}
	if o, err = f.Complete(o); err != nil {
		return problem.Asked{}, d.errorf(n, "%v", err)
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

// maxSweep bounds the text of a sweep.
const maxSweep = 1 << 20

// ReadSweep returns the text of a sweep, and the name of its file for messages: of
// the file called name if that ends in .yaml or .yml, which must be a regular one, or
// else of one that comes with matladder.
func ReadSweep(name string) (text []byte, file string, err error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return configs.Read(name)
	}
	text, err = files.ReadRegular(name, maxSweep)
	return text, name, err
}
