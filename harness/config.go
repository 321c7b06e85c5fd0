package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matladder/backend"
	"matladder/check"
	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// Config is a sweep: the product of its lists.
type Config struct {
	Name        string
	Family      *problem.Family
	Sizes       []problem.Sizes
	Kernels     []int           // rungs of the family's ladder in the order of measuring; kernels.BaselineNumber for the baseline
	Asked       []problem.Asked // what is asked but for sizes and precision
	Blocks      []tile.Blocks   // for the rungs that take a choice; none: their own candidates
	FirstBlocks bool            // the first candidate alone, where neither Blocks nor a tuned row say more
	AllBlocks   bool            // every candidate, even where a tuned row exists
	Tuned       *tuned.Table    // of the machine that the sweep is for: block shapes and parameters where neither Blocks nor AllBlocks ask for others; nil if there is none
	Precisions  []tile.Precision
	Batches     []int     // problems at once, each of its own operands
	Mesh        string    // devices that products are spread over, as mesh.Parse reads it; "" for one device
	Shardings   []string  // ways to spread them, by their names in mesh.Shardings; none: all
	Scaling     []string  // Strong, Weak: from one device to Mesh; none: Mesh alone
	Layers      []Layer   // in place of all above: what layers of models are made of
	Settings    []Setting // ways to compile each point; none: that of the sweep alone
	Together    bool      // all that is Asked of one size are one group: they take turns, and are compared with the first

	TimeBudget  time.Duration // wall time of one execution, shared over the groups; 0 for no limit
	Timeout     time.Duration // of one compilation or one repetition
	MinRounds   int           // before a group may end with narrow intervals
	MaxRounds   int
	Repetitions int // of a point in one round
	Warmup      int // untimed executions before the first repetition
	Seed        int64
	Inputs      []string      // distributions of package check: each point once with each; one at least
	Threads     int           // 0 for one a core
	Pin         bool          // the backend binds threads to cores: rows say so
	Duty        []int         // percent of a window for which a point's device is busy; none for no window
	Window      time.Duration // of Duty
	Cool        time.Duration // idle ahead of each point's turn; negative: half of a window ahead of one
	Cache       string        // results.Cold, or "" where launches find what the last one left
}

// A Setting is a way to compile points of a sweep.
type Setting struct {
	Params map[string]string // beside those of the sweep
	Blocks []tile.Blocks     // in place of the sweep's; none: these, or else the kernel's first
	Asked  []problem.Asked   // what it is for; none: all
}

// with is the sweep under a setting, and its parameters; ok is false if that is not for p.
func (c Config) with(s Setting, p problem.Problem, params backend.Params) (_ Config, _ backend.Params, ok bool) {
	c.FirstBlocks = true
	if len(s.Blocks) > 0 {
		c.Blocks = s.Blocks
	}
	if len(s.Params) > 0 {
		all := maps.Clone(s.Params)
		maps.Copy(all, params.Extra)
		params.Extra, c.Tuned = all, nil
	}
	return c, params, len(s.Asked) == 0 || slices.ContainsFunc(s.Asked, func(a problem.Asked) bool {
		a.Precision = p.Asked().Precision
		return c.Family.Make(p.Sizes(), a) == p
	})
}

// Default returns what a file need not say of a family.
func Default(f *problem.Family) Config {
	c := Config{
		Family:      f,
		Timeout:     10 * time.Minute,
		MinRounds:   6, // the fewest samples that give a median's interval 95 % confidence
		MaxRounds:   30,
		Repetitions: 1,
		Warmup:      1,
		Seed:        1,
		Inputs:      []string{check.Uniform},
		Window:      10 * time.Second,
		Cool:        -1,
		Precisions:  []tile.Precision{tile.Default},
		Batches:     []int{1},
		Kernels:     each.Of(kernels.Ladder(f), kernels.Kernel.Number),
	}
	for _, words := range f.Dtypes {
		asked, err := f.Parse(words)
		if err != nil {
			panic(fmt.Sprintf("family %s: its own dtype %s: %v", f.Name, words, err))
		}
		c.Asked = append(c.Asked, asked)
	}
	return c
}

// ParseSizes reads --sizes of a family: what its ParseSizes takes, joined by commas.
func ParseSizes(f *problem.Family, s string) ([]problem.Sizes, error) {
	return parseList(s, func(item string) (problem.Sizes, error) { return parseSizes(f, item) })
}

// ParseKernels reads --kernel: numbers or names of rungs of a family, joined by commas.
func ParseKernels(f *problem.Family, s string) ([]int, error) {
	return parseList(s, func(item string) (int, error) { return parseKernel(f, item) })
}

// ParseDtypes reads --dtype: what the family's Parse takes, joined by commas.
func ParseDtypes(f *problem.Family, s string) ([]problem.Asked, error) { return parseList(s, f.Parse) }

// ParsePrecisions reads --precision: default, highest or both.
func ParsePrecisions(s string) ([]tile.Precision, error) { return parseList(s, parsePrecision) }

// ParseInputs reads --inputs: distributions joined by commas.
func ParseInputs(s string) ([]string, error) { return parseList(s, check.ParseInputs) }

// ParseDuty reads --duty: percentages joined by commas.
func ParseDuty(s string) ([]int, error) { return parseList(s, duty) }

// rest is how long the machine is idle ahead of each point's turn.
func (c Config) rest() time.Duration {
	if c.Cool < 0 && len(c.Duty) > 0 {
		return c.Window / 2
	}
	return max(0, c.Cool)
}

// ParseBlocks reads --blocks of a family: bm×bk×bn joined by commas, or "all".
func ParseBlocks(f *problem.Family, s string) (blocks []tile.Blocks, all bool, err error) {
	if s == allBlocks {
		return nil, true, nil
	}
	blocks, err = parseList(s, f.ParseBlocks)
	return blocks, false, err
}

// allBlocks asks for every candidate.
const allBlocks = "all"

// parseList reads items joined by commas and refuses one that comes twice. An item may hold
// commas itself (float32:window255,0): what is none alone is joined with what follows.
func parseList[T comparable](s string, item func(string) (T, error)) ([]T, error) {
	var list []T
	seen := map[T]bool{}
	for rest := strings.Split(s, ","); len(rest) > 0; {
		text := strings.TrimSpace(rest[0])
		v, err := item(text)
		took := 1
		for n := 2; err != nil && n <= min(len(rest), mostJoined); n++ {
			longer := strings.TrimSpace(strings.Join(rest[:n], ","))
			if joined, wrong := item(longer); wrong == nil {
				text, v, err, took = longer, joined, nil, n
			}
		}
		rest = rest[took:]
		if err != nil {
			return nil, err
		}
		if seen[v] {
			return nil, fmt.Errorf("%s is listed twice", text)
		}
		seen[v] = true
		list = append(list, v)
	}
	return list, nil
}

// mostJoined is of how many pieces between commas an item may be.
const mostJoined = 4

func parseKernel(f *problem.Family, s string) (int, error) {
	s = strings.TrimPrefix(s, f.Name+"/")
	if s == fmt.Sprint(kernels.BaselineNumber) || s == kernels.BaselineName {
		return kernels.BaselineNumber, nil
	}
	k, err := kernels.FindIn(f, s)
	if err != nil {
		return 0, fmt.Errorf("%w; %d or %s is the baseline", err, kernels.BaselineNumber, kernels.BaselineName)
	}
	return k.Number(), nil
}

func parsePrecision(s string) (tile.Precision, error) {
	if s == "" {
		return 0, fmt.Errorf("empty precision (known: default, highest)")
	}
	return tile.ParsePrecision(s)
}
