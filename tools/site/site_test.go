package main

import (
	"errors"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// small is a repository with every kind of link, right and wrong.
func small(extra map[string]string) fstest.MapFS {
	files := map[string]string{
		"README.md":                   "# Small\n\n[a page](docs/page.md#one-two), [a folder](kernels/v1/), [code](kernels/v1/kernel.go), ![p](docs/p.png)\n",
		"docs/README.md":              "# Docs\n\nWords, [a link](page.md).\n\n## How-to\n\n- [Page](page.md): half a line\n  - [Inner](deep/inner.md)\n- nothing here\n\n## Empty\n\n## Reference\n\n- [v1](../kernels/v1/README.md)\n- [run](../cmd/run)\n",
		"docs/page.md":                "# A `page`\n\n## One, two\n\n## One two\n\n[itself](#one-two-1) and [up](../README.md) and [web](https://example.com/x#y)\n\n```go\nfunc f() int { return 1 }\n```\n\n| a | b |\n| --- | --- |\n| 1 | words enough to find |\n",
		"docs/deep/inner.md":          "# Inner\n\n[home](../../README.md), [run](../../cmd/run), [lib](../../lib)\n",
		"docs/p.png":                  "png",
		"kernels/v1/README.md":        "# v1\n\n[line](kernel.go#L2)\n",
		"kernels/v1/kernel.go":        "package v1\n\nfunc F() {}\n",
		"kernels/v1/deeper/README.md": "# Deeper\n",
		"lib/lib.go":                  "// Package lib is a library.\n//\n// # How\n//\n//\tcode\npackage lib\n",
		"cmd/run/main.go":             "// Run runs, as docs/page.md says.\n//\n// # Flags\n//\n// All.\npackage main\n",
	}
	for name, text := range extra {
		files[name] = text
	}
	repo := fstest.MapFS{}
	for name, text := range files {
		repo[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return repo
}

func buildSmall(t *testing.T, extra map[string]string, base string) *site {
	t.Helper()
	s := newSite(small(extra), "", base)
	if err := s.build(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBuild_Links: every link of every page, those of the template too, leads to a file of the
// site and to an id in it. The pages are read as text here, not as the generator knows them.
func TestBuild_Links(t *testing.T) {
	s := buildSmall(t, nil, "")
	if len(s.problems) > 0 {
		t.Fatal(s.problems)
	}
	if n := checkOutput(t, s); n < 60 {
		t.Errorf("%d links", n)
	}
	for _, want := range []string{"index.html", "docs/index.html", "docs/page.html", "docs/p.png", "kernels/v1/index.html", "source/kernels/v1/kernel.go.html", "source/lib/index.html", "commands/run.html"} {
		if _, ok := s.files[want]; !ok {
			t.Errorf("no %s", want)
		}
	}
}

var (
	anyLink = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anyID   = regexp.MustCompile(` id="([^"]*)"`)
)

func checkOutput(t *testing.T, s *site) int {
	t.Helper()
	ids := map[string][]string{}
	for name, text := range s.files {
		for _, m := range anyID.FindAllStringSubmatch(string(text), -1) {
			ids[name] = append(ids[name], m[1])
		}
	}
	n := 0
	for _, p := range s.pages {
		for _, m := range anyLink.FindAllStringSubmatch(string(s.files[p.output]), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			n++
			target, anchor, _ := strings.Cut(m[1], "#")
			to := p.output
			if target != "" {
				to = path.Join(path.Dir(p.output), target)
			}
			if _, ok := s.files[to]; !ok || strings.HasPrefix(target, "/") {
				t.Errorf("%s: %s leads nowhere", p.output, m[1])
			} else if anchor != "" && !slices.Contains(ids[to], anchor) {
				t.Errorf("%s: %s: no such id", p.output, m[1])
			}
		}
	}
	return n
}

// TestBuild_Broken: each kind of broken link is named with file and line.
func TestBuild_Broken(t *testing.T) {
	page := "# Broken\n\nfine: [page](page.md)\n[gone](gone.md)\n[anchor](page.md#none)\n[own](#nowhere)\n\n- ![image](none.png)\n- [out](../../out.md)\n\n| a |\n| --- |\n| [code](../kernels/v1/gone.go) |\n\n<img src=\"lost.png\">\n\n[ref]\n\n[ref]: lost.md\n"
	s := buildSmall(t, map[string]string{"docs/broken.md": page, "docs/unlisted.md": "# U\n", "docs/page.md": "# P\n\n[line](../kernels/v1/kernel.go#L99)\n"}, "")
	have := strings.Join(s.problems, "\n")
	for _, want := range []string{
		"docs/broken.md:4: gone.md: no such file",
		"docs/broken.md:5: page.md#none: the page has no heading of that anchor",
		"docs/broken.md:6: #nowhere: the page has no heading of that anchor",
		"docs/broken.md:8: none.png: no such file",
		"docs/broken.md:9: ../../out.md: no such file",
		"docs/broken.md:13: ../kernels/v1/gone.go: no such file",
		"docs/broken.md:15: lost.png: no such file",
		"lost.md: no such file",
		"docs/page.md:3: ../kernels/v1/kernel.go#L99: the page has no heading",
		"README.md:3: docs/page.md#one-two: the page has no heading",
		"docs/README.md: does not list docs/unlisted.md",
	} {
		if !strings.Contains(have, want) {
			t.Errorf("missing %q in\n%s", want, have)
		}
	}
	if strings.Contains(have, ":3: page.md: ") {
		t.Errorf("a link that is right is reported:\n%s", have)
	}
}

// TestBuild_Base: with the repository's hosting, source files are linked there.
func TestBuild_Base(t *testing.T) {
	s := buildSmall(t, nil, "https://example.com/blob/main/")
	if text := string(s.files["kernels/v1/index.html"]); !strings.Contains(text, `href="https://example.com/blob/main/kernels/v1/kernel.go#L2"`) {
		t.Error(text)
	} else if !strings.Contains(text, `href="https://example.com/blob/main/kernels/v1/README.md"`) {
		t.Error("a page does not name its source")
	}
	if _, ok := s.files["source/kernels/v1/kernel.go.html"]; ok {
		t.Error("a page is made of a source file all the same")
	}
}

// TestNavigation: sections and entries are those of the index, in its order, with what the
// site adds; without an index all pages are there.
func TestNavigation(t *testing.T) {
	show := func(s *site) string {
		var out strings.Builder
		for _, g := range s.nav {
			out.WriteString(g.title + ":")
			for _, e := range g.entries {
				out.WriteString(" " + e.title)
				if e.inner {
					out.WriteString("(inner)")
				}
			}
			out.WriteString("\n")
		}
		return out.String()
	}
	s := buildSmall(t, nil, "")
	if have, want := show(s), "Start: matladder All pages\nHow-to: Page Inner(inner)\nReference: v1 run\n"; have != want {
		t.Errorf("have\n%swant\n%s", have, want)
	}
	if have := s.nav[1].entries[0].about; have != "half a line" {
		t.Errorf("%q", have)
	}
	repo := small(nil)
	delete(repo, index)
	s = newSite(repo, "", "")
	if err := s.build(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if have, want := show(s), "Start: matladder\nCommands: run\nOther pages: A page Inner v1\n"; have != want || len(s.problems) > 0 {
		t.Errorf("have\n%swant\n%s%q", have, want, s.problems)
	}
}

// TestMarkup: tables scroll in a frame, notes have their name, commands a button, and HTML is kept.
func TestMarkup(t *testing.T) {
	page := "# T\n\n> [!WARNING]\n> Hot.\n\n| a |\n| --- |\n| 1 |\n\n```\ngo run ./cmd/x\n```\n\n```text\na < b\n```\n\n<details><summary>Why?</summary>\n\nSo.\n</details>\n"
	text := string(buildSmall(t, map[string]string{"docs/page.md": page, "README.md": "# R\n"}, "").files["docs/page.html"])
	for _, want := range []string{`<blockquote class="note"><p><strong>Warning</strong><br>Hot.`, `<div class="table"><table>`, `<pre class="run"><code>go run ./cmd/x`, `<pre class="output" style="--columns: 5"><code><span>a &lt; b` + "\n</span></code></pre>", "<details><summary>Why?</summary>\n<p>So.</p>\n</details>"} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s in\n%s", want, text)
		}
	}
}

// TestRun_Usage: a mistake in the command line is said before anything is read.
func TestRun_Usage(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"--check", "--serve"}, {"--unknown"}} {
		if _, ok := errors.AsType[usageError](run(t.Context(), args)); !ok {
			t.Errorf("%q is no mistake", args)
		}
	}
}

// TestSlug holds anchors to those that GitHub makes.
func TestSlug(t *testing.T) {
	for words, want := range map[string]string{
		"How to read the numbers": "how-to-read-the-numbers",
		"v1_naive: a & b":         "v1_naive-a--b",
		"--sizes 1024, m×k×n":     "--sizes-1024-mkn",
		"What's 3.5 % (of peak)?": "whats-35--of-peak",
	} {
		if have := slug(words); have != want {
			t.Errorf("%q: %s, want %s", words, have, want)
		}
	}
}

// TestManual: options become terms, their further lines belong to them, sentences become
// paragraphs, and commands stay as they are.
func TestManual(t *testing.T) {
	const text = "-k, --kernel N   kernels, by\n                 number\n--sizes S        sizes <all>\nA file may hold\nboth.\n\nTwo of them:\n\n  $ run --kernel 1\n  a    b\n\n  $ run\n"
	const want = "<dl class=\"options\">\n<dt><code>-k, --kernel N</code></dt><dd>kernels, by number</dd>\n<dt><code>--sizes S</code></dt><dd>sizes &lt;all&gt;</dd>\n</dl>\n" +
		"<p>A file may hold both.</p>\n<p>Two of them:</p>\n"
	have, code, _ := strings.Cut(manualHTML(text), "<pre class=\"run\">")
	if have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
	if code = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(code, ""); strings.TrimSpace(code) != "$ run --kernel 1\na    b\n\n$ run" {
		t.Errorf("code is %q", code)
	}
	if have, want := manualHTML("go run ./cmd/x [flags]\nx [flags]\n"), "go run ./cmd/x [flags]\nx [flags]"; !strings.Contains(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(have, ""), want) || strings.Count(have, "<pre") != 1 {
		t.Errorf("%q", have)
	}
}

// TestSearchIndex: words of prose, code and tables are found under their headings.
func TestSearchIndex(t *testing.T) {
	text := string(buildSmall(t, nil, "").files["site/search.js"])
	for _, want := range []string{`{"p":"docs/page.html","t":"A page","i":"one-two-1","h":"One two","x":"itself and up and web func f() int { return 1 } words enough to find"}`, `"t":"run","i":"flags","h":"Flags","x":"All."`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "source/") {
		t.Error("source files are found too")
	}
}

// TestWrite_Others: a folder with files of anybody else is left alone, one of this command replaced.
func TestWrite_Others(t *testing.T) {
	s := buildSmall(t, nil, "")
	out := t.TempDir()
	if err := os.WriteFile(out+"/mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.write(out); err == nil || !strings.Contains(err.Error(), "not of a site") {
		t.Fatal(err)
	}
	if err := os.Remove(out + "/mine.txt"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.write(out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out+"/stale.html", nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.write(out); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out + "/stale.html"); err == nil {
		t.Error("a page that is no more is kept")
	}
}
