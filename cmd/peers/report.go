package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"matladder/internal/cli"
	"matladder/results"
)

// peersMarks is the name of the marks around the report in a page.
const peersMarks = "peers"

// report writes the comparison of what is in files as Markdown, or puts it between
// the marks of a page.
func report(files []string, page, note string, stdout io.Writer) error {
	var text bytes.Buffer
	if note != "" {
		fmt.Fprintf(&text, "%s\n\n", note)
	}
	for i, name := range files {
		file, err := results.ReadFile(name)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(&text)
		}
		fmt.Fprintf(&text, "%s\n\n", origin(file.Rows))
		if err := results.WriteContests(&text, "md", results.Best(results.Summarize(file.Rows))); err != nil {
			return err
		}
	}
	if page == "" {
		_, err := stdout.Write(text.Bytes())
		return err
	}
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	whole, err := cli.Between(old, text.Bytes(), peersMarks)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, whole, 0o644)
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
