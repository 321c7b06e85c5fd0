package backend

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"matladder/tile"
)

// An Adjuster is a Backend whose compiler decides more than a block shape says, by
// rules that were found on some machines and need not be the best on every one.
type Adjuster interface {
	Backend

	// Adjustments lists other decisions for these programs than params leads to: each
	// is params with one key of Extra more, or with another value, and makes other code
	// of them that computes the same. An error means that params do not compile.
	Adjustments(ctx context.Context, programs []*tile.Program, params Params) ([]Params, error)
}

// With returns p with one key of Extra more, or with another value of it, in a map of its own.
func (p Params) With(key, value string) Params {
	extra := map[string]string{}
	maps.Copy(extra, p.Extra)
	extra[key] = value
	p.Extra = extra
	return p
}

// ParseExtra reads what Params.String prints of Extra: k=v pairs parted by spaces. It
// is nil for no pairs.
func ParseExtra(s string) (map[string]string, error) {
	var extra map[string]string
	for _, pair := range strings.Fields(s) {
		k, v, ok := strings.Cut(pair, "=")
		switch _, twice := extra[k]; {
		case !ok || k == "" || v == "":
			return nil, fmt.Errorf("parameter %q: want key=value", pair)
		case twice:
			return nil, fmt.Errorf("parameter %s is given twice", k)
		}
		if extra == nil {
			extra = map[string]string{}
		}
		extra[k] = v
	}
	return extra, nil
}
