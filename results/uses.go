package results

import (
	"fmt"
	"strconv"
	"strings"

	"matladder/internal/each"
)

// A LayerUse says that a problem is a part of a layer of a model.
type LayerUse struct {
	Layer       string
	Part, Parts int // the part's place, from 1, of how many
	Name        string
	Times       int // how often the layer has it
}

// The separators of column layers, which names do not hold.
const (
	useSeparator  = ";"
	wordSeparator = "/"
)

// LayerName returns an error if a layer or a part cannot be called s.
func LayerName(s string) error {
	if s == "" || s != strings.TrimSpace(s) || strings.ContainsAny(s, useSeparator+wordSeparator) {
		return fmt.Errorf("%q: want a name without %s and %s", short(s), useSeparator, wordSeparator)
	}
	return nil
}

// FormatUses spells uses as column layers has them.
func FormatUses(uses []LayerUse) string {
	spell := func(u LayerUse) string {
		return fmt.Sprintf("%s/%d of %d/%s/%d", u.Layer, u.Part, u.Parts, u.Name, u.Times)
	}
	return strings.Join(each.Of(uses, spell), useSeparator+" ")
}

// Uses reads column layers.
func (r *Record) Uses() ([]LayerUse, error) {
	if r.Layers == "" {
		return nil, nil
	}
	var list []LayerUse
	for _, text := range strings.Split(r.Layers, useSeparator) {
		words := strings.Split(strings.TrimSpace(text), wordSeparator)
		if len(words) != 4 {
			return nil, fmt.Errorf("%q: want layer/1 of 8/part/times", short(text))
		}
		u := LayerUse{Layer: words[0], Name: words[2]}
		part, parts, _ := strings.Cut(words[1], " of ")
		for _, n := range []struct {
			to   *int
			text string
		}{{&u.Part, part}, {&u.Parts, parts}, {&u.Times, words[3]}} {
			var err error
			if *n.to, err = strconv.Atoi(n.text); err != nil || *n.to < 1 || *n.to > 1<<20 {
				return nil, fmt.Errorf("%q: want layer/1 of 8/part/times, with numbers from 1", short(text))
			}
		}
		if LayerName(u.Layer) != nil || LayerName(u.Name) != nil || u.Part > u.Parts {
			return nil, fmt.Errorf("%q: want layer/1 of 8/part/times", short(text))
		}
		list = append(list, u)
	}
	return list, nil
}
