package browser

import (
	"strings"
	"testing"

	"matladder/model"
	"matladder/tile"
)

// TestPlay: each example is a program, of which its own text and counts are shown.
func TestPlay(t *testing.T) {
	for _, e := range Examples() {
		source, err := e.Source()
		if err != nil {
			t.Fatal(err)
		}
		s, err := Play(t.Context(), source, "v5e")
		if err != nil || s.Wrong != "" || s.Mistakes != nil || s.Text == "" || s.Mosaic == "" || s.Triton == "" {
			t.Errorf("%s %s: %v, %s %v", e.Group, e.Name, err, s.Wrong, s.Mistakes)
		}
		if e.Group != "Go" {
			programs, err := tile.ReadPrograms(strings.NewReader(source))
			if err != nil {
				t.Fatal(err)
			}
			if c, err := model.Count(programs); err == nil && (s.Counts == nil || *s.Counts != c) || !strings.HasPrefix(s.Text, programs[0].String()) {
				t.Errorf("%s %s: %+v, %s", e.Group, e.Name, s.Counts, s.Text)
			}
		}
	}
}

// TestPlay_Chip: the answer to a chip names that chip.
func TestPlay_Chip(t *testing.T) {
	source, err := Examples()[0].Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ chip, size, fits, mosaic, triton string }{
		{"v5e", "256, 256, 256", "fits TPU v5e", "stable_mosaic", "is no GPU"},
		{"v5e", "2048, 2048, 2048", "does not fit the 16.0 MiB that a kernel gets on TPU v5e", "stable_mosaic", "is no GPU"},
		{"v5e", "4096, 4096, 4096", "does not fit: TPU v5e has 128.0 MiB", "stable_mosaic", "is no GPU"},
		{"nvidia_l4", "4096, 4096, 4096", "", "is no TPU", "sm_89 has"},
		{"amd_mi300x", "4096, 4096, 4096", "", "is no TPU", "gfx942 has"},
	} {
		s, err := Play(t.Context(), strings.Replace(source, "256, 256, 256", c.size, 1), c.chip)
		if err != nil || !strings.HasPrefix(s.Fits, c.fits) || s.TooLarge != strings.Contains(c.fits, "not") || !strings.Contains(s.Mosaic, c.mosaic) || !strings.Contains(s.Triton, c.triton) {
			t.Errorf("%s of %s: %v, %q, %.80s, %.80s", c.chip, c.size, err, s.Fits, s.Mosaic, s.Triton)
		}
	}
}

// TestPlay_Wrong: what is no program is told with its line.
func TestPlay_Wrong(t *testing.T) {
	source, err := Examples()[2].Source()
	if err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string]struct{ with, want string }{
		"k.First()":             {"k.Last()", "program.go:20: v3: o: block"},
		"func Program()":        {"func Programs()", "there is no func Program()"},
		"return Build(":         {"return []*tile.Program{nil}, nil\n\treturn Build(", "Program returns no program"},
		"t := tile.New(\"v3\")": {"panic(\"stop\")\n\tt := tile.New(\"v3\")", "program.go:10: your code panics: stop"},
		source:                  {"{}", "format"},
	} {
		s, err := Play(t.Context(), strings.Replace(source, old, c.with, 1), "v5e")
		if err != nil || !strings.Contains(s.Wrong, c.want) {
			t.Errorf("%s: %v, %q %v", c.with, err, s.Wrong, s.Mistakes)
		}
	}
}
