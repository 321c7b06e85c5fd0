// Package words has what messages need of English and of figures.
package words

import (
	"fmt"
	"math"
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

// First joins the first n of a list and says how many more there are.
func First(list []string, n int, separator string) string {
	text := strings.Join(list[:min(n, len(list))], separator)
	if more := len(list) - n; more > 0 {
		text += fmt.Sprintf("%s and %d more", strings.TrimRight(separator, ", "), more)
	}
	return text
}

// Figure writes v with three significant digits and, unless it is far beyond
// what can be measured, without an exponent; of whole numbers above 1000 it keeps all
// digits.
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
