package main

import (
	"errors"
	"slices"
	"strconv"

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

func (r Row) sides() (ours, theirs Result) { return r.Ours, r.Pallas }

// Ratio is of our cycles of a step to those of Pallas; 0 if one is unknown.
func (r Row) Ratio() float64 { return ratio(r.Ours, r.Pallas) }

var header = []string{
	"libtpu", "topology", "dtype", "kernel", "size", "blocks", "outcome_ours", "outcome_pallas",
	"cycles_ours", "cycles_pallas", "ratio", "reason_ours", "reason_pallas",
}

func (r Row) record() []string {
	return append([]string{r.Libtpu, r.Topology, r.Dtype.String(), r.Kernel.Name(), strconv.Itoa(r.Size), r.Blocks.String()}, cells(r.Ours, r.Pallas)...)
}

func parseRow(f []string) (r Row, err error) {
	r.Libtpu, r.Topology = f[0], f[1]
	var errs [5]error
	r.Dtype, errs[0] = tile.ParseDtype(f[2])
	r.Kernel, errs[1] = kernels.Find(f[3])
	r.Size, errs[2] = strconv.Atoi(f[4])
	r.Blocks, errs[3] = problem.MatmulFamily.ParseBlocks(f[5])
	r.Ours, r.Pallas, errs[4] = parseCells(f[6:])
	return r, errors.Join(errs[:]...)
}

// Table has rows by Point.Key.
type Table map[string]Row

// ReadTable reads a table; a missing one is empty.
func ReadTable(path string) (Table, error) {
	t := Table{}
	err := readSheet(path, header, func(record []string) error {
		row, err := parseRow(record)
		if err == nil {
			t[row.Key()] = row
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Write writes a table whole, in the order of Matrix; rows of other points are
// dropped.
func (t Table) Write(path string) error { return writeSheet(path, header, Matrix(), t) }
