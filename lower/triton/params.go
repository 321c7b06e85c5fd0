package triton

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"matladder/tile"
)

// Params are what a tuner may choose of a kernel, besides its blocks. None of them changes what a
// program means, but that a split sum is rounded in another order. 0 leaves the choice to Lower.
type Params struct {
	Warps  int // of 32 threads, on AMD's GPUs 64, which run one program
	Stages int // blocks of an operand that are on their way or at work at once; 1 where an output would be read ahead
	Group  int // programs of the second to last Parallel axis that share what they load
	SplitK int // parts of the Arbitrary axis that programs of their own sum
}

// Limits of parameters.
const (
	maxWarps  = 32
	maxStages = 16
	maxGroup  = 1 << 10
	maxSplit  = 1 << 10
)

// parameters are the fields of Params by the names under which they are recorded.
var parameters = map[string]struct {
	field func(*Params) *int
	most  int
	power bool // of two
}{
	"num_warps":  {func(p *Params) *int { return &p.Warps }, maxWarps, true},
	"num_stages": {func(p *Params) *int { return &p.Stages }, maxStages, false},
	"group":      {func(p *Params) *int { return &p.Group }, maxGroup, false},
	"split_k":    {func(p *Params) *int { return &p.SplitK }, maxSplit, false},
}

// ParamNames are the names of the parameters, sorted.
func ParamNames() []string { return slices.Sorted(maps.Keys(parameters)) }

// ParseParams reads parameters as they are recorded: num_warps, num_stages, group,
// split_k, each an integer.
func ParseParams(values map[string]string) (Params, error) {
	var p Params
	for _, name := range slices.Sorted(maps.Keys(values)) {
		known, ok := parameters[name]
		if !ok {
			return Params{}, fmt.Errorf("triton: unknown parameter %q (known: %s)", name, strings.Join(ParamNames(), ", "))
		}
		n, err := strconv.Atoi(values[name])
		if err != nil || n < 1 {
			return Params{}, fmt.Errorf("triton: %s = %q: must be a positive integer", name, values[name])
		}
		*known.field(&p) = n
	}
	return p, p.check()
}

func (p Params) check() error {
	for _, name := range ParamNames() {
		known := parameters[name]
		switch n := *known.field(&p); {
		case n < 0 || n > known.most:
			return fmt.Errorf("triton: %s = %d: must be 1 to %d, or 0 to leave it open", name, n, known.most)
		case known.power && n > 0 && bits.OnesCount(uint(n)) != 1:
			return fmt.Errorf("triton: %s = %d: must be a power of two", name, n)
		}
	}
	return nil
}

// Adjustments lists parameters one step from what Lower takes for programs with opts: each has
// one name and a value that makes another text, which fits the target. The error is Lower's.
func Adjustments(programs []*tile.Program, opts Options) ([]Adjustment, error) {
	plain, err := Lower(programs, opts)
	if err != nil {
		return nil, err
	}
	chosen := plain.Kernels[len(plain.Kernels)-1].Params // of the product: what is made ready for it stands before
	seen := map[string]bool{plain.Module(): true}
	var list []Adjustment
	for _, name := range ParamNames() {
		known := parameters[name]
		now := max(1, *known.field(&chosen))
		steps := []int{now / 2, 2 * now}
		if name == "num_stages" {
			steps = []int{now - 1, now + 1}
		}
		for _, n := range steps {
			with := opts
			if n < 1 || n > known.most {
				continue
			}
			*known.field(&with.Params) = n
			l, err := Lower(programs, with)
			if err != nil { // too big, or not to be parted so
				continue
			}
			if text := l.Module(); !seen[text] {
				seen[text] = true
				list = append(list, Adjustment{name, strconv.Itoa(n)})
			}
		}
	}
	return list, nil
}

// Adjustment is a parameter with its value as both are recorded.
type Adjustment struct{ Name, Value string }
