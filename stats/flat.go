package stats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matladder/internal/each"
	"matladder/results"
)

// A flatColumn is one column of a summary for programs. Its value is a string,
// a number, or nil where nothing is known.
type flatColumn struct {
	name  string
	value func(s *Summary) any
}

// flatColumns are those of the rows which are the same for a whole point,
// then the figures made from them.
var flatColumns = func() []flatColumn {
	var list []flatColumn
	perRow := []string{"schema", "reason", "status", "round", "rep", "offset_seconds", "launches", "seconds", "compile_seconds"}
	for _, name := range results.Columns {
		value := func(s *Summary) any { return s.Value(name) }
		switch {
		case name == "family":
			value = func(s *Summary) any { return s.FamilyName() }
		case name == "shape":
			value = func(s *Summary) any { return s.ShapeName() }
		case slices.Contains(eventColumns[:], name): // of a launch
			value = func(s *Summary) any {
				if n, known := s.Events[name]; known {
					return n
				}
				return nil
			}
		case slices.Contains(perRow, name), results.OfConditions(name):
			continue
		}
		list = append(list, flatColumn{name, value})
	}
	list = append(list,
		flatColumn{"status", func(s *Summary) any { return string(s.Status) }},
		flatColumn{"reason", func(s *Summary) any { return orNil(s.Reason) }},
		flatColumn{"samples", func(s *Summary) any { return s.Time.N }},
		flatColumn{"disturbed", func(s *Summary) any { return s.Disturbed }},
		flatColumn{"rough", func(s *Summary) any { return s.LowConfidence }},
		flatColumn{"confidence", func(s *Summary) any { return known(s.Time, s.Time.Confidence) }})
	list = append(list, threeColumns("time_seconds", func(s *Summary) Estimate { return s.Time })...)
	for _, at := range []struct {
		name string
		q    float64
	}{{"time_seconds_min", 0}, {"time_seconds_p20", 0.2}, {"time_seconds_p80", 0.8}} {
		list = append(list, flatColumn{at.name, func(s *Summary) any {
			if v, ok := s.TimeAt(at.q); ok {
				return known(s.Time, v)
			}
			return nil
		}})
	}
	list = append(list, threeColumns("dispatch_seconds", func(s *Summary) Estimate { return s.Dispatch })...)
	list = append(list, threeColumns("flops_per_second", func(s *Summary) Estimate { return s.rateIf(s.RateOf() != results.Bytes) })...)
	list = append(list, threeColumns("bytes_per_second", func(s *Summary) Estimate { return s.rateIf(s.RateOf() == results.Bytes) })...)
	list = append(list, threeColumns("percent_of_peak", func(s *Summary) Estimate { return s.PercentOfPeak })...)
	list = append(list, threeColumns("percent_of_baseline", func(s *Summary) Estimate { return s.PercentOfBaseline })...)
	list = append(list,
		flatColumn{"joules_per_launch", func(s *Summary) any { return orNil(s.Energy.Joules) }},
		flatColumn{"watts", func(s *Summary) any { return orNil(s.Energy.Watts) }},
		flatColumn{"work_per_joule", func(s *Summary) any { return orNil(s.WorkPerJoule()) }},
		flatColumn{"below", func(s *Summary) any { return orNil(s.Below) }})
	list = append(list, threeColumns("over_below", func(s *Summary) Estimate { return s.OverBelow })...)
	return append(list, flatColumn{"warnings", func(s *Summary) any { return orNil(strings.Join(s.Warnings, "; ")) }})
}()

// rateIf is the rate, or an unknown one.
func (s *Summary) rateIf(wanted bool) Estimate {
	if wanted {
		return s.Rate
	}
	return Estimate{}
}

// threeColumns makes three columns of an estimate: name, name_lo and name_hi.
func threeColumns(name string, of func(s *Summary) Estimate) []flatColumn {
	return []flatColumn{
		{name, func(s *Summary) any { return known(of(s), of(s).Median) }},
		{name + "_lo", func(s *Summary) any { return known(of(s), of(s).Lo) }},
		{name + "_hi", func(s *Summary) any { return known(of(s), of(s).Hi) }},
	}
}

// known returns v, or nil where e is unknown or rows of absurd size made v overflow.
func known(e Estimate, v float64) any {
	if !e.Known() || math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return v
}

// orNil is a text or a figure, or nil for none.
func orNil[T string | float64](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func writeFlatCSV(buf *bytes.Buffer, summaries []Summary) error {
	w := csv.NewWriter(buf)
	header := each.Of(flatColumns, func(c flatColumn) string { return c.name })
	w.Write(header)
	for i := range summaries {
		cells := make([]string, len(flatColumns))
		for c, column := range flatColumns {
			switch v := column.value(&summaries[i]).(type) {
			case nil:
			case float64:
				cells[c] = strconv.FormatFloat(v, 'g', -1, 64)
			case string:
				cells[c] = spreadsheetSafe(v)
			default:
				cells[c] = fmt.Sprint(v)
			}
		}
		w.Write(cells)
	}
	w.Flush()
	return w.Error()
}

// spreadsheetSafe puts an apostrophe before a text that spreadsheets would take for a
// formula, and run: names and reasons come from files of others. It is made safe to print, too.
func spreadsheetSafe(text string) string {
	text = results.Clean(text)
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// writeFlatJSON writes an array with one object a line, keys in column order.
func writeFlatJSON(buf *bytes.Buffer, summaries []Summary) error {
	var objects []string
	for i := range summaries {
		var members []string
		for _, column := range flatColumns {
			value, err := json.Marshal(column.value(&summaries[i]))
			if err != nil {
				return fmt.Errorf("summary of %s: %s: %w", summaries[i].Kernel, column.name, err)
			}
			members = append(members, fmt.Sprintf("%q: %s", column.name, value))
		}
		objects = append(objects, "\n{"+strings.Join(members, ", ")+"}")
	}
	buf.WriteString("[" + strings.Join(objects, ",") + "\n]\n")
	return nil
}
