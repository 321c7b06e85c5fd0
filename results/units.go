package results

import (
	"math"
	"strconv"
	"strings"
)

// Integer reports whether the row's operations are on integers, so that its
// rates are OP/s and not FLOP/s.
func (r *Record) Integer() bool {
	whole := func(dtype string) bool {
		return strings.HasPrefix(dtype, "int") || strings.HasPrefix(dtype, "uint")
	}
	return whole(r.DtypeA) && (r.DtypeB == "" || whole(r.DtypeB))
}

// FormatSeconds writes a time with three digits and the unit that suits it:
// "1.23 ms".
func FormatSeconds(s float64) string {
	for _, u := range [...]struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		// 0.9995 and not 1: what rounds to 1000 of a unit is 1 of the next.
		if math.Abs(s) >= 0.9995*u.size {
			return FormatFigure(s/u.size) + " " + u.name
		}
	}
	return FormatFigure(s/1e-9) + " ns"
}

// FormatFigure writes v with three significant digits and, unless it is far beyond
// what can be measured, without an exponent; of whole numbers above 1000 it keeps all
// digits.
func FormatFigure(v float64) string {
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

// formatError writes an error, which may be tiny, with two digits.
func formatError(v Optional[float64]) string {
	if !v.Known {
		return ""
	}
	return strconv.FormatFloat(v.Value, 'g', 2, 64)
}

// Blocks names the block shape bm×bk×bn, without sides that the family has not; "" if
// the row has none.
func (r *Record) Blocks() string {
	var sides []string
	for _, side := range []int{r.BM, r.BK, r.BN} {
		if side > 0 {
			sides = append(sides, strconv.Itoa(side))
		}
	}
	return strings.Join(sides, "×")
}

// Dtypes names operands and output: float32, or int8×int8→int32 where they
// differ.
func (r *Record) Dtypes() string {
	if (r.DtypeB == r.DtypeA || r.DtypeB == "") && (r.DtypeOut == r.DtypeA || r.DtypeOut == "") {
		return r.DtypeA
	}
	name := r.DtypeA
	if r.DtypeB != "" {
		name += "×" + r.DtypeB
	}
	if r.DtypeOut != "" {
		name += "→" + r.DtypeOut
	}
	return name
}

// Product is what is computed, whatever the size: dtypes, and what is not usual of
// precision, quantization, epilogue and options.
func (r *Record) Product() string {
	words := []string{r.Dtypes()}
	if r.Precision != "" && r.Precision != "default" {
		words = append(words, "precision "+r.Precision)
	}
	return strings.Join(strings.Fields(strings.Join(append(words, r.Quant, r.Activation, r.Options), " ")), " ")
}

// firstLine returns the first line of s, at most 60 characters of it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// FormatMemory writes an amount of memory for people, 1.25 GiB; nothing for none.
func FormatMemory(bytes int64) string {
	v, unit := float64(bytes)/(1<<20), " MiB"
	switch {
	case bytes <= 0:
		return ""
	case v >= 1024:
		v, unit = v/1024, " GiB"
	}
	return FormatFigure(v) + unit
}
