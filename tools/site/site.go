package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

// A page is one page of the site.
type page struct {
	source   string // path in the repository, "" if the page is made of none
	output   string // path in the site
	title    string
	body     template.HTML
	contents []heading       // level 2 and 3
	anchors  map[string]bool // ids of the page
	sections []section       // what search finds
	hidden   bool            // neither in search nor in the navigation: a source file
	wide     bool            // nothing at the right
	scripts  []string        // that it runs, besides those of all pages
}

type heading struct {
	Level    int
	ID, Text string
}

// A section is a piece of a page with one heading, for search.
type section struct {
	id, title, text string
}

// A link is one that a page has, for the check.
type link struct {
	file   string // where it is written
	line   int
	dest   string // as written
	output string // the page or file of the site it leads to
	anchor string
}

// site is a site in the making.
type site struct {
	repo     fs.FS
	root     string // of the repository on disk, to run commands in; "" runs none
	base     string // the repository's hosting, or ""
	pages    []*page
	bySource map[string]*page
	byOutput map[string]*page
	files    map[string][]byte // by path in the site
	nav      []group
	links    []link
	queue    []*page // pages whose source is still to be read
	problems []string
	checked  int
	whole    bool // with what the repository's programs make
}

func newSite(repo fs.FS, root, base string) *site {
	return &site{repo: repo, root: root, base: strings.TrimRight(base, "/"),
		bySource: map[string]*page{}, byOutput: map[string]*page{}, files: map[string][]byte{}}
}

// patterns are the pages of the site; those they link to join them.
var patterns = []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "docs/*/*/*.md",
	"workshop/*.md", "kernels/*/README.md", "kernels/*/*/README.md", "results/FORMAT.md"}

// build makes all pages and checks their links. Without whole it leaves out the live pieces,
// which take the commands themselves.
func (s *site) build(ctx context.Context, whole bool) error {
	s.whole = whole
	for _, p := range patterns {
		names, err := fs.Glob(s.repo, p)
		if err != nil {
			return err
		}
		for _, name := range names {
			s.add(name)
		}
	}
	if s.bySource["README.md"] == nil {
		return errors.New("the repository has no README.md")
	}
	s.addCommands()
	for len(s.queue) > 0 {
		p := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.read(p); err != nil {
			return err
		}
	}
	if whole {
		made, err := s.makeLive(ctx)
		if err != nil {
			return err
		}
		s.addLive(made)
		if err := s.addProgram(ctx); err != nil {
			return err
		}
	}
	s.readIndex()
	s.check()
	return s.render()
}

// add makes a page of a Markdown file, once, and returns it.
func (s *site) add(source string) *page {
	if p := s.bySource[source]; p != nil {
		return p
	}
	p := &page{source: source, output: outputOf(source)}
	s.put(p)
	s.queue = append(s.queue, p)
	return p
}

func (s *site) put(p *page) {
	s.pages = append(s.pages, p)
	s.byOutput[p.output] = p
	if p.source != "" {
		s.bySource[p.source] = p
	}
}

// outputOf is where a Markdown file's page goes: a README is its folder's index.
func outputOf(source string) string {
	dir, name := path.Split(source)
	if name == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// relative is the link from one file of the site to another.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
	if err != nil {
		return to
	}
	return filepath.ToSlash(rel)
}

// view is what the template shows.
type view struct {
	Title, Source string
	Base          string // of the repository on its hosting, or ""
	About         string // how the text begins
	Root          string // from the page to the site's root
	Front, Wide   bool
	Scripts       []string
	Body          template.HTML
	Contents      []heading
	Nav           []viewGroup
	Prev, Next    *viewEntry
	Parent        *viewEntry // of a page that the navigation does not list
}

type viewGroup struct {
	Title   string
	Entries []viewEntry
	Open    bool
}

type viewEntry struct {
	Title, Href string
	Here, Inner bool
}

