// Package words has what messages need of English and of figures.
package words

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plural is noun, with an s unless there is one of it.
func Plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Count is a number of things: "1 row", "2 rows".
func Count[T int | int64](n T, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(noun, int(n)))
}

// Joined joins the parts that are not empty.
func Joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// Join is strings.Join of any kind of strings.
func Join[T ~string](names []T, separator string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, separator)
}

// Between is text with something before and behind it; "" without text.
func Between(before, text, behind string) string {
	if text == "" {
		return ""
	}
	return before + text + behind
}

// When is a text as of fmt.Sprintf where a condition holds; else "".
func When(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// Counted is how many there are, "2 threads"; "" for less than least.
func Counted(n int, noun string, least int) string {
	if n < least {
		return ""
	}
	return Count(n, noun)
}

// First joins the first n of a list and says how many more there are.
func First(list []string, n int, separator string) string {
	text := strings.Join(list[:min(n, len(list))], separator)
	if more := len(list) - n; more > 0 {
		text += fmt.Sprintf("%s and %d more", strings.TrimRight(separator, ", "), more)
	}
	return text
}

// Figure writes v with three significant digits and, unless it is far beyond what can be
// measured, without an exponent; of whole numbers above 1000 it keeps all digits.
func Figure(v float64) string {
	if v == 0 {
		return "0"
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "?"
	}
	text := strconv.FormatFloat(v, 'e', 2, 64) // rounds first: 9.999 has one digit less
	exponent, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exponent < -9 || exponent > 15 {
		return text
	}
	digits := 2 - exponent
	return strconv.FormatFloat(v, 'f', max(digits, 0), 64)
}
