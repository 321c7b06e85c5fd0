package results

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// counting is a context that ends at its nth look.
type counting struct {
	context.Context
	looks, last int
}

func (c *counting) Err() error {
	if c.looks++; c.looks > c.last {
		return context.Canceled
	}
	return nil
}

// TestCanceled: what reads a file looks at its context at each piece of it, good rows or
// bad, and ends at the look that says so; a journal stays as it is.
func TestCanceled(t *testing.T) {
	good := journal(t, filepath.Join(t.TempDir(), "rows.csv"), rounds(1, 1000))
	header, _, _ := bytes.Cut(good, []byte("\n"))
	for name, text := range map[string]string{
		"good rows":       string(good),
		"bad rows":        string(header) + "\n" + strings.Repeat("a,b\n", 50_000),
		"one row":         string(header) + "\n" + strings.Repeat("a", 1<<20),
		"a quote":         string(header) + "\n\"" + strings.Repeat("a\n", 1<<18),
		"nothing but \\n": string(header) + strings.Repeat("\n", 1<<19),
	} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for what, read := range map[string]func(ctx context.Context) error{
			"rows": func(ctx context.Context) error {
				_, err := ReadRows(ctx, path, func(*Record) error { return nil })
				return err
			},
			"journal": func(ctx context.Context) error {
				j, _, _, err := Resume(ctx, path)
				if err == nil {
					j.Close()
				}
				return err
			},
		} {
			all := &counting{last: 1 << 30}
			want := len(text) / (1 << 16)
			if err := read(all); err != nil && what == "rows" {
				t.Fatalf("%s of %s: %v", what, name, err)
			} else if all.looks < want && err == nil {
				t.Errorf("%s of %s: looks %d times at its context, want %d", what, name, all.looks, want)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // as it was before it was resumed
				t.Fatal(err)
			}
			for _, last := range []int{0, all.looks / 2} {
				ctx := &counting{last: last}
				if err := read(ctx); !errors.Is(err, context.Canceled) || ctx.looks > last+2 {
					t.Errorf("%s of %s, canceled at look %d of %d: %v, %d looks", what, name, last, all.looks, err, ctx.looks)
				}
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != text {
				t.Errorf("%s of %s: the file was changed: %v", what, name, err)
			}
		}
	}
}
