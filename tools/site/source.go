package main

import (
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"html"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	chtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	gast "github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeRenderer shows code of pages with colours.
type codeRenderer struct{}

func (codeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	show := func(w util.BufWriter, source []byte, n gast.Node, enter bool) (gast.WalkStatus, error) {
		if !enter {
			return gast.WalkContinue, nil
		}
		language := ""
		if fenced, ok := n.(*gast.FencedCodeBlock); ok {
			language = string(fenced.Language(source))
		}
		w.WriteString(codeHTML(language, string(n.Lines().Value(source))))
		return gast.WalkSkipChildren, nil
	}
	r.Register(gast.KindFencedCodeBlock, show)
	r.Register(gast.KindCodeBlock, show)
}

// shell finds code that begins with a command, in blocks that name no language, and session
// that which begins with a prompt.
var (
	shell   = regexp.MustCompile(`^\s*(go (run|test|get|install|doc|build|mod|tool)|git|cd|scripts/|matladder|pip|python3?|apt-get|curl|export|[A-Z_]+=\S+ (go|python)) ?`)
	session = regexp.MustCompile(`^\s*\$ `)
)

// codeHTML is a block of code: commands are marked, as they have a button to copy them.
func codeHTML(language, text string) string {
	text = strings.TrimRight(text, "\n")
	switch {
	case (language == "" || language == "text") && session.MatchString(text):
		language = "console"
	case language == "" && shell.MatchString(text):
		language = "sh"
	}
	class := ""
	switch language {
	case "sh", "bash", "shell", "console":
		class = ` class="run"`
	case "text", "figure", "recorded":
		return outputHTML(text)
	}
	return fmt.Sprintf("<pre%s><code>%s</code></pre>\n", class, colour(language, text))
}

// mostColumns is how wide what is not cut may be on a narrow screen.
const mostColumns = 72

// outputHTML is what a command prints, in letters as small as its widest table needs on a narrow
// screen, down to what can still be read. Longer lines go on below.
func outputHTML(text string) string {
	columns := 1
	var out strings.Builder
	for line := range strings.Lines(text + "\n") {
		if n := utf8.RuneCountInString(line) - 1; n <= mostColumns {
			columns = max(columns, n)
		}
		out.WriteString("<span>" + html.EscapeString(line) + "</span>")
	}
	return fmt.Sprintf("<pre class=\"output\" style=\"--columns: %d\"><code>%s</code></pre>\n", columns, out.String())
}

var formatter = chtml.New(chtml.WithClasses(true), chtml.PreventSurroundingPre(true))

// colour is code as HTML, with colours where its language is known.
func colour(language, text string) string {
	if language == "" || language == "text" {
		return html.EscapeString(text)
	}
	var out strings.Builder
	for _, line := range coloured(lexers.Get(language), text) {
		out.WriteString(line)
	}
	return out.String()
}

// coloured is each line of a text as HTML.
func coloured(lexer chroma.Lexer, text string) []string {
	if lexer == nil {
		lexer = lexers.Fallback
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, text)
	if err != nil {
		return []string{html.EscapeString(text)}
	}
	var lines []string
	for _, line := range chroma.SplitTokensIntoLines(tokens.Tokens()) {
		var out strings.Builder
		if err := formatter.Format(&out, styles.Fallback, chroma.Literator(line...)); err != nil {
			return []string{html.EscapeString(text)}
		}
		lines = append(lines, out.String())
	}
	return lines
}

// tooLong is from where a file is a download and no page, in bytes.
const tooLong = 200_000

// addSource makes a page of a source file, with a number at each line; data too long for a
// page is copied.
func (s *site) addSource(at string) (*page, error) {
	if p := s.bySource[at]; p != nil {
		return p, nil
	}
	text, err := readFile(s.repo, at)
	if err != nil {
		return nil, err
	}
	p := &page{source: at, output: "source/" + at + ".html", title: at, hidden: true, wide: true, anchors: map[string]bool{}}
	s.put(p)
	var body strings.Builder
	fmt.Fprintf(&body, "<h1 class=\"path\">%s</h1>\n", html.EscapeString(at))
	if len(text) > tooLong || !utf8.Valid(text) {
		s.files["source/"+at] = text
		fmt.Fprintf(&body, `<p><a href="%s" download>Download %s</a> (%d KB)</p>`, html.EscapeString(path.Base(at)), html.EscapeString(path.Base(at)), (len(text)+999)/1000)
	} else {
		body.WriteString("<pre class=\"source\"><code>")
		for i, line := range coloured(lexers.Match(path.Base(at)), string(text)) {
			id := fmt.Sprintf("L%d", i+1)
			p.anchors[id] = true
			fmt.Fprintf(&body, `<i id="%s"></i>%s`, id, line)
		}
		body.WriteString("</code></pre>\n")
	}
	p.body = template.HTML(body.String())
	return p, nil
}

// addFolder makes a page of a folder: what its package comment says, and its files.
func (s *site) addFolder(at string) *page {
	key := at + "/"
	if p := s.bySource[key]; p != nil {
		return p
	}
	p := &page{source: key, output: "source/" + at + "/index.html", title: at, hidden: true, anchors: map[string]bool{}}
	s.put(p)
	var body strings.Builder
	fmt.Fprintf(&body, "<h1 class=\"path\">%s</h1>\n", html.EscapeString(at))
	if text, _ := s.packageDoc(at); text != "" {
		body.WriteString(docHTML(text, func(code string) string { return codeHTML("", code) }))
	}
	entries, _ := fs.ReadDir(s.repo, at)
	body.WriteString("<h2>Files</h2>\n<ul class=\"files\">\n")
	for _, e := range entries {
		name := html.EscapeString(e.Name())
		if !e.IsDir() && e.Type().IsRegular() && path.Ext(e.Name()) != ".md" {
			if q, err := s.addSource(path.Join(at, e.Name())); err == nil {
				fmt.Fprintf(&body, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(relative(p.output, q.output)), name)
			}
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		fmt.Fprintf(&body, "<li>%s</li>\n", name)
	}
	body.WriteString("</ul>\n")
	p.body = template.HTML(body.String())
	return p
}

// packageDoc is a package's comment and whether it is a command.
func (s *site) packageDoc(dir string) (text string, command bool) {
	names, _ := fs.Glob(s.repo, dir+"/*.go")
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := readFile(s.repo, name)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			continue
		}
		command = command || f.Name.Name == "main"
		if f.Doc != nil && text == "" {
			text = f.Doc.Text()
		}
	}
	return text, command
}

