package stats

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/model/anatomy"
	"matladder/results"
	"matladder/stats/interval"
)

// Formats are the names WriteTable knows.
var Formats = []string{"text", "md", "csv", "json", "benchstat"}

// WriteTable writes the summaries in one of Formats: text and md as a Ladder with its notes, csv
// and json as one record a summary at full precision, benchstat as WriteBenchstat does. Text and
// md have columns of TableColumns besides, if more names them.
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
// the fastest blocks of each, and steps of package anatomy, the slowest first; for programs all.
func Shown(format string, summaries []Summary) []Summary {
	if format == "text" || format == "md" {
		steps := each.That(summaries, isStep)
		slices.SortStableFunc(steps, func(a, b Summary) int { return cmp.Compare(b.Time.Median, a.Time.Median) })
		return append(Best(each.That(summaries, func(s Summary) bool { return !isStep(s) })), steps...)
	}
	return summaries
}

func isStep(s Summary) bool { return strings.Contains(s.Params, anatomy.Param+"=") }

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
			if slices.Contains(leftAligned, s.Header[i]) {
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
		if slices.Contains(leftAligned, name) {
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

// leftAligned are the columns that hold words and not figures.
var leftAligned = []string{"kernel", "variant", "verdict", "backend", "isa", "operands", "inputs", "load", "blocks", "params", "status", "with the run of", "build", "reason", "best peer", "interval", "product"}

func oneLine(s string) string { return strings.Join(strings.Fields(results.Clean(s)), " ") }

// escape keeps a text from being read as Markdown or HTML.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`).Replace(oneLine(s))
}

// FormatSeconds writes a time with three digits and the unit that suits it: "1.23 ms".
func FormatSeconds(s float64) string {
	for _, u := range [...]struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		// 0.9995 and not 1: what rounds to 1000 of a unit is 1 of the next.
		if math.Abs(s) >= 0.9995*u.size {
			return words.Figure(s/u.size) + " " + u.name
		}
	}
	return words.Figure(s/1e-9) + " ns"
}

// formatError writes an error, which may be tiny, with two digits.
func formatError(v results.Optional[float64]) string { return words.When(v.Known, "%.2g", v.Value) }

// firstLine returns the first line of s, at most 60 characters of it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// FormatMemory writes an amount of memory for people, 1.25 GiB; nothing for none.
func FormatMemory(bytes int64) string {
	v, unit := float64(bytes)/(1<<20), " MiB"
	switch {
	case bytes <= 0:
		return ""
	case v >= 1024:
		v, unit = v/1024, " GiB"
	}
	return words.Figure(v) + unit
}

// TableColumns are the names of the columns that a table for people has on request.
var TableColumns = each.Of(extraColumns, func(c ladderColumn) string { return c.name })

// extraColumns are those columns.
var extraColumns = []ladderColumn{
	{name: "min", cell: func(s *Summary) string { return s.secondsCell(s.TimeAt(0)) }},
	{name: "p20", cell: func(s *Summary) string { return s.secondsCell(s.TimeAt(0.2)) }},
	{name: "p80", cell: func(s *Summary) string { return s.secondsCell(s.TimeAt(0.8)) }},
	{name: "n", cell: func(s *Summary) string { return positive(s.Time.N) }},
	{name: "disturbed", cell: func(s *Summary) string { return positive(s.Disturbed) }},
	eventColumn("cycles"),
	{name: "ipc", cell: (*Summary).ipcCell},
	eventColumn("l2_misses"),
	eventColumn("l3_misses"),
	eventColumn("dtlb_misses"),
	energyColumn("joules"),
	energyColumn("watts"),
	energyColumn("per_joule"),
}

// ParseTableColumns reads names of TableColumns, joined by commas.
func ParseTableColumns(text string) ([]string, error) {
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(TableColumns, names[i]) {
			return nil, fmt.Errorf("unknown column %q (known: %s)", names[i], strings.Join(TableColumns, ", "))
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("%s is listed twice", names[i])
		}
	}
	return names, nil
}

// TimeAt returns the time of a launch, in seconds, at a quantile of the samples that the figures
// rest on, between two of them where it lies between; false without samples, and of a prediction.
func (s *Summary) TimeAt(q float64) (seconds float64, ok bool) {
	if s.Mode != results.Measured || !s.Time.Known() {
		return 0, false
	}
	seconds = interval.Quantile(slices.Sorted(slices.Values(s.timing.samples)), q)
	return seconds, seconds > 0
}

func (s *Summary) secondsCell(seconds float64, known bool) string {
	return words.When(known, "%s%s", markOf(s.Time), FormatSeconds(seconds))
}
