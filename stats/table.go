package stats

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"matladder/results"
)

// Formats are the names WriteTable knows.
var Formats = []string{"text", "md", "csv", "json", "benchstat"}

// WriteTable writes the summaries in one of Formats: text and md as a Ladder
// with its notes, csv and json as one record a summary at full precision,
// benchstat as WriteBenchstat does. Text and md have columns of TableColumns besides, if
// more names them.
func WriteTable(w io.Writer, format string, summaries []Summary, more ...string) error {
	var buf bytes.Buffer
	var err error
	switch format {
	case "text":
		NewLadder(summaries, more...).text(&buf)
	case "md":
		NewLadder(summaries, more...).markdown(&buf)
	case "csv":
		err = writeFlatCSV(&buf, summaries)
	case "json":
		err = writeFlatJSON(&buf, summaries)
	case "benchstat":
		err = WriteBenchstat(&buf, summaries)
	default:
		err = fmt.Errorf("unknown table format %q, known are %s", format, strings.Join(Formats, ", "))
	}
	if err != nil {
		return err
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// Shown is what a table in one of Formats has of summaries if nobody picks kernels: for people
// the fastest blocks of each, for programs all.
func Shown(format string, summaries []Summary) []Summary {
	if format == "text" || format == "md" {
		return Best(summaries)
	}
	return summaries
}

// text writes l for a terminal, columns aligned.
func (l Ladder) text(w *bytes.Buffer) {
	for i, s := range l.Sections {
		if i > 0 {
			w.WriteString("\n")
		}
		fmt.Fprintln(w, s.Title)
		widths := s.widths()
		for _, row := range append([][]string{s.Header}, s.Rows...) {
			var line strings.Builder
			for i, cell := range row {
				line.WriteString("  ")
				line.WriteString(pad(oneLine(cell), widths[i], leftAligned(s.Header[i])))
			}
			fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
		}
	}
	if len(l.Notes) > 0 {
		w.WriteString("\n")
	}
	for _, note := range l.Notes {
		fmt.Fprintln(w, "note: "+oneLine(note))
	}
}

// markdown writes l as GitHub tables.
func (l Ladder) markdown(w *bytes.Buffer) {
	for i, s := range l.Sections {
		if i > 0 {
			w.WriteString("\n")
		}
		fmt.Fprintf(w, "**%s**\n\n", escape(s.Title))
		rule := make([]string, len(s.Header))
		for i, name := range s.Header {
			rule[i] = "---:"
			if leftAligned(name) {
				rule[i] = "---"
			}
		}
		for i, row := range append([][]string{s.Header, rule}, s.Rows...) {
			for c, cell := range row {
				if i != 1 {
					cell = escape(cell)
				}
				if c == 0 {
					w.WriteString("|")
				}
				w.WriteString(" " + cell + " |")
			}
			w.WriteString("\n")
		}
	}
	if len(l.Notes) > 0 {
		w.WriteString("\n")
	}
	for _, note := range l.Notes {
		fmt.Fprintln(w, "- "+escape(note))
	}
}

func (s Section) widths() []int {
	widths := make([]int, len(s.Header))
	for _, row := range append([][]string{s.Header}, s.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(oneLine(cell)))
		}
	}
	return widths
}

func pad(cell string, width int, left bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if left {
		return cell + space
	}
	return space + cell
}

// leftAligned reports whether a column holds words and not figures.
func leftAligned(name string) bool {
	switch name {
	case "kernel", "variant", "verdict", "backend", "isa", "operands", "dist", "blocks", "params", "status", "reason", "best peer", "interval", "product":
		return true
	}
	return false
}

func oneLine(s string) string { return strings.Join(strings.Fields(results.Clean(s)), " ") }

// escape keeps a text from being read as Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`).Replace(oneLine(s))
}
