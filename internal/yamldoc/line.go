package yamldoc

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	form = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

	// placed are the complaints of gopkg.in/yaml.v3 about a place, which name no line if
	// it is the first. Those that are early count it from 0: those of its parser. Its
	// scanner's and those about values are counted from 1.
	placed = regexp.MustCompile(`^(found|did not find) `)
	early  = regexp.MustCompile(`^(did not find expected (',' or '[\]}]'|'-' indicator|key|node content|<)|found (duplicate %|incompatible YAML|undefined tag))`)
)

// cut cuts a complaint about a text into the line, from 1, and what it says, without
// line breaks. The line is 0 where it is not known. It is that where the part of the
// text begins that is wrong, or where that was found.
func cut(complaint string, text []byte) (line int, words string) {
	newline := []byte("\n")
	m := form.FindStringSubmatch(complaint)
	words = strings.ReplaceAll(complaint[len(m[0]):], "\n", " ")
	line, _ = strconv.Atoi(m[1])
	switch {
	case strings.Contains(words, "UTF-8"):
		line = 1 + bytes.Count(text[:max(0, bytes.IndexRune(text, utf8.RuneError))], newline)
	case early.MatchString(words):
		line++
		fallthrough
	case placed.MatchString(words): // what is missing is missed behind the last line
		line = min(max(1, line), 1+bytes.Count(bytes.TrimRight(text, "\n"), newline))
	}
	return line, words
}
