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
)

// A column ties a name to a field of Record. The options of the csv tag are
//
//	required  a file without the column is refused
//	zero      0 is written as "0", not as an empty cell
//	signed    a negative number is legal
type column struct {
	name                   string
	required, zero, signed bool
	text                   bool // a string, not a number or a time
	field                  int
}

// columns is read off Record's csv tags, so that a column is declared once.
var columns = func() []column {
	var list []column
	record := reflect.TypeFor[Record]()
	for i := range record.NumField() {
		name, options, _ := strings.Cut(record.Field(i).Tag.Get("csv"), ",")
		if name == "" {
			continue
		}
		list = append(list, column{
			name:     name,
			required: options == "required", zero: options == "zero", signed: options == "signed",
			text:  record.Field(i).Type.Kind() == reflect.String,
			field: i,
		})
	}
	return list
}()

// Columns are the column names in the order they are written.
var Columns = func() []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}()

// of returns a pointer to the column's field of r.
func (c column) of(r *Record) any {
	return reflect.ValueOf(r).Elem().Field(c.field).Addr().Interface()
}

// Field returns a pointer to the field of a column of Columns.
func (r *Record) Field(name string) any {
	at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	return columns[at].of(r)
}

// cell returns the text of the column in r.
func (c column) cell(r *Record) string {
	switch v := c.of(r).(type) {
	case *string:
		return Clean(*v)
	case *Mode:
		return string(*v)
	case *Method:
		return string(*v)
	case *Status:
		return string(*v)
	case *Figure:
		return string(*v)
	case *int:
		return c.integer(int64(*v))
	case *int64:
		return c.integer(*v)
	case *float64:
		if *v == 0 && !c.zero {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *Optional[int64]:
		if !v.Known {
			return ""
		}
		return strconv.FormatInt(v.Value, 10)
	case *Optional[float64]:
		if !v.Known {
			return ""
		}
		return strconv.FormatFloat(v.Value, 'g', -1, 64)
	case *time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Format(time.RFC3339Nano)
	}
	panic("results: column " + c.name + " has a type without a cell")
}

func (c column) integer(v int64) string {
	if v == 0 && !c.zero {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// set parses cell into the column's field of r. An empty cell leaves the
// field at zero.
func (c column) set(r *Record, cell string) (err error) {
	if cell == "" {
		return nil
	}
	switch v := c.of(r).(type) {
	case *string:
		*v = cell
	case *Mode:
		*v, err = oneOf(Modes, cell)
	case *Method:
		*v, err = oneOf(Methods, cell)
	case *Status:
		*v, err = oneOf(Statuses, cell)
	case *Figure:
		*v, err = oneOf(Figures, cell)
	case *int:
		var n int64
		n, err = parseInt(cell, strconv.IntSize)
		*v = int(n)
	case *int64:
		*v, err = parseInt(cell, 64)
	case *float64:
		*v, err = parseFloat(cell)
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
		panic("results: column " + c.name + " has a type without a cell")
	}
	return err
}

// check reports a value that no file may hold.
func (c column) check(r *Record) error {
	if c.text {
		return nil
	}
	number := 0.0
	switch v := c.of(r).(type) {
	case *int:
		number = float64(*v)
	case *int64:
		number = float64(*v)
	case *float64:
		number = *v
	case *Optional[int64]:
		number = float64(v.Value)
	case *Optional[float64]:
		number = v.Value
	case *time.Time:
		if year := v.UTC().Year(); year < 1 || year > 9999 {
			return fmt.Errorf("year %d is outside 1 to 9999", year)
		}
	}
	switch {
	case math.IsNaN(number) || math.IsInf(number, 0):
		return fmt.Errorf("%v is not a number; leave the cell empty", number)
	case number < 0 && !c.signed:
		return fmt.Errorf("%v is negative", number)
	}
	return c.limit(number)
}

func oneOf[T ~string](legal []T, cell string) (T, error) {
	if slices.Contains(legal, T(cell)) {
		return T(cell), nil
	}
	return "", fmt.Errorf("%q is none of %v", short(cell), legal)
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

// maxCell bounds a text in bytes, so that a compiler's dump in a reason does
// not become the file.
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
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
