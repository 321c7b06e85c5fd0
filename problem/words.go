package problem

import (
	"fmt"
	"math"
	"strings"

	"matladder/tile"
)

// parseWords returns a family's Parse, for families that are asked for as a dtype and, behind
// a colon, words joined by + (bfloat16:causal+sinks), which complete reads.
func parseWords(complete func(a Asked) (Asked, error)) func(text string) (Asked, error) {
	return func(text string) (Asked, error) {
		dtype, words, _ := strings.Cut(text, ":")
		d, err := tile.ParseDtype(dtype)
		if err != nil {
			return Asked{}, err
		}
		a, err := complete(Asked{A: d, Options: words})
		if err != nil {
			return Asked{}, fmt.Errorf("dtype %q: %w", text, err)
		}
		return a, nil
	}
}

// parseDtypes reads what is asked of a family that spells it as dtypes alone.
func parseDtypes(complete func(a Asked) (Asked, error)) func(text string) (Asked, error) {
	return func(text string) (Asked, error) {
		a, err := ParseDtypes(text)
		if err != nil {
			return a, err
		}
		return complete(a)
	}
}

// completed is all that is asked of p, which words made.
func completed(p Problem, err error) (Asked, error) {
	if err != nil {
		return Asked{}, err
	}
	return p.Asked(), p.Validate()
}

// fromWords is the Make of a family whose words Complete has read.
func fromWords[P Problem](read func(Sizes, Asked) (P, error)) func(Sizes, Asked) Problem {
	return func(s Sizes, a Asked) Problem {
		p, _ := read(s, a)
		return p
	}
}

// productSides are those of a block of a product of dtypes a and b.
func productSides(m, k, n int, a, b tile.Dtype) []Side {
	return []Side{{"bm", m, a, 0}, {"bk", k, b, 0}, {"bn", n, b, 1}}
}

// eachWord calls read on words joined by +, up to the first that it refuses.
func eachWord(words string, read func(word string) error) error {
	if words == "" {
		return nil
	}
	for _, word := range strings.Split(words, "+") {
		if err := read(word); err != nil {
			return err
		}
	}
	return nil
}

// validRows returns why there are no such rows and columns of floats, or nil.
func validRows(rows, cols int, dtypes ...tile.Dtype) error {
	if err := positive(dim{"rows", rows}, dim{"cols", cols}); err != nil {
		return err
	}
	if 16*float64(rows)*float64(cols) > math.MaxInt64 {
		return fmt.Errorf("size %s overflows: its bytes do not fit 64 bits", short(rows, cols))
	}
	return floats(dtypes...)
}

// floats refuses dtypes of operands that are neither float32 nor bfloat16.
func floats(dtypes ...tile.Dtype) error {
	for _, d := range dtypes {
		if d != tile.Float32 && d != tile.BFloat16 {
			return fmt.Errorf("dtype %s is not supported (float32 and bfloat16 are)", d)
		}
	}
	return nil
}

// optionList are words that spell a problem, each added where it says something.
type optionList []string

func (l *optionList) add(is bool, word string) {
	if is {
		*l = append(*l, word)
	}
}

func (l optionList) String() string { return strings.Join(l, "+") }
