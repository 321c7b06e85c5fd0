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
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// commands is what the repository's programs say and make.
type commands struct {
	help                     map[string]string // by name
	report, player, timeline []byte
}

// livePage is the page of what readers can work.
const livePage = "live/index.html"

// runCommands builds all commands, asks each for its --help, and has them make the live
// pieces: nothing of the site is written by hand that a command says.
func (s *site) runCommands(ctx context.Context) (*commands, error) {
	bin := filepath.Join(s.root, "out", ".commands") // kept: what is up to date is not linked again
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/...")
	build.Dir = s.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/...: %w\n%s", err, out)
	}
	run := func(name string, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.Dir = s.root
		return cmd.CombinedOutput()
	}
	c := &commands{help: map[string]string{}}
	for _, name := range s.commandNames() {
		out, err := run(name, "--help")
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited || len(out) == 0 {
			return nil, fmt.Errorf("%s --help: %v", name, err)
		}
		c.help[name] = string(out)
	}

	temp, err := os.MkdirTemp("", "site")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	file := func(into *[]byte, name string, args ...string) error {
		to := filepath.Join(temp, name)
		if out, err := run(args[0], append(args[1:], to)...); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		*into, err = os.ReadFile(to)
		return err
	}
	return c, errors.Join(
		file(&c.report, "report.html", "plot", "--input", liveSample, "--html"),
		file(&c.player, "player.html", "inspect", "v3", "--sizes", "512", "--as", "traverse", "--format", "html", "--out"),
		file(&c.timeline, "timeline.json", "inspect", "v3", "--sizes", "512", "--as", "timeline", "--format", "json", "--out"),
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

// addCommands makes a page of each command's package comment.
func (s *site) addCommands() {
	for _, name := range s.commandNames() {
		text, _ := s.packageDoc("cmd/" + name)
		p := &page{source: "cmd/" + name, output: "commands/" + name + ".html", title: name, anchors: map[string]bool{}}
		s.put(p)
		body := docHTML(text, 2)
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

// addHelp adds to the page of each command what its --help says, and the pages of the
// repository that it names become links.
func (s *site) addHelp(c *commands) {
	for name, help := range c.help {
		p := s.bySource["cmd/"+name]
		if text, _ := s.packageDoc("cmd/" + name); saysAll(text, help) {
			continue
		}
		p.contents = append(p.contents, heading{2, "help", "--help"})
		p.anchors["help"] = true
		p.sections = append(p.sections, section{id: "help", title: "--help", text: strings.Join(strings.Fields(help), " ")})
		p.body += template.HTML("\n<h2 id=\"help\"><code>" + html.EscapeString(name) + " --help</code></h2>\n" + helpHTML(help))
	}
	for _, p := range s.pages {
		if path.Dir(p.output) == "commands" {
			p.body = template.HTML(s.linkPages(p, string(p.body)))
		}
	}
}

// saysAll reports whether a package comment has every line of what --help prints.
func saysAll(text, help string) bool {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	text = squeeze(text)
	for line := range strings.Lines(help) {
		if !strings.Contains(text, squeeze(line)) {
			return false
		}
	}
	return true
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
	optionLine  = regexp.MustCompile(`^ {1,8}(-\S.*?)(?: {2,}|\t)\s*(\S.*)$`)
	optionAlone = regexp.MustCompile(`^ {1,8}(--?\S.*)$`)
	furtherLine = regexp.MustCompile(`^(?: {10,}|\t+)(\S.*)$`)
	groupLine   = regexp.MustCompile(`^([A-Z][^:.]*):$`)
)

// helpHTML is a --help as HTML: options as a list of terms, which a narrow screen can wrap,
// headings as headings, and everything else as it is.
func helpHTML(help string) string {
	var out strings.Builder
	var rest, term, about []string
	list := false
	flush := func() {
		if text := strings.Trim(strings.Join(rest, "\n"), "\n"); text != "" {
			out.WriteString("<pre><code>" + html.EscapeString(text) + "</code></pre>\n")
		}
		rest = nil
	}
	item := func() {
		if len(term) > 0 {
			fmt.Fprintf(&out, "<dt><code>%s</code></dt><dd>%s</dd>\n", html.EscapeString(term[0]), html.EscapeString(strings.Join(about, " ")))
		}
		term, about = nil, nil
	}
	end := func() {
		item()
		if list {
			out.WriteString("</dl>\n")
		}
		list = false
	}
	lines := strings.Split(strings.TrimRight(help, "\n"), "\n")
	for i, line := range lines {
		m := optionLine.FindStringSubmatch(line)
		if m == nil && i+1 < len(lines) && furtherLine.MatchString(lines[i+1]) {
			if alone := optionAlone.FindStringSubmatch(line); alone != nil {
				m = []string{line, alone[1], ""}
			}
		}
		further := furtherLine.FindStringSubmatch(line)
		title := groupLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			flush()
			item()
			if !list {
				out.WriteString("<dl class=\"options\">\n")
				list = true
			}
			term, about = []string{strings.TrimSpace(m[1])}, slices.DeleteFunc([]string{m[2]}, func(s string) bool { return s == "" })
		case further != nil && len(term) > 0:
			about = append(about, further[1])
		case title != nil && i+1 < len(lines):
			end()
			flush()
			out.WriteString("<h3>" + html.EscapeString(title[1]) + "</h3>\n")
		case strings.TrimSpace(line) == "" && list:
			item()
		default:
			end()
			rest = append(rest, line)
		}
	}
	end()
	flush()
	return out.String()
}

// addLive makes the page of what readers can work, and its pieces.
func (s *site) addLive(c *commands) {
	s.files["live/report.html"] = c.report
	s.files["live/player.html"] = c.player
	s.files["live/timeline.json"] = c.timeline
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