// docHTML is a Go comment as HTML, with what is set in as a function makes it.
func docHTML(text string, setIn func(string) string) string {
	var p comment.Parser
	printer := comment.Printer{HeadingLevel: 2,
		HeadingID:  func(h *comment.Heading) string { return slug(textOf(h.Text)) },
		DocLinkURL: func(*comment.DocLink) string { return "" }}
	body := preOf.ReplaceAllStringFunc(string(printer.HTML(p.Parse(text))), func(pre string) string {
		return setIn(html.UnescapeString(preOf.FindStringSubmatch(pre)[1]))
	})
	var out strings.Builder
	at := 0
	for _, code := range append(codeOf.FindAllStringIndex(body, -1), []int{len(body), len(body)}) {
		out.WriteString(flagWord.ReplaceAllString(body[at:code[0]], `$1<code class="flag">$2</code>`))
		out.WriteString(body[code[0]:code[1]])
		at = code[1]
	}
	return out.String()
}

var (
	preOf    = regexp.MustCompile(`(?s)<pre>(.*?)</pre>`)
	codeOf   = regexp.MustCompile(`(?s)<(pre|code|h\d).*?</(pre|code|h\d)>`)
	flagWord = regexp.MustCompile(`(^|[\s(>])(--[a-z][\w-]*)`)
)

func textOf(pieces []comment.Text) string {
	var out strings.Builder
	for _, t := range pieces {
		switch t := t.(type) {
		case comment.Plain:
			out.WriteString(string(t))
		case comment.Italic:
			out.WriteString(string(t))
		case *comment.Link:
			out.WriteString(textOf(t.Text))
		case *comment.DocLink:
			out.WriteString(textOf(t.Text))
		}
	}
	return out.String()
}
