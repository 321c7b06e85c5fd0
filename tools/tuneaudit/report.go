package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"matladder/harness/tuned"
	"matladder/internal/each"
	"matladder/problem"
	"matladder/stats/interval"
	"matladder/tile"
)

// writeAudits writes audits as CSV, one row a job; times are in seconds.
func writeAudits(w io.Writer, audits []Audit) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"family", "kernel", "variant", "shape", "dtype_a", "dtype_b", "dtype_out", "quant", "epilogue", "options", "versions", "date",
		"tuner_blocks", "exhaustive_blocks", "default_blocks", "first_blocks",
		"over_exhaustive", "over_exhaustive_low", "over_exhaustive_high", "over_default", "over_default_low", "over_default_high",
		"over_first", "over_first_low", "over_first_high", "rounds",
		"tuner_candidates", "exhaustive_candidates", "exhaustive_samples",
		"tuner_launching", "exhaustive_launching", "exhaustive_short_launching", "tuner_elapsed", "exhaustive_elapsed",
	})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	seconds := func(d time.Duration) string { return number(d.Seconds()) }
	for _, a := range audits {
		k, e, d, f := a.Row.Key, a.OverExhaustive, a.OverDefault, a.OverFirst
		p := k.Problem.Asked()
		out.Write([]string{
			k.Problem.Family().Name, k.Kernel, k.Variant, k.Problem.Family().Shape(k.Problem.Sizes()), dtype(p.A), dtype(p.B), dtype(p.Out), string(p.Quant), string(p.Epilogue), p.Options,
			a.Row.Evidence.Versions, a.Row.Evidence.Date,
			a.Tuner.Blocks.String(), a.Exhaustive.Blocks.String(), a.Default.String(), a.First.String(),
			number(e.Median), number(e.Lo), number(e.Hi), number(d.Median), number(d.Lo), number(d.Hi),
			number(f.Median), number(f.Lo), number(f.Hi), strconv.Itoa(max(e.N, d.N, f.N)),
			strconv.Itoa(a.Tuner.Candidates), strconv.Itoa(a.Exhaustive.Candidates), strconv.Itoa(a.Samples),
			seconds(a.Tuner.Launching), seconds(a.Exhaustive.Launching), seconds(a.Short), seconds(a.Tuner.Elapsed), seconds(a.Exhaustive.Elapsed),
		})
	}
	out.Flush()
	return out.Error()
}

