package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Line returns as much of a line as the terminal w shows in one row beside so many
// columns that are taken: a longer one could not be written over. It is all of the line
// where w is no terminal or does not tell its width.
func Line(w io.Writer, line string, taken int) string {
	f, ok := w.(*os.File)
	if !ok {
		return line
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return line
	}
	return cut(line, columns-taken)
}

// Terminal reports whether w is a terminal, on which a line can be written over.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// cut shortens text to so many characters, the last of them then an ellipsis.
func cut(text string, most int) string {
	runes := []rune(text)
	switch {
	case len(runes) <= most:
		return text
	case most < 1:
		return ""
	}
	return string(runes[:most-1]) + "…"
}
