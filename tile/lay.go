package tile

import (
	"bytes"
	"strings"
)

// lineWidth is how long a line of a program as JSON may be before it is broken.
const lineWidth = 140

// lay appends compact JSON to out, depth spaces from the left, with line breaks in the
// objects and lists that are too long for a line.
func lay(out, text []byte, depth int) []byte {
	if len(text) <= lineWidth-depth || text[0] != '{' && text[0] != '[' {
		return append(out, text...)
	}
	out = append(out, text[0])
	for i, part := range parts(text[1 : len(text)-1]) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n"+strings.Repeat(" ", depth+1)...)
		if text[0] == '{' {
			key, value, _ := bytes.Cut(part, []byte(`":`)) // keys are words
			out = append(append(out, key...), `": `...)
			part = value
		}
		out = lay(out, part, depth+1)
	}
	return append(append(out, "\n"+strings.Repeat(" ", depth)...), text[len(text)-1])
}

// parts splits what is inside an object or a list at its commas.
func parts(text []byte) [][]byte {
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
