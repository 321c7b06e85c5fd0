package machine

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"matladder/internal/each"
)

//go:embed chips.yaml
var embedded []byte

// load parses the embedded table once. It can only fail in a build whose tests
// fail, so the error is a panic here and a test there.
var load = sync.OnceValue(func() *table {
	t, err := parse("chips.yaml", embedded)
	if err != nil {
		panic(err)
	}
	return t
})

// table is chips.yaml with its names resolved. Keys of the maps are normalized.
type table struct {
	devices   []Device
	byName    map[string]int      // index in devices
	ambiguous map[string][]string // keys of the devices it may mean
}

// All returns every device of the table, in its order. The caller owns the copy.
func All() []Device { return each.Of(load().devices, func(d Device) Device { return d.clone() }) }

// Lookup finds a device by any spelling of its name: the key, a PJRT device kind
// ("TPU v5 lite"), a topology ("v6e:2x2"), an accelerator type ("v5litepod-8").
// Case, spaces, dashes and underscores do not matter. It is false for a name
// that is unknown or fits more than one device; Find says which.
func Lookup(name string) (Device, bool) {
	d, err := Find(name)
	return d, err == nil
}

// Find is Lookup with the reason: the error names the devices an ambiguous name
// may mean, or for an unknown one the devices there are.
func Find(name string) (Device, error) {
	t := load()
	for _, n := range spellings(name) {
		if i, ok := t.byName[n]; ok {
			return t.devices[i].clone(), nil
		}
		if keys, ok := t.ambiguous[n]; ok {
			return Device{}, fmt.Errorf("device %q may be %s: name one", name, strings.Join(keys, " or "))
		}
	}
	keys := each.Of(t.devices, func(d Device) string { return d.Key })
	slices.Sort(keys)
	return Device{}, fmt.Errorf("device %q is unknown: known are %s", name, strings.Join(keys, ", "))
}

// spellings gives the forms of name to look for, the fullest first: the whole,
// then without a topology's shape (":2x2"), then without a count ("-8").
func spellings(name string) []string {
	name = strings.ToLower(strings.TrimSpace(name))
	forms := []string{normalize(name)}
	stem, shape, ok := strings.Cut(name, ":")
	if ok && !isShape(shape) {
		return forms
	}
	if ok {
		forms = append(forms, normalize(stem))
	}
	if i := strings.LastIndexByte(stem, '-'); i > 0 && isCount(stem[i+1:]) {
		forms = append(forms, normalize(stem[:i]))
	}
	return forms
}

// normalize drops what spellings of one name differ in.
func normalize(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '_', '\t':
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// isShape reports whether s is a topology's shape: counts joined by x.
func isShape(s string) bool {
	return !slices.ContainsFunc(strings.Split(s, "x"), func(part string) bool { return !isCount(part) })
}

func isCount(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" && s[0] != '0' }
