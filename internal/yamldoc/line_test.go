package yamldoc

import (
	"testing"

	"gopkg.in/yaml.v3"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		line  int
		words string
	}{
		{"a: 1\nb:\n  - {c: 1\n  - {c: 2}\n", 3, "did not find expected ',' or '}'"},
		{"a: 1\nb:\n  - [1\nc: 1\n", 3, "did not find expected ',' or ']'"},
		{"a: 1\nb:\n  - {c: 1}\n   - {c: 2}\n", 3, "did not find expected '-' indicator"},
		{"a: 1\nb:\n  - {c: 1}\n - {c: 2}\n", 4, "did not find expected key"},
		{"a: 1\nb:\n  - {c: 1}\n\t- {c: 2}\n", 4, "found character that cannot start any token"},
		{"a: 1\nb:\n  - \"c\n", 3, "found unexpected end of stream"},
		{"a: 1\nb: 2\n<<<<<<< HEAD\nc: 3\n", 3, "could not find expected ':'"},
		{"a: 1\nb: c: 2\n", 2, "mapping values are not allowed in this context"},
		{"a: 1\nb: ]\n", 2, "did not find expected node content"},
		{"a: [1\n", 1, "did not find expected ',' or ']'"},
		{"\ta: 1\n", 1, "found character that cannot start any token"},
		{"]\n", 1, "did not find expected node content"},
		{"a: 1\nb: \xff\n", 2, "invalid leading UTF-8 octet"},
		{"a: [", 1, "did not find expected node content"},
		{"a: 1\nb: *c\n", 0, "unknown anchor 'c' referenced"},
		{"\x00", 0, "control characters are not allowed"},
	} {
		var v any
		err := yaml.Unmarshal([]byte(test.text), &v)
		if err == nil {
			t.Errorf("%q is read as %v", test.text, v)
			continue
		}
		if line, words := cut(err.Error(), []byte(test.text)); line != test.line || words != test.words {
			t.Errorf("%q: %d, %q; want %d, %q", test.text, line, words, test.line, test.words)
		}
	}
	if line, words := cut("line 7: cannot unmarshal\na", nil); line != 7 || words != "cannot unmarshal a" {
		t.Errorf("%d, %q", line, words)
	}
}
