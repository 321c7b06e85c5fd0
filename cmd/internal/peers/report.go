package peers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"matladder/internal/cli"
	"matladder/internal/files"
	"matladder/results"
	"matladder/stats"
)

// peersMarks is the name of the marks around the report in a page.
const peersMarks = "peers"

// report writes the comparison of what is in files as Markdown, each under the name
// of its sweep, numbered where one comes again, or puts it between the marks of a page.
func report(ctx context.Context, names []string, page, note string, stdout io.Writer) error {
	var text bytes.Buffer
	if note != "" {
		fmt.Fprintf(&text, "%s\n\n", note)
	}
	runs := map[string]int{} // of a sweep
	for i, name := range names {
		file, err := results.ReadFileContext(ctx, name)
		if err != nil {
			return cli.Input("report", err)
		}
		if len(file.Rows) == 0 {
			return fmt.Errorf("%s has no rows; measure some with: go run ./cmd/peers", name)
		}
		if i > 0 {
			fmt.Fprintln(&text)
		}
		if of := strings.Join(sweeps(file.Rows), " and "); of != "" {
			again := ""
			if runs[of]++; runs[of] > 1 {
				again = fmt.Sprintf(", run %d", runs[of])
			}
			fmt.Fprintf(&text, "## Sweep %s%s\n\n", of, again)
		}
		fmt.Fprintf(&text, "%s\n\n", origin(file.Rows))
		if err := stats.WriteContests(&text, "md", stats.Best(stats.Summarize(file.Rows))); err != nil {
			return err
		}
	}
	if page == "" {
		_, err := stdout.Write(text.Bytes())
		return err
	}
	whole, err := cli.Fill("page", page, peersMarks, text.Bytes())
	if err != nil {
		return err
	}
	return files.Replace(page, whole)
}

// started is what the name of a run ends with, behind that of its sweep.
var started = regexp.MustCompile(`-\d{8}T\d{6}-\d{6}$`)

// sweeps lists the sweeps that rows are of, as their runs name them. Runs that are
// named otherwise are left out.
func sweeps(rows []results.Record) []string {
	var names []string
	for i := range rows {
		id := rows[i].RunID
		if name := started.ReplaceAllString(id, ""); name != id && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// origin says when, on what and with which program rows were measured.
func origin(rows []results.Record) string {
	var days, devices, versions []string
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for i := range rows {
		r := &rows[i]
		add(&days, r.StartedAt.UTC().Format("2006-01-02"))
		add(&devices, r.Device)
		add(&versions, r.MatladderVersion)
	}
	return fmt.Sprintf("Measured on %s, %s, matladder %s.", strings.Join(days, " and "), strings.Join(devices, " and "), strings.Join(versions, " and "))
}
