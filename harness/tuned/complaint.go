package tuned

import (
	"errors"
	"fmt"
	"regexp"

	"matladder/internal/yamlline"

	"gopkg.in/yaml.v3"
)

// The forms in which the YAML package complains.
var (
	valueForm   = regexp.MustCompile("^cannot unmarshal !!\\w+(?: `(.*)`)? into (.*)$")
	unknownForm = regexp.MustCompile(`^field (\S+) not found in type `)
	twiceForm   = regexp.MustCompile(`^mapping key "(.*)" already defined at line (\d+)$`)
)

// wanted says what a Go type of a layout means in a file.
var wanted = map[string]string{
	"tuned.fileLayout": "machine and rows", "[]yaml.Node": "a list of rows", "tuned.rowLayout": "a row, written as {key: value}",
	"string": "text", "int": "a whole number", "float64": "a number",
	"[]float64": "a list of numbers", "map[string]float64": "block shapes, each with a number",
}

// complaint says in words of tables what the YAML package found first in a text, and in
// which line: 0 if it does not say.
func complaint(err error, text []byte) (line int, words string) {
	words = err.Error()
	var values *yaml.TypeError
	syntax := !errors.As(err, &values)
	if !syntax {
		words = values.Errors[0]
	}
	line, words = yamlline.Cut(words, text)
	if m := valueForm.FindStringSubmatch(words); m != nil {
		words = "want " + wanted[m[2]]
		if m[1] != "" {
			words = fmt.Sprintf("%q: want %s", m[1], wanted[m[2]])
		}
	} else if m := unknownForm.FindStringSubmatch(words); m != nil {
		words = "unknown key " + m[1] + " of a table (known: machine, rows)"
	} else if m := twiceForm.FindStringSubmatch(words); m != nil {
		words = fmt.Sprintf("key %s is given twice, first in line %s", m[1], m[2])
	} else if syntax {
		words = "not YAML: " + words
	}
	return line, words
}
