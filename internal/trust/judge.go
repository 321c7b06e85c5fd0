package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matladder/results"
)

// The lengths of windows, in sets: files of a side, and pairs of turns.
const (
	filesASide = 8
	pairsOfAB  = 20
	windows    = 30
	band       = 0.02 // of cmd/compare
)

// A bar is what verdicts must hold.
type bar struct {
	condition, program string
	turns              bool
	text               string
	found              float64 // percent of the slowed kernel's verdicts that must be SLOWER; 0 for none
	same               float64 // percent of verdicts that must be SAME; 0 for none
}

var bars = []bar{
	{"files", "again", false, "false ≤ 1 %, SAME ≥ 80 %", 0, 80},
	{"idle", "again", false, "false ≤ 1 %", 0, 0},
	{"one", "again", false, "false ≤ 1 %", 0, 0},
	{"all", "again", false, "false ≤ 1 %", 0, 0},
	{"bursts", "again", false, "false ≤ 1 %", 0, 0},
	{"quota", "again", false, "false ≤ 1 %", 0, 0},
	{"idle", "again", true, "false ≤ 1 %", 0, 0},
	{"one", "again", true, "false ≤ 1 %", 0, 0},
	{"all", "again", true, "false ≤ 1 %", 0, 0},
	{"bursts", "again", true, "false ≤ 1 %", 0, 0},
	{"quota", "again", true, "false ≤ 1 %", 0, 0},
	{"files", "slow5", false, "found ≥ 95 %", 95, 0},
	{"idle", "slow2", true, "found ≥ 80 %", 80, 0},
	{"idle", "slow5", true, "", 0, 0},
	{"all", "slow5", true, "found ≥ 90 %", 90, 0},
	{"idle", "slow5", false, "", 0, 0},
}

// A count is what verdicts came to.
type count struct {
	windows, independent      int // comparisons, and how many of them share no set
	verdicts, false, same     int // of points that do not differ
	slow, found, wrongWay     int // of the slowed points
	comparisons, falseFailure int // comparisons with a false SLOWER in them
}

// judge compares windows of the sets of a condition.
func (o *options) judge(ctx context.Context, b bar) (count, error) {
	var n count
	sets, err := sets(filepath.Join(o.folder, b.condition))
	if err != nil || len(sets) == 0 {
		return n, err
	}
	length := filesASide
	if b.turns {
		length = pairsOfAB
	}
	if len(sets) < length+1 {
		return n, fmt.Errorf("%s has %d sets, a window is %d", b.condition, len(sets), length)
	}
	rows := map[string][]results.Summary{}
	for _, s := range sets {
		for _, name := range []string{reference.name, b.program} {
			path := filepath.Join(s, name+".csv")
			var z results.Summarizer
			if _, err := z.AddFile(ctx, path); err != nil {
				return n, err
			}
			rows[path] = z.Summaries()
		}
	}
	n.independent = len(sets) / length
	last := -1
	for w := range windows {
		at := w * (len(sets) - length) / (windows - 1)
		if at == last {
			continue
		}
		last = at
		var old, new []results.Summary
		turns := map[string]int{}
		for i, s := range sets[at : at+length] {
			a, b := filepath.Join(s, reference.name+".csv"), filepath.Join(s, b.program+".csv")
			old, new = append(old, rows[a]...), append(new, rows[b]...)
			turns[a], turns[b] = i, i
		}
		var list []results.Comparison
		if b.turns {
			list, _, _ = results.PairTurns(old, new, turns, band, false, uint64(w+1))
		} else {
			list, _, _ = results.Pair(old, new, band, false)
		}
		n.add(list, b.program)
	}
	return n, nil
}

func (n *count) add(list []results.Comparison, program string) {
	n.windows++
	failed := false
	for _, c := range list {
		if c.New.Kernel == slowed && program != again.name {
			n.slow++
			switch c.Verdict {
			case results.Slower:
				n.found++
			case results.Faster:
				n.wrongWay++
			}
			continue
		}
		n.verdicts++
		switch c.Verdict {
		case results.Same:
			n.same++
		case results.Faster, results.Slower:
			n.false++
			failed = failed || c.Verdict == results.Slower
		}
	}
	if failed {
		n.falseFailure++
	}
}

// table prints what the tests gave, as Markdown.
func (o *options) table(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "| condition | compared | bar | comparisons (independent) | false verdicts | SAME | slower kernel found | wrong way | |")
	fmt.Fprintln(w, "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
	var all count // of one program
	lines := 0
	for _, b := range bars {
		n, err := o.judge(ctx, b)
		switch {
		case errors.Is(err, os.ErrNotExist), err == nil && n.windows == 0:
			continue
		case err != nil:
			return err
		}
		lines++
		at := slices.IndexFunc(conditions, func(c condition) bool { return c.name == b.condition })
		what := fmt.Sprintf("%d files a side", filesASide)
		if b.turns {
			what = fmt.Sprintf("--ab, %d pairs", pairsOfAB)
		}
		switch b.program {
		case again.name:
			what += ", one program"
			all.verdicts, all.false = all.verdicts+n.verdicts, all.false+n.false
			all.windows, all.falseFailure = all.windows+n.windows, all.falseFailure+n.falseFailure
		default:
			what += ", " + slowed + " " + strings.TrimPrefix(b.program, "slow") + " % slower"
		}
		found, wrong := "", ""
		if n.slow > 0 {
			found, wrong = share(n.found, n.slow), fmt.Sprint(n.wrongWay)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d (%d) | %s | %s | %s | %s | %s |\n", conditions[at].title, what, b.text,
			n.windows, n.independent, share(n.false, n.verdicts), share(n.same, n.verdicts), found, wrong, b.verdict(n))
	}
	fmt.Fprintf(w, "\nOf all verdicts on one program %s are FASTER or SLOWER; of %d comparisons of it, %d would have failed as slower.\n",
		share(all.false, all.verdicts), all.windows, all.falseFailure)
	if lines == 0 {
		return errors.New("nothing was tested yet")
	}
	return nil
}

func share(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d (%.3g %%)", n, of, 100*float64(n)/float64(of))
}

// verdict says whether the bar is held.
func (b bar) verdict(n count) string {
	held := 100*n.false <= n.verdicts && n.wrongWay == 0 &&
		float64(100*n.same) >= b.same*float64(n.verdicts) && float64(100*n.found) >= b.found*float64(n.slow)
	switch {
	case b.text == "":
		return ""
	case held:
		return "held"
	}
	return "missed"
}
