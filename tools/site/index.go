package main

import (
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// index is the page that lists all others: the site's navigation.
const index = "docs/README.md"

// A group is a section of the navigation.
type group struct {
	title   string
	entries []entry
}

type entry struct {
	page         *page
	title, about string
	inner        bool // an item of a list within an item
}

// readIndex makes the navigation: the sections of the index, in its order; commands and live
// pieces; at last pages that nobody lists. With an index it is a problem when a page of docs,
// a lesson or a ladder's README is in none of its lists, or in two.
func (s *site) readIndex() {
	listed := map[*page]int{}
	source, err := readFile(s.repo, index)
	if err == nil {
		s.nav = s.readGroups(source, listed)
	}
	s.nav = slices.Insert(s.nav, 0, group{title: "Start", entries: []entry{{page: s.bySource["README.md"], title: "matladder"}}})
	if p := s.bySource[index]; p != nil {
		s.nav[0].entries = append(s.nav[0].entries, entry{page: p, title: "All pages"})
	}
	if live := s.byOutput[livePage]; live != nil && listed[live] == 0 {
		s.nav[0].entries = append(s.nav[0].entries, entry{page: live, title: live.title})
	}
	var tools, rest group
	tools.title, rest.title = "Commands", "Other pages"
	for _, p := range s.pages {
		dir, name := path.Split(p.source)
		top := name != "README.md" || strings.Count(dir, "/") < 3 // README.md of a ladder, not of its rungs
		switch {
		case p.hidden || p.source == "README.md" || p.source == index || p.output == livePage:
		case listed[p] > 1:
			s.problems = append(s.problems, index+": lists "+p.source+" twice")
		case listed[p] == 1:
		case path.Dir(p.output) == "commands":
			tools.entries = append(tools.entries, entry{page: p, title: p.title})
		case top && s.inPatterns(p.source):
			rest.entries = append(rest.entries, entry{page: p, title: p.title})
			if err == nil {
				s.problems = append(s.problems, index+": does not list "+p.source)
			}
		}
	}
	at := len(s.nav)
	for i, g := range s.nav {
		if g.title == "Reference" {
			at = i + 1
		}
	}
	if len(tools.entries) > 0 {
		s.nav = slices.Insert(s.nav, at, tools)
	}
	if len(rest.entries) > 0 {
		slices.SortStableFunc(rest.entries, func(a, b entry) int { return strings.Compare(path.Dir(a.page.source), path.Dir(b.page.source)) })
		s.nav = append(s.nav, rest)
	}
}

func (s *site) inPatterns(source string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, source)
		return ok
	})
}

// readGroups reads the sections of the index and counts how often each page is listed. Items
// without a link to a page of the site are left out, and so are headings without items.
func (s *site) readGroups(source []byte, listed map[*page]int) []group {
	var groups []group
	doc := markdown.Parser().Parse(text.NewReader(source))
	ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				groups = append(groups, group{title: plain(n, source)})
			}
		case *ast.ListItem:
			e, ok := s.entryOf(n, source)
			if !ok || len(groups) == 0 {
				break
			}
			listed[e.page]++
			g := &groups[len(groups)-1]
			g.entries = append(g.entries, e)
		}
		return ast.WalkContinue, nil
	})
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.entries) == 0 })
}

// entryOf is the page that an item begins with a link to, and the rest of its first line.
func (s *site) entryOf(item *ast.ListItem, source []byte) (entry, bool) {
	block := item.FirstChild()
	if block == nil {
		return entry{}, false
	}
	l, ok := block.FirstChild().(*ast.Link)
	if !ok {
		return entry{}, false
	}
	dest, _, _ := strings.Cut(string(l.Destination), "#")
	p := s.pageAt(path.Join(path.Dir(index), dest))
	if p == nil {
		return entry{}, false
	}
	var about strings.Builder
	for n := l.NextSibling(); n != nil; n = n.NextSibling() {
		about.WriteString(plain(n, source))
	}
	_, inner := item.Parent().Parent().(*ast.ListItem)
	return entry{page: p, title: plain(l, source), about: strings.TrimLeft(about.String(), " :–—-,"), inner: inner}, true
}
