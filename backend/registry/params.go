package registry

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"matladder/internal/known"
)

// Param is one parameter of a backend, KEY of --param KEY=VALUE. Choice, Number and Size
// make one of each kind; a backend's list of them is Entry.Params.
type Param struct {
	Name    string
	Values  string // what it takes: "packed, tiles", "a size such as 64MiB"
	Help    string
	Default string // what holds where it is not given, in words for people: nothing is set to it

	check func(value string) error // nil accepts every value
}

// Choice is a parameter whose value is one of words.
func Choice(name, meaning, byDefault string, words ...string) Param {
	list := strings.Join(words, ", ")
	return Param{name, list, meaning, byDefault, func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("no such choice (known: %s)", list)
		}
		return nil
	}}
}

// Text is a parameter with values of its own, which check refuses where they are wrong.
func Text(name, values, meaning, byDefault string, check func(string) error) Param {
	return Param{name, values, meaning, byDefault, check}
}

// Number is a parameter whose value is a whole number from least to most; math.MaxInt is
// no upper bound.
func Number(name, meaning, byDefault string, least, most int) Param {
	values := fmt.Sprintf("a number from %d to %d", least, most)
	if most == math.MaxInt {
		values = fmt.Sprintf("a number from %d on", least)
	}
	return Param{name, values, meaning, byDefault, func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return errors.New("want " + values)
		}
		return nil
	}}
}

// Size is a parameter whose value is a number of bytes, as ParseSize reads it.
func Size(name, meaning, byDefault string) Param {
	return Param{name, "a size such as 64MiB", meaning, byDefault, func(value string) error {
		_, err := ParseSize(value)
		return err
	}}
}

// ParseSize reads a size above 0: a number of bytes, or of KiB, MiB or GiB.
func ParseSize(s string) (int64, error) {
	number, unit := s, 1.
	for suffix, bytes := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = strings.TrimSpace(n), bytes
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v*unit >= 0 && v*unit <= math.MaxInt64/2):
		return 0, errors.New("want bytes, or a number of KiB, MiB or GiB, as in 64MiB")
	case v*unit < 1:
		return 0, errors.New("want a size above 0")
	}
	return int64(v * unit), nil
}

// checkParams refuses parameters that the backend does not have, and values that they do not
// take.
func (e Entry) checkParams(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		i := slices.IndexFunc(e.Params, func(p Param) bool { return p.Name == name })
		if i < 0 {
			names := known.Names(e.Params, func(p Param) string { return p.Name })
			return mistake("--param %s: backend %s has no such parameter (known: %s)", name, e.Name, cmp.Or(strings.Join(names, ", "), "none"))
		}
		if p := e.Params[i]; p.check != nil {
			if err := p.check(params[name]); err != nil {
				return mistake("--param %s=%s: %w", name, params[name], err)
			}
		}
	}
	return nil
}

// WriteParams writes the parameters of a backend as a table: name, values, meaning, default.
func (e Entry) WriteParams(w io.Writer) error {
	if len(e.Params) == 0 {
		_, err := fmt.Fprintf(w, "backend %s has no parameters\n", e.Name)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "parameter\tvalues\tmeaning\tdefault\n")
	for _, p := range e.Params {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", p.Name, p.Values, p.Help, p.Default)
	}
	return t.Flush()
}

// Write writes the backends with any of the abilities as a table: name and help.
func Write(w io.Writer, can Ability) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entriesOf(can) {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Help)
	}
	return t.Flush()
}
