package stats

import (
	"bytes"
	"fmt"
	"io"
	"slices"
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
	case "text", "md":
		return NewLadder(summaries, more...).write(w, format)
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

// write writes l as text or md.
func (l Ladder) write(w io.Writer, format string) error {
	var b bytes.Buffer
	section, note := Section.text, func(text string) string { return "note: " + oneLine(text) }
	if format == "md" {
		section, note = Section.markdown, func(text string) string { return "- " + escape(text) }
	}
	for i, s := range l.Sections {
		if i > 0 {
			b.WriteString("\n")
		}
		section(s, &b)
	}
	if len(l.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, text := range l.Notes {
		fmt.Fprintln(&b, note(text))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// text writes s for a terminal, columns aligned.
func (s Section) text(w *bytes.Buffer) {
	fmt.Fprintln(w, s.Title)
	rows := append([][]string{s.Header}, s.Rows...)
	widths := make([]int, len(s.Header))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(oneLine(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			width := widths[i]
			if leftAligned(s.Header[i]) {
				width = -width
			}
			fmt.Fprintf(&line, "  %*s", width, oneLine(cell))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// markdown writes s as a table of GitHub.
func (s Section) markdown(w *bytes.Buffer) {
	fmt.Fprintf(w, "**%s**\n\n", escape(s.Title))
	rule := make([]string, len(s.Header))
	for i, name := range s.Header {
		rule[i] = "---:"
		if leftAligned(name) {
			rule[i] = "---"
		}
	}
	for i, row := range append([][]string{s.Header, rule}, s.Rows...) {
		cells := slices.Clone(row)
		for c := range cells {
			if i != 1 {
				cells[c] = escape(cells[c])
			}
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
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