// render makes the files of all pages, of the search and of what they share.
func (s *site) render() error {
	page, err := template.ParseFS(assets, "assets/page.tmpl")
	if err != nil {
		return err
	}
	for _, p := range s.pages {
		var out bytes.Buffer
		if err := page.Execute(&out, s.view(p)); err != nil {
			return fmt.Errorf("%s: %w", p.output, err)
		}
		s.files[p.output] = out.Bytes()
	}
	for _, name := range []string{"style.css", "site.js", "workshop.css", "engine.js", "exercise.js", "ladder.js", "play.js", "recorded.js"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		s.files["site/"+name] = text
	}
	for _, name := range []string{"player.js", "player.css"} {
		text, err := readFile(s.repo, "model/traverse/"+name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.files["site/"+name] = text
	}
	s.files["site/search.js"], err = s.searchIndex()
	return err
}

func (s *site) view(p *page) view {
	v := view{Title: p.title, Source: p.source, Base: s.base, Root: relative(p.output, "."), Front: p.output == "index.html",
		Wide: p.wide, Scripts: p.scripts, Body: p.body, Contents: p.contents}
	if len(p.sections) > 0 {
		if v.About = p.sections[0].text; len(v.About) > 160 {
			v.About = v.About[:strings.LastIndex(v.About[:160], " ")+1] + "…"
		}
	}
	if v.Root == "." {
		v.Root = ""
	} else {
		v.Root += "/"
	}
	var flat []viewEntry
	here := -1
	lit := s.nearest(p)
	for i, g := range s.nav {
		group := viewGroup{Title: g.title, Open: v.Front && i < 3}
		for _, e := range g.entries {
			entry := viewEntry{Title: e.title, Href: relative(p.output, e.page.output), Here: e.page == p, Inner: e.inner}
			if e.page == lit {
				group.Open = true
				here = len(flat)
				if e.page != p {
					v.Parent = &entry
				}
			}
			flat = append(flat, entry)
			group.Entries = append(group.Entries, entry)
		}
		v.Nav = append(v.Nav, group)
	}
	if here >= 0 && v.Parent == nil {
		if here > 0 {
			v.Prev = &flat[here-1]
		}
		if here+1 < len(flat) {
			v.Next = &flat[here+1]
		}
	}
	return v
}

// nearest is the page of the navigation that a page belongs to: itself, or the README of a
// folder above it.
func (s *site) nearest(p *page) *page {
	listed := map[*page]bool{}
	for _, g := range s.nav {
		for _, e := range g.entries {
			listed[e.page] = true
		}
	}
	if listed[p] {
		return p
	}
	for dir := path.Dir(p.output); dir != "."; dir = path.Dir(dir) {
		if q := s.byOutput[dir+"/index.html"]; q != nil && listed[q] {
			return q
		}
	}
	return nil
}

// searchIndex is the index as a script, which a browser loads from a file too; a JSON file it
// would not.
func (s *site) searchIndex() ([]byte, error) {
	type entry struct {
		Page  string `json:"p"`
		Title string `json:"t"`
		ID    string `json:"i,omitempty"`
		Head  string `json:"h,omitempty"`
		Text  string `json:"x,omitempty"`
	}
	entries := []entry{}
	for _, p := range s.pages {
		if p.hidden {
			continue
		}
		for _, sec := range p.sections {
			entries = append(entries, entry{p.output, p.title, sec.id, sec.title, sec.text})
		}
	}
	var out bytes.Buffer
	out.WriteString("siteIndex=")
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(entries)
	return out.Bytes(), err
}

// marker is a file of every site that this command wrote.
const marker = "site/made-by-matladder"

// write replaces what a folder has by the site. It touches no folder with other files.
func (s *site) write(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, marker)); err != nil && len(entries) > 0 {
		return fmt.Errorf("--out %s has files that are not of a site: name an empty folder", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	s.files[marker] = nil
	names := make([]string, 0, len(s.files))
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, s.files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
