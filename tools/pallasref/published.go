package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"matladder/tile"
)

// publishedHeader are the columns of model/testdata/attention_published.csv: attention of
// which tokamax published a time, on what blocks, in what layouts, by which of libtpu's
// schedulers; the cycles of a step of its kernel and of our v3_flash on the same blocks, empty
// where that does not fit; and what was published.
var publishedHeader = strings.Split("chip,batch,length,heads,columns,rows,keys,piece,layouts,scheduler,cycles,cycles_v3_flash,blind,time_ms", ",")

// Its columns of layouts, of the scheduler and of what is filled.
const layoutsColumn, schedulerColumn, cyclesColumn, oursColumn = 8, 9, 10, 11

// publishedRow is a line of the table as it stands.
type publishedRow []string

// Key tells rows apart: all that was asked for.
func (r publishedRow) Key() string { return strings.Join(r[:cyclesColumn], " ") }

func (r publishedRow) record() []string { return r }

func (publishedRow) sides() (ours, theirs Result) { return ours, theirs }

// point is what was published, to be compiled beside ours: with a scale that our kernel
// multiplies scores by, as docs/prediction.md has it.
func (r publishedRow) point() (FamilyPoint, error) {
	var n [layoutsColumn]int
	var err error
	for i := 1; i < len(n) && err == nil; i++ {
		n[i], err = strconv.Atoi(r[i])
	}
	var layouts []int
	for _, s := range strings.Fields(r[layoutsColumn]) {
		layout, wrong := strconv.Atoi(s)
		layouts, err = append(layouts, layout), errors.Join(err, wrong)
	}
	return FamilyPoint{
		Library: tokamax + "splash", Topology: r[0], Sizes: []int{n[2], n[4]}, Blocks: tile.Blocks{M: n[5], K: n[6], N: n[7]},
		Asked: map[string]any{"layouts": layouts, "scheduler": r[schedulerColumn] == "1"}, Scaled: true,
	}, err
}

// fillPublished compiles the published kernels of a table, and ours on the same blocks, and
// writes the cycles of their steps into it; ours alone if that is named again. What was
// published is not looked at.
func fillPublished(ctx context.Context, python, path, again string, limit time.Duration, over func() bool, stdout io.Writer) error {
	var order []publishedRow
	rows := map[string]publishedRow{}
	err := readSheet(path, publishedHeader, func(f []string) error {
		order = append(order, f)
		rows[publishedRow(f).Key()] = f
		return nil
	})
	if err != nil {
		return err
	}
	at, err := find(versions[0])
	if err != nil {
		return err
	}
	c, err := NewComparer(python, at, limit)
	if err != nil {
		return err
	}
	c.pallas.Script, c.tokamax.Script = library, tokamaxLibrary
	defer c.Close()
	for _, r := range order {
		if over() {
			break
		}
		p, err := r.point()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, r.Key(), err)
		}
		sides := map[int]Result{}
		if isAgain(again, p.kernel()) {
			sides[oursColumn], err = c.FamilyOurs(ctx, p)
		} else {
			sides[oursColumn], sides[cyclesColumn], err = c.CompareFamily(ctx, p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.Key(), err)
		}
		for column, x := range sides {
			if r[column] = ""; x.Cycles > 0 {
				r[column] = strconv.Itoa(int(math.Round(x.Cycles)))
			}
		}
		if err := writeSheet(path, publishedHeader, order, rows); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s, v3_flash %s%s\n", r.Key(), r[cyclesColumn], r[oursColumn], sides[oursColumn].Reason)
	}
	return nil
}
