package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// rewrite makes the links and images of a page those of the site and keeps them for the check.
func (s *site) rewrite(p *page, doc ast.Node, source []byte) {
	ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(s.resolve(p, string(n.Destination), lineOf(n, string(n.Destination), source)))
		case *ast.Image:
			n.Destination = []byte(s.resolve(p, string(n.Destination), lineOf(n, string(n.Destination), source)))
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				s.attributes(p, line.Value(source), line.Start, source)
			}
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				piece := n.Segments.At(i)
				s.attributes(p, piece.Value(source), piece.Start, source)
			}
		}
		return ast.WalkContinue, nil
	})
}

// attribute finds links of HTML.
var attribute = regexp.MustCompile(`\b(?:href|src|srcset)="([^"]*)"`)

// attributes resolves the links of a piece of HTML. Pages of a repository and of its site
// lie alike, so that images are found where they are; a link to a page must be Markdown's.
func (s *site) attributes(p *page, piece []byte, start int, source []byte) {
	for _, at := range attribute.FindAllSubmatchIndex(piece, -1) {
		dest := string(piece[at[2]:at[3]])
		line := 1 + bytes.Count(source[:start+at[2]], []byte("\n"))
		if got := s.resolve(p, dest, line); got != dest {
			s.problems = append(s.problems, fmt.Sprintf("%s:%d: %s in HTML: write the link to a page in Markdown", p.source, line, dest))
		}
	}
}

// lineOf is the line of a link: that of its target in the block that it is in.
func lineOf(n ast.Node, dest string, source []byte) int {
	at := 0
	for b := n; b != nil; b = b.Parent() {
		if b.Type() == ast.TypeBlock && b.Lines() != nil && b.Lines().Len() > 0 {
			at = b.Lines().At(0).Start
			break
		}
	}
	if in := bytes.Index(source[at:], []byte(dest)); in >= 0 {
		at += in
	}
	return 1 + bytes.Count(source[:at], []byte("\n"))
}

// resolve is what a link of a page becomes. One that leads nowhere is a problem.
func (s *site) resolve(p *page, dest string, line int) string {
	if u, err := url.Parse(dest); err != nil || u.Scheme != "" || strings.HasPrefix(dest, "//") {
		if err != nil {
			s.problems = append(s.problems, fmt.Sprintf("%s:%d: %v", p.source, line, err))
		}
		return dest
	}
	target, anchor, hasAnchor := strings.Cut(dest, "#")
	if name, err := url.PathUnescape(target); err == nil {
		target = name
	}
	output := p.output
	if target != "" {
		to := path.Join(path.Dir(p.source), target)
		var ok bool
		if output, ok = s.outputAt(to); !ok {
			s.problems = append(s.problems, fmt.Sprintf("%s:%d: %s: no such file", p.source, line, dest))
			return dest
		}
		if strings.Contains(output, "://") {
			if hasAnchor {
				return output + "#" + anchor
			}
			return output
		}
	}
	s.links = append(s.links, link{p.source, line, dest, output, anchor})
	to := ""
	if output != p.output {
		to = (&url.URL{Path: relative(p.output, output)}).EscapedPath()
	}
	if hasAnchor {
		to += "#" + anchor
	}
	if to == "" {
		to = path.Base(p.output)
	}
	return to
}

// pageAt is the page of a path of the repository: of a Markdown file, a folder's README, a command.
func (s *site) pageAt(at string) *page {
	if p := s.bySource[at]; p != nil {
		return p
	}
	if p := s.bySource[path.Join(at, "README.md")]; p != nil {
		return p
	}
	return nil
}

// copied are the kinds of files that a browser shows by itself.
var copied = map[string]bool{".png": true, ".svg": true, ".gif": true, ".jpg": true, ".webp": true, ".html": true, ".pdf": true}

// outputAt is where a link to a path of the repository leads: to a page, to a copy of the file,
// or to its place on the repository's hosting.
func (s *site) outputAt(at string) (string, bool) {
	if p := s.pageAt(at); p != nil {
		return p.output, true
	}
	if !fs.ValidPath(at) {
		return "", false
	}
	info, err := fs.Stat(s.repo, at)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		if _, err := fs.Stat(s.repo, path.Join(at, "README.md")); err == nil {
			return s.add(path.Join(at, "README.md")).output, true
		}
		if s.base != "" {
			return s.base + "/" + at, true
		}
		return s.addFolder(at).output, true
	}
	switch ext := path.Ext(at); {
	case ext == ".md":
		return s.add(at).output, true
	case copied[ext]:
		if s.files[at] == nil {
			text, err := readFile(s.repo, at)
			if err != nil {
				return "", false
			}
			s.files[at] = text
		}
		return at, true
	case s.base != "":
		return s.base + "/" + at, true
	}
	p, err := s.addSource(at)
	if err != nil {
		return "", false
	}
	return p.output, true
}

// check reports links to pages, files or anchors that the site does not have.
func (s *site) check() {
	for _, l := range s.links {
		s.checked++
		p := s.byOutput[l.output]
		switch {
		case p == nil && s.files[l.output] == nil:
			s.problems = append(s.problems, fmt.Sprintf("%s:%d: %s: no such page", l.file, l.line, l.dest))
		case p != nil && l.anchor != "" && !p.anchors[l.anchor]:
			s.problems = append(s.problems, fmt.Sprintf("%s:%d: %s: the page has no heading of that anchor", l.file, l.line, l.dest))
		}
	}
}

func readFile(repo fs.FS, name string) ([]byte, error) {
	return fs.ReadFile(repo, name)
}
