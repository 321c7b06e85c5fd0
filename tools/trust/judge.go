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

	"matladder/stats"

	"matladder/stats/twosample"
)

// The lengths of windows, in sets: files of a side, and pairs of turns.
const (
	filesASide = 8
	pairsOfAB  = 20 // of cmd/compare, as the others
	mostPairs  = 80
	windows    = 30
	band       = 0.02
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
	windows, sets             int // comparisons, and the sets that they are of
	used                      int // sets, by all comparisons together
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
	sets = slices.DeleteFunc(sets, func(s string) bool { // of a test of other programs
		_, err := os.Stat(filepath.Join(s, b.program+".csv"))
		return err != nil
	})
	if n.sets = len(sets); n.sets == 0 {
		return n, nil
	}
	least := filesASide
	if b.turns {
		least = pairsOfAB
	}
	if len(sets) < least+1 {
		return n, fmt.Errorf("%s has %d sets, a window is %d", b.condition, len(sets), least)
	}
	var sides [2][][]stats.Summary // by set
	for _, s := range sets {
		for i, name := range []string{reference.name, b.program} {
			var z stats.Summarizer
			if _, err := z.AddFile(ctx, filepath.Join(s, name+".csv")); err != nil {
				return n, err
			}
			sides[i] = append(sides[i], z.Summaries())
		}
	}
	for w := range min(windows, len(sets)) {
		at := w * len(sets) / min(windows, len(sets))
		if !b.turns {
			old, new, _ := window(sides, at, filesASide)
			list, _, _ := stats.Pair(old, new, band, false)
			n.add(list, b.program, filesASide)
			continue
		}
		for _, look := range twosample.Looks(pairsOfAB, min(mostPairs, len(sets))) {
			old, new, turns := window(sides, at, look.Pairs)
			list, _, _ := stats.PairTurns(old, new, stats.Turns{Pair: turns, Seed: uint64(w + 1), Share: look.Share}, band, false)
			unsure := func(c stats.Comparison) bool { return c.Verdict == stats.Unsure }
			if look.Pairs == min(mostPairs, len(sets)) || !slices.ContainsFunc(list, unsure) {
				n.add(list, b.program, look.Pairs)
				break
			}
		}
	}
	return n, nil
}

// window is so many sets from one on, and behind the last the first again.
func window(sides [2][][]stats.Summary, at, length int) (old, new []stats.Summary, turns map[string]int) {
	turns = map[string]int{}
	for i := range length {
		set := (at + i) % len(sides[0])
		old, new = append(old, sides[0][set]...), append(new, sides[1][set]...)
		for _, side := range sides {
			for _, s := range side[set] {
				turns[s.Pos.File] = i
			}
		}
	}
	return old, new, turns
}

func (n *count) add(list []stats.Comparison, program string, sets int) {
	n.windows, n.used = n.windows+1, n.used+sets
	failed := false
	for _, c := range list {
		if c.New.Kernel == slowed && program != again.name {
			n.slow++
			switch c.Verdict {
			case stats.Slower:
				n.found++
			case stats.Faster:
				n.wrongWay++
			}
			continue
		}
		n.verdicts++
		switch c.Verdict {
		case stats.Same:
			n.same++
		case stats.Faster, stats.Slower:
			n.false++
			failed = failed || c.Verdict == stats.Slower
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
			what = fmt.Sprintf("--ab, %d pairs on average", n.used/n.windows)
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
			n.windows, n.windows*n.sets/n.used, share(n.false, n.verdicts), share(n.same, n.verdicts), found, wrong, b.verdict(n))
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
