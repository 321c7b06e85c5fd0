package problem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"matladder/internal/each"
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

// parseOperands reads a dtype of the first operand, or ones of both joined by × or x.
func parseOperands(text string) (asked Asked, two bool, err error) {
	a, b, two := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	if asked.A, err = tile.ParseDtype(a); err == nil && two {
		asked.B, err = tile.ParseDtype(b)
	}
	return asked, two, err
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

// A word spells a part of a problem P: all of it is its name, or the name and a rest.
type word[P any] struct {
	name  string
	wrong string                       // what is said of a rest that read refuses; "" for a word without one
	read  func(p *P, rest string) bool // takes it in
	said  func(p *P) (string, bool)    // the rest, and whether p says the word at all; nil for one that goes without saying
}

// flag is a word that says no more than that it is there.
func flag[P any](name string, of func(p *P) *bool) word[P] {
	return word[P]{name, "", func(p *P, _ string) bool { *of(p) = true; return true }, func(p *P) (string, bool) { return "", *of(p) }}
}

// count is a word with a whole number behind it.
func count[P any](name, least string, of func(p *P) *int) word[P] {
	return word[P]{name, fmt.Sprintf("want %s and a whole number from %s on", name, least), func(p *P, rest string) bool {
		n, err := strconv.Atoi(rest)
		*of(p) = n
		return err == nil && n >= 0 && (n > 0 || least == "0") && n <= 1<<30
	}, func(p *P) (string, bool) { return strconv.Itoa(*of(p)), *of(p) > 0 }}
}

// number is a word with a number above another behind it, which is spelled in a format of strconv.
func number[P any](name, wrong string, above float64, format byte, of func(p *P) *float64) word[P] {
	return word[P]{name, wrong, func(p *P, rest string) bool {
		x, err := strconv.ParseFloat(rest, 64)
		*of(p) = x
		return err == nil && x > above && !math.IsInf(x, 0)
	}, func(p *P) (string, bool) { return strconv.FormatFloat(*of(p), format, -1, 64), *of(p) != 0 }}
}

// errUnread is of a word that is none of a list.
var errUnread = errors.New("no such word")

// readWord has p say what text spells.
func readWord[P any](list []word[P], p *P, text string) error {
	for _, w := range list {
		rest, ok := strings.CutPrefix(text, w.name)
		switch {
		case !ok || rest != "" && w.wrong == "":
		case !w.read(p, rest):
			return fmt.Errorf("%q: %s", text, w.wrong)
		default:
			return nil
		}
	}
	return errUnread
}

// saidWords are the words of a list that p says, in their order, and behind them those of more
// that are not empty.
func saidWords[P any](list []word[P], p *P, more ...string) string {
	var words []string
	for _, w := range list {
		if w.said == nil {
			continue
		}
		if rest, is := w.said(p); is {
			words = append(words, w.name+rest)
		}
	}
	return strings.Join(append(words, each.That(more, isSaid)...), "+")
}

func isSaid(word string) bool { return word != "" }