// writeReport writes audits as a Markdown table and below it what they come to.
func writeReport(w io.Writer, audits []Audit) error {
	var b strings.Builder
	b.WriteString("| size | kernel | dtypes | tuner | exhaustive | kernel's own | first choice | ÷ exhaustive | interval | ÷ own | interval | first takes | interval | shapes | time of launches | cost |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | ---: | --- | ---: | --- | ---: | --- | ---: | ---: | ---: |\n")
	for _, a := range audits {
		k := a.Row.Key
		asked := k.Problem.Asked()
		asked.Precision = tile.Default
		words := asked.String()
		if k.Variant != "" {
			words += " " + k.Variant
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d of %d | %.1f s of %.1f s | %.1f %% |\n",
			sizeOf(k), k.Kernel, words, times(a.Tuner.Blocks), times(a.Exhaustive.Blocks), times(a.Default), times(a.First),
			cells(a.OverExhaustive), cells(a.OverDefault), cells(a.OverFirst), a.Tuner.Candidates, a.Exhaustive.Candidates,
			a.Tuner.Launching.Seconds(), a.Exhaustive.Launching.Seconds(), percent(a.Tuner.Launching, a.Exhaustive.Launching))
	}
	b.WriteString("\n")
	if len(audits) > 0 {
		b.WriteString(conclusion("the best of the exhaustive search", audits, func(a Audit) interval.Interval { return a.OverExhaustive }))
		b.WriteString(conclusion("the fastest of the kernel's own candidates", audits, func(a Audit) interval.Interval { return a.OverDefault }))
		b.WriteString(ofFirst(audits))
		b.WriteString(costs(audits))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cells are the figures of a comparison.
func cells(p interval.Interval) string {
	if p.N == 0 {
		return "1 | same shape"
	}
	return fmt.Sprintf("%.3f | %.3f – %.3f", p.Median, p.Lo, p.Hi)
}

// dtype names d; "" where there is none.
func dtype(d tile.Dtype) string {
	if d == tile.InvalidDtype {
		return ""
	}
	return d.String()
}

// conclusion is a line on the ratios of all audits.
func conclusion(than string, audits []Audit, of func(Audit) interval.Interval) string {
	logs := each.Sum(audits, func(a Audit) float64 { return math.Log(of(a).Median) })
	least := slices.MinFunc(audits, func(a, b Audit) int { return cmp.Compare(of(a).Median, of(b).Median) })
	return fmt.Sprintf("- the tuner's blocks are %.3f × as fast as %s in the geometric mean of %d, least %.3f × at %s; ",
		math.Exp(logs/float64(len(audits))), than, len(audits), of(least).Median, sizeOf(least.Row.Key)) + beyond("slower", func(p interval.Interval) bool { return p.Hi < 1 }, audits, of)
}

// ofFirst is a line on how good the first choices of kernels are.
func ofFirst(audits []Audit) string {
	of := func(a Audit) interval.Interval { return a.OverFirst }
	ratios := each.Of(audits, func(a Audit) float64 { return of(a).Median })
	worst := slices.MaxFunc(audits, func(a, b Audit) int { return cmp.Compare(of(a).Median, of(b).Median) })
	return fmt.Sprintf("- the kernel's first choice takes %.3f × as long as the best of the exhaustive search in the median of %d, %.3f × at most, at %s; ",
		interval.Of(ratios).Median, len(audits), of(worst).Median, sizeOf(worst.Row.Key)) + beyond("longer", func(p interval.Interval) bool { return p.Lo > 1 }, audits, of)
}

// beyond says in how many audits both shapes are the same, and in which one is beyond the
// interval.
func beyond(what string, is func(interval.Interval) bool, audits []Audit, of func(Audit) interval.Interval) string {
	same := 0
	var list []string
	for _, a := range audits {
		p := of(a)
		if p.N == 0 {
			same++
		}
		if is(p) {
			list = append(list, fmt.Sprintf("%s (%.3f)", sizeOf(a.Row.Key), p.Median))
		}
	}
	s := fmt.Sprintf("the same in %d; %s beyond the interval in ", same, what)
	if len(list) == 0 {
		return s + "none\n"
	}
	return s + fmt.Sprintf("%d: %s\n", len(list), strings.Join(list, ", "))
}

// costs is a line on what all audits cost.
func costs(audits []Audit) string {
	var ours, theirs Search
	var short time.Duration
	samples := audits[0].Samples
	for _, a := range audits {
		ours.Candidates += a.Tuner.Candidates
		ours.Launching += a.Tuner.Launching
		ours.Elapsed += a.Tuner.Elapsed
		theirs.Candidates += a.Exhaustive.Candidates
		theirs.Launching += a.Exhaustive.Launching
		theirs.Elapsed += a.Exhaustive.Elapsed
		short += a.Short
		samples = min(samples, a.Samples)
	}
	return fmt.Sprintf("- the tuner launches %d of %d block shapes and takes %.1f %% of the time of launches (%.1f s of %.1f s), %.1f %% of the wall time (%.1f s of %.1f s);"+
		" each shape of the exhaustive search has %d samples or more, and the tuner takes %.1f %% of one that stops at %d and races no leaders\n",
		ours.Candidates, theirs.Candidates, percent(ours.Launching, theirs.Launching), ours.Launching.Seconds(), theirs.Launching.Seconds(),
		percent(ours.Elapsed, theirs.Elapsed), ours.Elapsed.Seconds(), theirs.Elapsed.Seconds(),
		samples, percent(ours.Launching, short), interval.Enough)
}

func percent(part, whole time.Duration) float64 { return 100 * part.Seconds() / whole.Seconds() }

func sizeOf(k tuned.Key) string {
	sizes := k.Problem.Sizes()
	if i, ok := k.Problem.Family().Index(problem.BatchSize); ok {
		sizes[i] = 1
	}
	return strings.ReplaceAll(k.Problem.Family().Short(sizes), "x", "×")
}

func times(b tile.Blocks) string { return strings.ReplaceAll(b.String(), "x", "×") }

// timeLookups looks rows up in the table of a file, which it reads again for each: what
// a later run does in place of a search. Its times are in the order of the rows. It is
// an error if one is not found for its own key.
func timeLookups(path string, rows []tuned.Row) ([]time.Duration, error) {
	var list []time.Duration
	for _, r := range rows {
		begin := time.Now()
		t, err := tuned.ReadFile(path)
		if err != nil {
			return nil, err
		}
		have, ok := t.Lookup(r.Key)
		list = append(list, time.Since(begin))
		if want := (tuned.Answer{Blocks: r.Blocks, Params: r.Params, Source: tuned.Exact}); !ok || have != want {
			return nil, fmt.Errorf("%s: %s: found %s %s, want %s", path, r.Key, have, have.Source, want)
		}
	}
	return list, nil
}
