package main

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads what GitHub's flavour has. HTML in pages is kept: they are this repository's own.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeRenderer{}, 100))),
)

// read makes a page of its Markdown file.
func (s *site) read(p *page) error {
	source, err := readFile(s.repo, p.source)
	if err != nil {
		return err
	}
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	doc := markdown.Parser().Parse(text.NewReader(source))
	s.headings(p, doc, source)
	s.rewrite(p, doc, source)
	p.sections = sectionsOf(doc, source)
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, doc); err != nil {
		return fmt.Errorf("%s: %w", p.source, err)
	}
	body, err := s.addEditor(p, framed(out.String()))
	p.body = template.HTML(body)
	return err
}

// framed puts each table into a frame that scrolls where a screen is narrower than it, and a
// name over GitHub's notes (> [!NOTE]).
func framed(body string) string {
	body = note.ReplaceAllStringFunc(body, func(s string) string {
		name := note.FindStringSubmatch(s)[1]
		return `<blockquote class="note"><p><strong>` + name[:1] + strings.ToLower(name[1:]) + "</strong><br>"
	})
	return strings.NewReplacer("<table>", `<div class="table"><table>`, "</table>", "</table></div>").Replace(body)
}

var note = regexp.MustCompile(`<blockquote>\s*<p>\[!([A-Z]+)\]\s*`)

// headings gives each heading the anchor that GitHub gives it, and the page its title and contents.
func (s *site) headings(p *page, doc ast.Node, source []byte) {
	p.anchors = map[string]bool{}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		words := plain(h, source)
		id := slug(words)
		for i := 1; p.anchors[id]; i++ {
			id = fmt.Sprintf("%s-%d", slug(words), i)
		}
		p.anchors[id] = true
		h.SetAttributeString("id", []byte(id))
		if p.title == "" && h.Level == 1 {
			p.title = words
		}
		if h.Level == 2 || h.Level == 3 {
			p.contents = append(p.contents, heading{h.Level, id, words})
		}
	}
	if p.title == "" {
		p.title = p.source
	}
	for _, m := range anchorName.FindAllSubmatch(source, -1) {
		p.anchors[string(m[1])] = true
	}
}

// anchorName finds anchors of HTML in a page.
var anchorName = regexp.MustCompile(`<[a-z]+[^>]* (?:id|name)="([^"]+)"`)

// slug is the anchor of a heading as GitHub makes it.
func slug(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(words))
}

// plain is the text of a node, without its marks.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(util.UnescapePunctuations(n.Segment.Value(source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(out.String()))))
}

// sectionsOf cuts a page at its headings, for search: words of paragraphs, lists, code, and
// those cells of tables that are no numbers.
func sectionsOf(doc ast.Node, source []byte) []section {
	sections := []section{{}}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			if h.Level > 1 {
				id, _ := h.AttributeString("id")
				sections = append(sections, section{id: string(id.([]byte)), title: plain(h, source)})
			}
			continue
		}
		last := &sections[len(sections)-1]
		var out strings.Builder
		words(&out, n, source)
		last.text = strings.TrimSpace(last.text + " " + strings.Join(strings.Fields(out.String()), " "))
	}
	return sections
}

func words(out *strings.Builder, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		return
	case *east.TableCell:
		if cell := plain(n, source); strings.IndexFunc(cell, unicode.IsLetter) >= 0 && len(cell) > 12 {
			out.WriteString(cell + " ")
		}
		return
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		if lines := n.Lines(); lines.Len() <= 12 {
			out.Write(lines.Value(source))
			out.WriteByte(' ')
		}
		return
	}
	if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
		out.WriteString(plain(n, source) + " ")
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		words(out, c, source)
	}
}
