package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"matladder/internal/each"
	"matladder/workshop"
)

// mostWeight is how much a slide takes: lines of 90 letters, a code line for one and a
// half of them.
const mostWeight = 15

// gapWeight is that of the gap between blocks.
const gapWeight = 0.6

const slidesHead = `---
marp: true
paginate: true
title: matladder, a workshop
style: |
  section { font-size: 26px; }
  pre { font-size: 18px; }
  table { font-size: 22px; }
---

# Why a matrix multiplication gets fast

75 minutes, a laptop, no accelerator.

` + "`go run ./cmd/workshop ready`" + `
`

var (
	answered = regexp.MustCompile(`(?s)<details><summary>(.*?)</summary>\n\n(.*?)\n</details>\n?`)
	heading  = regexp.MustCompile(`(?m)^## `)
	item     = regexp.MustCompile(`(?m)^(?:- |[0-9]+\. )`)
)

// deck turns the lessons into a deck for Marp (https://marp.app): a slide for each
// part, more where it is long, and all questions of a lesson ahead of the answers.
func deck() (string, error) {
	var b strings.Builder
	b.WriteString(slidesHead)
	for _, e := range workshop.All {
		page, err := e.Page()
		if err != nil {
			return "", err
		}
		parts := heading.Split(page, -1)
		slide(&b, parts[0])
		for _, part := range parts[1:] {
			title, body, _ := strings.Cut(part, "\n")
			if title == "Questions" {
				asked := answered.FindAllStringSubmatch(body, -1)
				all := "## " + title + "\n\n"
				for i, q := range asked {
					all += fmt.Sprintf("%d. %s\n", i+1, q[1])
				}
				slide(&b, all)
				for _, q := range asked {
					slide(&b, fmt.Sprintf("## %s\n\n%s\n", q[1], q[2]))
				}
				continue
			}
			for i, text := range portions(body) {
				head := title
				if i > 0 {
					head += " (continued)"
				}
				slide(&b, "## "+head+"\n\n"+text)
			}
		}
	}
	return b.String(), nil
}

func slide(b *strings.Builder, text string) {
	b.WriteString("\n---\n\n" + strings.TrimSpace(text) + "\n")
}

// A piece is what stays on one slide.
type piece struct {
	text, gap string // gap is what goes ahead of it if it is not the first
	weight    float64
	announced bool // by the piece before, which means little without it
}

// portions cuts a text between blocks and the items of lists into as few slides as it
// takes, about as full as each other. A block of code that fits none is cut between lines.
func portions(text string) []string {
	var list []piece
	for _, block := range blocks(text) {
		for i, part := range pieces(block) {
			p := piece{text: part, gap: "\n\n", weight: weigh(part)}
			switch last := len(list) - 1; {
			case i > 0 && isList(block):
				p.gap, p.weight = "\n", p.weight-gapWeight
			case i == 0 && last >= 0:
				p.announced = announces(list[last].text, part)
			}
			list = append(list, p)
		}
	}
	// cost[n] is the least of the first n pieces: slides count, then the squares of their
	// weights, and what is taken from what announced it.
	const perSlide, apart = 1e6, 150
	cost, from := make([]float64, len(list)+1), make([]int, len(list)+1)
	for n := 1; n <= len(list); n++ {
		cost[n] = math.Inf(1)
		weight := 0.0
		for first := n - 1; first >= 0; first-- {
			if weight += list[first].weight; weight > mostWeight && first < n-1 {
				break
			}
			c := cost[first] + perSlide + weight*weight
			if list[first].announced {
				c += apart
			}
			if c < cost[n] {
				cost[n], from[n] = c, first
			}
		}
	}
	var slides []string
	for n := len(list); n > 0; n = from[n] {
		var b strings.Builder
		for i, p := range list[from[n]:n] {
			if i > 0 {
				b.WriteString(p.gap)
			}
			b.WriteString(p.text)
		}
		slides = append(slides, b.String())
	}
	slices.Reverse(slides)
	return slides
}

// announces reports whether a block is a line that ends in a colon, or a command ahead of
// what it prints.
func announces(block, next string) bool {
	return strings.HasSuffix(block, ":") || strings.HasSuffix(block, "```") && (strings.HasPrefix(next, "```text") || strings.HasPrefix(next, "```recorded"))
}

