package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// live is what the repository's programs make, for readers to work.
type live struct{ report, player, timeline []byte }

// livePage is the page of what readers can work.
const livePage = "live/index.html"

// playerPage is the traversal player of v3.
const playerPage = "live/player.html"

// makeLive has the repository's own programs make the live pieces.
func (s *site) makeLive(ctx context.Context) (*live, error) {
	bin := filepath.Join(s.root, "out", ".commands") // kept: what is up to date is not linked again
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/plot", "./cmd/inspect")
	build.Dir = s.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/plot ./cmd/inspect: %w\n%s", err, out)
	}
	temp, err := os.MkdirTemp("", "site")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	file := func(into *[]byte, name string, args ...string) error {
		to := filepath.Join(temp, name)
		cmd := exec.CommandContext(ctx, filepath.Join(bin, args[0]), append(args[1:], to)...)
		cmd.Dir = s.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		*into, err = os.ReadFile(to)
		return err
	}
	l := &live{}
	return l, errors.Join(
		file(&l.report, "report.html", "plot", "--input", liveSample, "--html"),
		file(&l.player, "player.html", "inspect", "v3", "--sizes", "512", "--as", "traverse", "--format", "html", "--out"),
		file(&l.timeline, "timeline.json", "inspect", "v3", "--sizes", "512", "--as", "timeline", "--format", "json", "--out"),
	)
}

// liveSample is the results file that the live report shows.
const liveSample = "plots/testdata/sample_cpu.csv"

// commandNames are the programs of cmd, by name.
func (s *site) commandNames() []string {
	entries, _ := fs.ReadDir(s.repo, "cmd")
	var names []string
	for _, e := range entries {
		if _, command := s.packageDoc("cmd/" + e.Name()); command {
			names = append(names, e.Name())
		}
	}
	return names
}

// addCommands makes a page of each command's package comment, which is what its --help prints;
// pages of the repository that it names become links.
func (s *site) addCommands() {
	for _, name := range s.commandNames() {
		text, _ := s.packageDoc("cmd/" + name)
		p := &page{source: "cmd/" + name, output: "commands/" + name + ".html", title: name, anchors: map[string]bool{}}
		s.put(p)
		body := s.linkPages(p, docHTML(text, manualHTML))
		for _, m := range docHeading.FindAllStringSubmatch(body, -1) {
			p.contents = append(p.contents, heading{2, m[1], html.UnescapeString(m[2])})
			p.anchors[m[1]] = true
		}
		p.sections = docSections(text)
		p.body = template.HTML("<h1>" + html.EscapeString(name) + "</h1>\n" + body)
	}
}

var docHeading = regexp.MustCompile(`<h2 id="([^"]*)">(.*?)</h2>`)

// docSections cuts a package comment at its headings, for search.
func docSections(text string) []section {
	sections := []section{{}}
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			title = strings.TrimSpace(title)
			sections = append(sections, section{id: slug(title), title: title})
			continue
		}
		last := &sections[len(sections)-1]
		last.text = strings.TrimSpace(last.text + " " + strings.Join(strings.Fields(line), " "))
	}
	return sections
}

var pageName = regexp.MustCompile(`\b(docs|results|workshop|kernels)/[\w/-]+\.md\b`)

// linkPages makes links of the names of pages in a text.
func (s *site) linkPages(p *page, body string) string {
	return pageName.ReplaceAllStringFunc(body, func(name string) string {
		q := s.bySource[name]
		if q == nil {
			return name
		}
		return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(relative(p.output, q.output)), name)
	})
}

var (
	termLine    = regexp.MustCompile(`^(\S.*?) {2,}(\S.*)$`)
	furtherLine = regexp.MustCompile(`^ {10,}(\S.*)$`)
	proseLine   = regexp.MustCompile(`^[A-Z0-9(]`)
)

// manualHTML is a piece of a manual as HTML, of which Go's comments know only that it is set
// in: options and other terms as a list that a narrow screen can wrap, sentences as paragraphs,
// and commands with what they print as they are.
func manualHTML(text string) string {
	text = strings.TrimRight(text, "\n")
	if strings.HasPrefix(text, "$ ") {
		return codeHTML("", text)
	}
	var out strings.Builder
	var code, prose, about []string
	term, list := "", false
	end := func(keepList bool) {
		if len(code) > 0 {
			out.WriteString(codeHTML("", dedent(code)))
		}
		if len(prose) > 0 {
			out.WriteString("<p>" + html.EscapeString(strings.Join(prose, " ")) + "</p>\n")
		}
		if term != "" {
			fmt.Fprintf(&out, "<dt><code>%s</code></dt><dd>%s</dd>\n", html.EscapeString(term), html.EscapeString(strings.Join(about, " ")))
		}
		if list && !keepList {
			out.WriteString("</dl>\n")
			list = false
		}
		code, prose, about, term = nil, nil, nil, ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		m, further := termLine.FindStringSubmatch(line), furtherLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "" && len(code) > 0:
			code = append(code, "")
		case strings.TrimSpace(line) == "":
			end(true)
		case further != nil && term != "":
			about = append(about, further[1])
		case m != nil && len(code) == 0:
			end(true)
			if !list {
				out.WriteString("<dl class=\"options\">\n")
				list = true
			}
			term, about = m[1], []string{m[2]}
		case len(prose) > 0 && line[0] != ' ' || proseLine.MatchString(line):
			if len(prose) == 0 {
				end(false)
			}
			prose = append(prose, line)
		default:
			if len(code) == 0 {
				end(false)
			}
			code = append(code, line)
		}
	}
	end(false)
	return out.String()
}

// dedent takes away what all lines are set in by.
func dedent(lines []string) string {
	least := 99
	for _, line := range lines {
		if line != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// addLive makes the page of what readers can work, and its pieces.
func (s *site) addLive(l *live) {
	s.files["live/report.html"] = l.report
	s.files[playerPage] = l.player
	s.files["live/timeline.json"] = l.timeline
	text, err := assets.ReadFile("assets/live.html")
	if err != nil {
		panic(err) // it is in the program
	}
	p := &page{output: livePage, title: "See it live", wide: true, anchors: map[string]bool{},
		sections: []section{{text: "interactive report, traversal player, Perfetto trace, timeline"}}}
	for _, m := range docHeading.FindAllStringSubmatch(string(text), -1) {
		p.anchors[m[1]] = true
	}
	p.body = template.HTML(text)
	s.put(p)
}
