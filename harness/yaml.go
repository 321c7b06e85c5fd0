package harness

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/configs"
	"matladder/internal/files"
	"matladder/internal/yamldoc"
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
//	settings:                      # each point once for each of these, with the kernel's first blocks where it says none; default: as --param says
//	  - {params: passes=loops, blocks: 1024x1024x1024, dtypes: float32}
//	together: true                 # dtypes of one size take turns in the same rounds, compared with the first; default: false
//	shardings: [gather, scatter]   # how products are spread over a mesh of devices (flag --mesh); default: all ways
//	scaling: [strong, weak]        # from one device to that mesh: one product, or rows that grow with the devices; default: that mesh alone
//	time_budget: 60s               # of the whole execution
//	timeout: 10m                   # of one compilation or repetition
//	rounds: {min: 6, max: 30}
//	repetitions: 1                 # of a point in a round
//	warmup: 1                      # untimed executions
//	seed: 1
//	inputs: [uniform, zeros]       # each point with each; also normal, integers, ones, bits:4 (of a mantissa), sparse:50 (% of zeros). dist is another name of the key
//	threads: 0                     # one a core
//	pin: true                      # threads are bound to cores; default: false
//	duty: [25, 100]                # percent of a window for which the device is busy; rows know when in it they began
//	window: 10s
//	cool: 5s                       # the machine is idle before each point; default: half of a window before one, else none
//	cache: cold                    # launches find nothing of their operands in the caches; default: warm
func Parse(name string, text []byte) (Config, error) {
	d := document{yamldoc.Doc(name)}
	root, err := d.Read(text, "empty: a sweep needs at least sizes")
	if err != nil {
		return Config{}, err
	}
	f, err := d.family(root)
	if err != nil {
		return Config{}, err
	}
	c := Default(f)
	c.Name = strings.TrimSuffix(path.Base(name), path.Ext(name))
	if err := d.Mapping(root, "a sweep", d.sweep(&c)); err != nil {
		return Config{}, err
	}
	switch {
	case len(c.Layers) == 0 && len(c.Sizes) == 0:
		return Config{}, d.Errorf(root, "a sweep needs the key sizes")
	case len(c.Layers) > 0 && slices.ContainsFunc(ofParts, func(key string) bool { return yamldoc.Get(root, key) != nil }):
		return Config{}, d.Errorf(root, "layers say what their parts are; beside them a sweep has neither family, sizes, kernels, dtypes, blocks, batch, precision nor together")
	}
	return c, nil
}

// document is the text of a sweep.
type document struct{ yamldoc.Doc }

// family reads the key family ahead of all others, which depend on it.
func (d document) family(n *yaml.Node) (*problem.Family, error) {
	f := problem.Families()[0]
	if n = yamldoc.Get(n, familyKey); n == nil {
		return f, nil
	}
	return f, yamldoc.Value(d.Doc, &f, problem.Find)(n)
}

const familyKey = "family"

// ofParts are keys of a sweep without layers: parts of layers say these for themselves.
var ofParts = []string{familyKey, "sizes", "kernels", "dtypes", "blocks", "batch", "precision", "together"}

