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

// TestPlay_Wrong: what is no program is told with its line.
func TestPlay_Wrong(t *testing.T) {
	source, err := Examples()[2].Source()
	if err != nil {
		t.Fatal(err)
	}
	for old, c := range map[string]struct{ with, want string }{
		"k.First()":              {"k.Last()", "program.go:20: v3: o: block"},
		"func Program()":         {"func Programs()", "there is no func Program()"},
		"return Build(":          {"return []*tile.Program{nil}, nil\n\treturn Build(", "Program returns no program"},
		"t := tile.New(\"v3\")": {"panic(\"stop\")\n\tt := tile.New(\"v3\")", "program.go:10: your code panics: stop"},
		source:                   {"{}", "format"},
	} {
		s, err := Play(t.Context(), strings.Replace(source, old, c.with, 1), "v5e")
		if err != nil || !strings.Contains(s.Wrong, c.want) {
			t.Errorf("%s: %v, %q %v", c.with, err, s.Wrong, s.Mistakes)
		}
	}
}
