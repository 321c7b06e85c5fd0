package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"matladder/internal/files"
	"matladder/kernels"
	"matladder/problem"
	"matladder/tile"
)

// Row compares one point.
type Row struct {
	Point
	Ours, Pallas Result
}

// Compared reports whether both compilers gave a verdict.
func (r Row) Compared() bool {
	verdict := []Outcome{Fits, TooBig, Unsupported, Failed}
	return slices.Contains(verdict, r.Ours.Outcome) && slices.Contains(verdict, r.Pallas.Outcome)
}

// Ratio is of our cycles of a step to those of Pallas; 0 if one is unknown.
func (r Row) Ratio() float64 {
	if r.Ours.Cycles == 0 || r.Pallas.Cycles == 0 {
		return 0
	}
	return r.Ours.Cycles / r.Pallas.Cycles
}

var header = []string{
	"libtpu", "topology", "dtype", "kernel", "size", "blocks", "outcome_ours", "outcome_pallas",
	"cycles_ours", "cycles_pallas", "ratio", "reason_ours", "reason_pallas",
}

func (r Row) record() []string {
	number := func(x float64, digits int) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'f', digits, 64)
	}
	return []string{
		r.Libtpu, r.Topology, r.Dtype.String(), r.Kernel.Name(), strconv.Itoa(r.Size), r.Blocks.String(),
		string(r.Ours.Outcome), string(r.Pallas.Outcome),
		number(r.Ours.Cycles, 2), number(r.Pallas.Cycles, 2), number(r.Ratio(), 4), r.Ours.Reason, r.Pallas.Reason,
	}
}

func parseRow(f []string) (r Row, err error) {
	r.Libtpu, r.Topology = f[0], f[1]
	var errs [4]error
	r.Dtype, errs[0] = tile.ParseDtype(f[2])
	r.Kernel, errs[1] = kernels.Find(f[3])
	r.Size, errs[2] = strconv.Atoi(f[4])
	r.Blocks, errs[3] = problem.MatmulFamily.ParseBlocks(f[5])
	err = errors.Join(errs[:]...)
	number := func(s string) (x float64) {
		if s != "" && err == nil {
			x, err = strconv.ParseFloat(s, 64)
		}
		return x
	}
	r.Ours = Result{Outcome(f[6]), f[11], number(f[8])}
	r.Pallas = Result{Outcome(f[7]), f[12], number(f[9])}
	return r, err
}

// Table has rows by Point.Key.
type Table map[string]Row

// ReadTable reads a table; one that is not there is empty.
func ReadTable(path string) (Table, error) {
	t := Table{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("%s:1: the columns are not those of this version: remove the file to begin anew", path)
	}
	for i, record := range records[1:] {
		row, err := parseRow(record)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		t[row.Key()] = row
	}
	return t, nil
}

// Write writes a table whole, in the order of Matrix; rows of other points are
// dropped.
func (t Table) Write(path string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(header)
	for _, p := range Matrix() {
		if row, ok := t[p.Key()]; ok {
			w.Write(row.record())
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return files.Replace(path, b.Bytes())
}
