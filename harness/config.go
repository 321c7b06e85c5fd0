package harness

import (
	"fmt"
	"strings"
	"time"

	"matladder/check"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
	"matladder/tuned"
)

// Config is a sweep: the product of its lists.
type Config struct {
	Name        string
	Shapes      []Shape
	Kernels     []int // rungs in the order of measuring; kernels.BaselineNumber for the baseline
	Operands    []Operands
	Blocks      []tile.Blocks // for the rungs that take a choice; none: their own candidates
	FirstBlocks bool          // the first candidate alone, where neither Blocks nor a tuned row say more
	AllBlocks   bool          // every candidate, even where a tuned row exists
	Tuned       *tuned.Table  // of the machine that the sweep is for: block shapes and parameters where neither Blocks nor AllBlocks ask for others; nil if there is none
	Precisions  []tile.Precision
	Batches     []int // products at once, each of its own operands
	Together    bool  // all Operands of one size are one group: they take turns, and are compared with the first

	TimeBudget  time.Duration // wall time of one execution, shared over the groups; 0 for no limit
	Timeout     time.Duration // of one compilation or one repetition
	MinRounds   int           // before a group may end with narrow intervals
	MaxRounds   int
	Repetitions int // of a point in one round
	Warmup      int // untimed executions before the first repetition
	Seed        int64
	Dist        string // a distribution of package check
	Threads     int    // 0 for one a core
}

// Shape is the size of a problem: o (m×n) = a (m×k) @ b (k×n).
type Shape struct{ M, K, N int }

func (s Shape) String() string { return problem.Matmul{M: s.M, K: s.K, N: s.N}.Shape() }

// Default returns what a file need not say.
func Default() Config {
	c := Config{
		TimeBudget:  0,
		Timeout:     10 * time.Minute,
		MinRounds:   6, // the fewest samples that give a median's interval 95 % confidence
		MaxRounds:   30,
		Repetitions: 1,
		Warmup:      1,
		Seed:        1,
		Dist:        check.Uniform,
		Precisions:  []tile.Precision{tile.Default},
		Batches:     []int{1},
	}
	for _, k := range kernels.All {
		c.Kernels = append(c.Kernels, k.Number())
	}
	for _, d := range []tile.Dtype{tile.Float32, tile.BFloat16, tile.Int8} {
		c.Operands = append(c.Operands, plainOperands(d))
	}
	return c
}

// ParseSizes reads --sizes: squares (512) and m×k×n (512x1024x2048) joined by
// commas.
func ParseSizes(s string) ([]Shape, error) { return parseList(s, parseShape) }

// ParseKernels reads --kernel: numbers or names joined by commas.
func ParseKernels(s string) ([]int, error) { return parseList(s, parseKernel) }

// ParseDtypes reads --dtype: operands joined by commas. See Operands.
func ParseDtypes(s string) ([]Operands, error) { return parseList(s, parseOperands) }

// ParsePrecisions reads --precision: default, highest or both.
func ParsePrecisions(s string) ([]tile.Precision, error) { return parseList(s, parsePrecision) }

// ParseBlocks reads --blocks: bm×bk×bn joined by commas, or "all".
func ParseBlocks(s string) (blocks []tile.Blocks, all bool, err error) {
	if s == allBlocks {
		return nil, true, nil
	}
	blocks, err = parseList(s, tile.ParseBlocks)
	return blocks, false, err
}

// allBlocks asks for every candidate.
const allBlocks = "all"

// parseList reads items joined by commas and refuses one that comes twice.
func parseList[T comparable](s string, item func(string) (T, error)) ([]T, error) {
	var list []T
	seen := map[T]bool{}
	for _, text := range strings.Split(s, ",") {
		text = strings.TrimSpace(text)
		v, err := item(text)
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

func parseKernel(s string) (int, error) {
	if s == fmt.Sprint(kernels.BaselineNumber) || s == kernels.BaselineName {
		return kernels.BaselineNumber, nil
	}
	k, err := kernels.Find(s)
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
