package results

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"matladder/internal/each"
)

// A column ties a name to a field of Record. The options of the csv tag are
//
//	required  a file without the column is refused
//	zero      0 is written as "0", not as an empty cell
//	signed    a negative number is legal
type column struct {
	name                   string
	required, zero, signed bool
	text                   bool     // a string, not a number or a time
	legal                  []string // of a text: all that it may be; nil for anything
	conditions             bool     // a field of Conditions
	field                  []int
}

// legal has what cells of a type may be.
var legal = map[reflect.Type][]string{
	reflect.TypeFor[Mode](): texts(Modes), reflect.TypeFor[Method](): texts(Methods),
	reflect.TypeFor[Status](): texts(Statuses), reflect.TypeFor[Figure](): texts(Figures),
}

func texts[T ~string](list []T) []string {
	return each.Of(list, func(v T) string { return string(v) })
}

// columns is read off Record's csv tags, so that a column is declared once.
var columns = func() []column {
	var list []column
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Record]()) {
		if name, options, _ := strings.Cut(f.Tag.Get("csv"), ","); name != "" {
			list = append(list, column{
				name:     name,
				required: options == "required", zero: options == "zero", signed: options == "signed",
				text: f.Type.Kind() == reflect.String, legal: legal[f.Type], conditions: len(f.Index) > 1, field: f.Index,
			})
		}
	}
	return list
}()

// Columns are the column names in the order they are written.
var Columns = each.Of(columns, func(c column) string { return c.name })

// at is the column's field of r.
func (c column) at(r *Record) reflect.Value { return reflect.ValueOf(r).Elem().FieldByIndex(c.field) }

// of returns a pointer to that field.
func (c column) of(r *Record) any { return c.at(r).Addr().Interface() }

// OfConditions reports whether a column of Columns is a field of Conditions.
func OfConditions(name string) bool { return columnOf(name).conditions }

func columnOf(name string) column {
	return columns[slices.IndexFunc(columns, func(c column) bool { return c.name == name })]
}

// Value is what a column of Columns has in r: a string, an int64, a float64, or nil where
// the cell is empty.
func (r *Record) Value(name string) any { return columnOf(name).value(r) }

// value is what the column has in r, as Value says.
func (c column) value(r *Record) any {
	field := c.at(r)
	switch f := field.Addr().Interface().(type) {
	case *Optional[int64]:
		if f.Known {
			return f.Value
		}
	case *Optional[float64]:
		if f.Known {
			return f.Value
		}
	case *time.Time:
		if !f.IsZero() {
			return f.UTC().Format(time.RFC3339Nano)
		}
	default:
		switch {
		case field.IsZero() && !c.zero:
		case c.text:
			return field.String()
		case field.CanInt():
			return field.Int()
		default:
			return field.Float()
		}
	}
	return nil
}

// cell returns the text of the column in r.
func (c column) cell(r *Record) string {
	switch v := c.value(r).(type) {
	case string:
		return Clean(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// set parses cell into the column's field of r. An empty cell leaves the field at zero.
func (c column) set(r *Record, cell string) (err error) {
	if cell == "" {
		return nil
	}
	switch v := c.of(r).(type) {
	case *Optional[int64]:
		v.Known = true
		v.Value, err = parseInt(cell, 64)
	case *Optional[float64]:
		v.Known = true
		v.Value, err = parseFloat(cell)
	case *time.Time:
		*v, err = time.Parse(time.RFC3339Nano, cell)
		*v = v.UTC()
		if err != nil {
			err = fmt.Errorf("%q is not a time like 2006-01-02T15:04:05Z", short(cell))
		}
	default:
		switch field := c.at(r); {
		case c.text:
			field.SetString(cell)
			err = c.oneOf(cell)
		case field.CanInt():
			var n int64
			n, err = parseInt(cell, field.Type().Bits())
			field.SetInt(n)
		default:
			var x float64
			x, err = parseFloat(cell)
			field.SetFloat(x)
		}
	}
	return err
}

// check reports a value that no file may hold.
func (c column) check(r *Record) error {
	if t, ok := c.of(r).(*time.Time); ok {
		if year := t.UTC().Year(); year < 1 || year > 9999 {
			return fmt.Errorf("year %d is outside 1 to 9999", year)
		}
		return nil
	}
	number := 0.0
	switch v := c.value(r).(type) {
	case string:
		return c.oneOf(v)
	case int64:
		number = float64(v)
	case float64:
		number = v
	}
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return fmt.Errorf("%v is not a number; leave the cell empty", number)
	case number < 0 && !c.signed:
		return fmt.Errorf("%v is negative", number)
	}
	return c.limit(number)
}

// oneOf reports a text that the column may not have.
func (c column) oneOf(cell string) error {
	if c.legal == nil || cell == "" || slices.Contains(c.legal, cell) {
		return nil
	}
	return fmt.Errorf("%q is none of %v", short(cell), c.legal)
}

func parseInt(cell string, size int) (int64, error) {
	v, err := strconv.ParseInt(cell, 10, size)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s does not fit %d bits", short(cell), size)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", short(cell))
	}
	return v, nil
}

func parseFloat(cell string) (float64, error) {
	v, err := strconv.ParseFloat(cell, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s does not fit a float64", short(cell))
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", short(cell))
	}
	return v + 0, nil // -0 becomes 0
}

// short quotes at most the start of a cell in a message.
func short(cell string) string {
	if len(cell) <= 40 {
		return Clean(cell)
	}
	return Clean(cell[:40]) + "…"
}

// maxCell bounds a text in bytes, so that a compiler's dump in a reason does not become the file.
const maxCell = 4 << 10

// Clean makes a text safe to write, read back equal, and print: valid UTF-8,
// line feeds as the only line ends, no other control characters (a plugin's
// message may carry terminal escapes), at most maxCell bytes.
func Clean(s string) string {
	if len(s) <= maxCell && plain(s) {
		return s
	}
	if len(s) > 2*maxCell {
		s = s[:2*maxCell]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\r':
			return '\n'
		case unicode.IsControl(c) && c != '\n' && c != '\t':
			return ' '
		}
		return c
	}, s)
	if len(s) <= maxCell {
		return s
	}
	const ellipsis = "…"
	cut := maxCell - len(ellipsis)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}

func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
