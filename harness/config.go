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
	Name       string
	Shapes     []Shape
	Kernels    []int // rungs in the order of measuring; kernels.BaselineNumber for the baseline
	Operands   []Operands
	Blocks     []tile.Blocks // for the rungs that take a choice; none: their own candidates
	AllBlocks  bool          // every candidate, even where a tuned row exists
	Tuned      *tuned.Table  // of the machine that the sweep is for; nil if there is none
	Precisions []tile.Precision

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

// Operands are the dtypes of a problem and how they stand for real numbers.
type Operands struct {
	A, B, Out tile.Dtype
	Quant     problem.Quant
}

func (o Operands) String() string {
	plain := problem.New(1, 1, 1, o.A)
	if o == (Operands{A: o.A, B: plain.B, Out: plain.Out}) {
		return o.A.String()
	}
	s := fmt.Sprintf("%s×%s→%s", o.A, o.B, o.Out)
	if o.Quant != problem.NoQuant {
		s += " " + string(o.Quant)
	}
	return s
}

// Problem returns the matmul of shape s on operands o.
func (o Operands) Problem(s Shape, precision tile.Precision) problem.Matmul {
	p := problem.New(s.M, s.K, s.N, o.A)
	p.B, p.Acc, p.Out, p.Quant = o.B, tile.DotResult(o.A, o.B), o.Out, o.Quant
	if o.A == tile.Float32 && o.B == tile.Float32 {
		p.Precision = precision // a choice for float32 products alone
	}
	return p
}

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

// ParseDtypes reads --dtype: dtypes of operand a joined by commas, each the
// plain problem of that dtype.
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

func plainOperands(d tile.Dtype) Operands {
	p := problem.New(1, 1, 1, d)
	return Operands{A: p.A, B: p.B, Out: p.Out}
}

func parseOperands(s string) (Operands, error) {
	d, err := tile.ParseDtype(s)
	if err != nil {
		return Operands{}, err
	}
	o := plainOperands(d)
	return o, o.validate()
}

func (o Operands) validate() error {
	return o.Problem(Shape{1, 1, 1}, tile.Default).Validate()
}

func parsePrecision(s string) (tile.Precision, error) {
	if s == "" {
		return 0, fmt.Errorf("empty precision (known: default, highest)")
	}
	return tile.ParsePrecision(s)
}