// isList reports whether a block is a list or a paragraph with one behind it.
func isList(block string) bool { return item.MatchString(block) && !strings.HasPrefix(block, "```") }

// blocks are paragraphs, lists and fenced code.
func blocks(text string) []string {
	var list []string
	var block []string
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if line == "" && !fenced {
			if len(block) > 0 {
				list = append(list, strings.Join(block, "\n"))
			}
			block = nil
			continue
		}
		block = append(block, line)
	}
	if len(block) > 0 {
		list = append(list, strings.Join(block, "\n"))
	}
	return list
}

// pieces are the items of a list, and code and tables that are too long for a slide cut
// between their lines.
func pieces(block string) []string {
	lines := strings.Split(block, "\n")
	if isList(block) {
		var list []string
		for i, line := range lines {
			if i > 0 && !item.MatchString(line) { // an item goes on
				list[len(list)-1] += "\n" + line
				continue
			}
			list = append(list, line)
		}
		return list
	}
	if weigh(block) <= mostWeight || len(lines) < 3 {
		return []string{block}
	}
	open, shut := "", ""
	if strings.HasPrefix(block, "```") {
		open, shut = lines[0]+"\n", "\n```"
		lines = lines[1 : len(lines)-1]
	}
	var list []string
	var piece []string
	for _, line := range lines {
		if len(piece) > 0 && weigh(open+strings.Join(append(piece, line), "\n")) > mostWeight {
			list = append(list, open+strings.Join(piece, "\n")+shut)
			piece = nil
		}
		piece = append(piece, line)
	}
	return append(list, open+strings.Join(piece, "\n")+shut)
}

func weigh(block string) float64 {
	code := strings.HasPrefix(block, "```")
	w := gapWeight
	for line := range strings.Lines(block) {
		if code {
			w += 0.75
		} else {
			w += float64(1 + utf8.RuneCountInString(line)/90)
		}
	}
	return w
}

var (
	predict  = regexp.MustCompile(`(?s)\n## Predict\n\n(.*?)\n## Run\n`)
	inWords  = regexp.MustCompile(`(?s)\n## Words\n\n(.*?)\n## Predict\n`)
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	exercise = regexp.MustCompile(`(?s)\n## Exercise\n\n(.*?)\n## Questions\n`)
	question = regexp.MustCompile(`(?m)^\d+\. .*$`)
	runs     = regexp.MustCompile(`(?m)^go run .*$`)
)

// handout is what people are given on paper: the words of each lesson, its predictions
// with room to write, its commands, and the file of its exercise.
func handout() (string, error) {
	var b strings.Builder
	b.WriteString("# Why a matrix multiplication gets fast\n\nName: ______________________   Machine: ______________________\n\n" +
		"Begin with `go run ./cmd/workshop ready`. A prediction is written here, or with `go run ./cmd/workshop predict 0 \"…\"`; at the end `go run ./cmd/workshop predict` shows all beside what came out, and `go run ./cmd/workshop collect NAME` makes the file to hand in.\n")
	for _, e := range workshop.All {
		page, err := e.Page()
		if err != nil {
			return "", err
		}
		title, _, _ := strings.Cut(page, "\n")
		fmt.Fprintf(&b, "\n## %s\n", strings.TrimPrefix(title, "# "))
		if m := inWords.FindStringSubmatch(page); m != nil {
			terms := each.Of(bold.FindAllStringSubmatch(m[1], -1), func(t []string) string { return t[1] })
			fmt.Fprintf(&b, "\nWords: %s.\n", strings.Join(terms, ", "))
		}
		if m := predict.FindStringSubmatch(page); m != nil {
			asked := question.FindAllString(m[1], -1)
			if asked == nil {
				asked = []string{strings.TrimSpace(m[1])}
			}
			for _, q := range asked {
				fmt.Fprintf(&b, "\n%s\n\nMine: ____________________________   It was: ____________________________\n", q)
			}
		}
		b.WriteString("\n```\n" + strings.Join(runs.FindAllString(page, -1), "\n") + "\n```\n")
		if exercise.MatchString(page) {
			fmt.Fprintf(&b, "\nExercise: `%s`, %s. Right: ☐\n", e.File(), e.Title)
		}
	}
	return b.String(), nil
}