// sweep has the keys of a sweep.
func (d document) sweep(c *Config) yamldoc.Fields {
	return yamldoc.Fields{
		"name":        d.Text(&c.Name),
		familyKey:     func(*yaml.Node) error { return nil }, // read before
		"sizes":       func(n *yaml.Node) (err error) { c.Sizes, err = d.sizes(c.Family, n); return err },
		"kernels":     yamldoc.List(d.Doc, &c.Kernels, yamldoc.Scalar(d.Doc, func(s string) (int, error) { return parseKernel(c.Family, s) })),
		"dtypes":      yamldoc.List(d.Doc, &c.Asked, func(n *yaml.Node) (problem.Asked, error) { return d.asked(c.Family, n) }),
		"blocks":      d.blocks(c),
		"batch":       func(n *yaml.Node) error { return d.batches(c, n) },
		"precision":   yamldoc.List(d.Doc, &c.Precisions, yamldoc.Scalar(d.Doc, parsePrecision)),
		"shardings":   yamldoc.List(d.Doc, &c.Shardings, yamldoc.Scalar(d.Doc, sharding)),
		"scaling":     yamldoc.List(d.Doc, &c.Scaling, yamldoc.Scalar(d.Doc, scaling)),
		"layers":      func(n *yaml.Node) error { return d.layers(c, n) },
		"settings":    func(n *yaml.Node) error { return d.settings(c, n) },
		"together":    yamldoc.Value(d.Doc, &c.Together, truth),
		"time_budget": yamldoc.Value(d.Doc, &c.TimeBudget, duration),
		"timeout":     yamldoc.Value(d.Doc, &c.Timeout, positive(duration)),
		"rounds": func(n *yaml.Node) error {
			err := d.Mapping(n, "limits", yamldoc.Fields{
				"min": yamldoc.Value(d.Doc, &c.MinRounds, positive(whole)),
				"max": yamldoc.Value(d.Doc, &c.MaxRounds, positive(whole)),
			})
			if err == nil && c.MinRounds > c.MaxRounds {
				err = d.Errorf(n, "min %d is above max %d", c.MinRounds, c.MaxRounds)
			}
			return err
		},
		"repetitions": yamldoc.Value(d.Doc, &c.Repetitions, positive(whole)),
		"warmup":      yamldoc.Value(d.Doc, &c.Warmup, whole),
		"seed":        yamldoc.Value(d.Doc, &c.Seed, seed),
		"inputs":      yamldoc.List(d.Doc, &c.Inputs, yamldoc.Scalar(d.Doc, check.ParseInputs)),
		"dist":        yamldoc.List(d.Doc, &c.Inputs, yamldoc.Scalar(d.Doc, check.ParseInputs)),
		"threads":     yamldoc.Value(d.Doc, &c.Threads, whole),
		"pin":         yamldoc.Value(d.Doc, &c.Pin, truth),
		"duty":        yamldoc.List(d.Doc, &c.Duty, yamldoc.Scalar(d.Doc, duty)),
		"window":      yamldoc.Value(d.Doc, &c.Window, positive(duration)),
		"cool":        yamldoc.Value(d.Doc, &c.Cool, duration),
		"cache":       yamldoc.Value(d.Doc, &c.Cache, ParseCache),
	}
}

// settings reads ways to compile points, each with params as --param has them, blocks and dtypes.
func (d document) settings(c *Config, n *yaml.Node) error {
	return d.OneOrItems(n, func(n *yaml.Node) error {
		var s Setting
		err := d.Mapping(n, "a setting", yamldoc.Fields{
			"params": yamldoc.Value(d.Doc, &s.Params, backend.ParseExtra),
			"blocks": yamldoc.List(d.Doc, &s.Blocks, yamldoc.Scalar(d.Doc, c.Family.ParseBlocks)),
			"dtypes": yamldoc.List(d.Doc, &s.Asked, func(n *yaml.Node) (problem.Asked, error) { return d.asked(c.Family, n) }),
		})
		c.Settings = append(c.Settings, s)
		return err
	})
}

func (d document) blocks(c *Config) yamldoc.Field {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.Value == allBlocks {
			c.AllBlocks = true
			return nil
		}
		return yamldoc.List(d.Doc, &c.Blocks, yamldoc.Scalar(d.Doc, c.Family.ParseBlocks))(n)
	}
}

// batches reads how many problems are solved at once.
func (d document) batches(c *Config, n *yaml.Node) error {
	if _, ok := c.Family.Index(problem.BatchSize); !ok {
		return d.Errorf(n, "problems of %s have no size batch", c.Family.Name)
	}
	return yamldoc.List(d.Doc, &c.Batches, yamldoc.Scalar(d.Doc, problem.ParseSize))(n)
}

// asked reads what is asked of a family in one word, or {a, b, out, quant, activation, options}.
func (d document) asked(f *problem.Family, n *yaml.Node) (problem.Asked, error) {
	if n.Kind != yaml.MappingNode {
		return yamldoc.Scalar(d.Doc, f.Parse)(n)
	}
	var o problem.Asked
	err := d.Mapping(n, "a dtype", yamldoc.Fields{
		"a": yamldoc.Value(d.Doc, &o.A, tile.ParseDtype), "b": yamldoc.Value(d.Doc, &o.B, tile.ParseDtype), "out": yamldoc.Value(d.Doc, &o.Out, tile.ParseDtype),
		"quant": yamldoc.Value(d.Doc, &o.Quant, problem.ParseQuant), "activation": yamldoc.Value(d.Doc, &o.Epilogue, problem.ParseEpilogue),
		"options": d.Text(&o.Options),
	}, "a")
	if err != nil {
		return problem.Asked{}, err
	}
	if o, err = f.Complete(o); err != nil {
		return problem.Asked{}, d.Errorf(n, "%v", err)
	}
	return o, nil
}

func duty(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > 100 {
		return 0, fmt.Errorf("%q is no percentage from 1 to 100", s)
	}
	return v, nil
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
