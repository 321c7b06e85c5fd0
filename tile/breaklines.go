package tile

import (
	"bytes"
	"strings"
)

// lineWidth is how many bytes of JSON stay on one line.
const lineWidth = 140

// breakLines appends compact JSON to out. Objects and lists too long for a line have each
// element on a line of its own, a space further to the right; depth is how many spaces
// text itself is indented.
func breakLines(out, text []byte, depth int) []byte {
	if len(text) <= lineWidth-depth || text[0] != '{' && text[0] != '[' {
		return append(out, text...)
	}
	out = append(out, text[0])
	for i, part := range elements(text[1 : len(text)-1]) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n"+strings.Repeat(" ", depth+1)...)
		if text[0] == '{' {
			key, value, _ := bytes.Cut(part, []byte(`":`)) // keys are field names, which have no quotes in them
			out = append(append(out, key...), `": `...)
			part = value
		}
		out = breakLines(out, part, depth+1)
	}
	return append(append(out, "\n"+strings.Repeat(" ", depth)...), text[len(text)-1])
}

// elements splits what is inside an object or a list at its own commas.
func elements(text []byte) [][]byte {
	var out [][]byte
	open, quoted, from := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
		case c == '}' || c == ']':
			open--
		case c == ',' && open == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}
