package deps

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// unconverted are pages that do not follow the rules yet. The list only shrinks: a page of it
// that follows them fails the test until it is taken off, and so does one that is gone.
var unconverted = []string{}

// phrases are not used in text for readers, with what is written instead. Those of retired are
// not used anywhere.
var phrases = []struct{ old, say string }{
	{`(?m)(^|[.!?]\s+)Of [a-z]`, "begin with the subject"},
	{`(is|are|was|were) not there\b`, "say what is missing: no TPU was used; not installed"},
	{`\b(is|are|was|were|be|been) told\b`, "the command prints, the caller passes"},
	{`\banew\b`, "again"},
	{`\bstands\b`, "is, holds, appears"},
	{`\bbeside\b`, "compared with, against; for a place: next to"},
	{`\bahead of\b`, "before, faster than; predicted without a device"},
	{`\b(timed|measured|launched|run|runs|ran|comes?|came|executed) behind\b`, "after"},
	{`\bask(s|ed)? for\b`, "selects, requests, needs"},
	{`\b(of|and|in|to|from|with|into|by|or|times|that|where) [bo]\b`, "matrices are A, B, C"},
	{`(?m)(^|[.;:,(]\s*)([abo] (is|has|of m|of k)|[bo] (times|whole))\b`, "matrices are A, B, C"},
	{`\b[ao] ?= ?a ?[·@] ?b\b|\ba ?[·@] ?b\b`, "C = A·B"},
	{`need need\b`, "bytes to request, the limit, and whether the largest input is prefetched"},
	{`one the call tells`, "an invalid Tensor is reported by its first use"},
	{`normal are the strides`, "size-1 dimensions have the dense stride"},
	{`for it alone, and by who`, "its last read is by the program that overwrites it"},
	{`that each launch returns is the first that`, "output 0 feeds input 0 of the next launch"},
	{`of what a condition chooses`, "columns where a masked store is not constant"},
	{`every other one of its point`, "one wrong row invalidates its point"},
	{`awake for some`, "one waiter spins briefly"},
	{`leaves out what others did`, "interference is excluded or flagged"},
	{`at the same time beside`, "concurrently, at adjacent addresses"},
	{`behind none to three`, "after zero to three launches, chosen at random"},
	{`\baot nowhere\b`, "aot: no device; predicts"},
	{`under the table will say by what`, "causes follow the table"},
	{`what a function keeps is not known`, "cannot be combined"},
	{`takes a worker less than`, "is cheaper than synchronizing"},
	{`\b(as|the) asker\b`, "the request"},
	{`/work/`, "a path of the repository"},
}

const (
	longestSentence = 25   // words
	longestPage     = 1500 // words, outside reference and notebook
	readmeWords     = 1000
	readmeLines     = 120
)

// TestLanguage holds every page for readers, and what commands print for --help, to the
// project's language: phrases that are not used, sentences of at most 25 words, pages of at
// most 1,500. With -v it says what is wrong with the pages that are not converted yet:
//
//	go test ./internal/deps -run Language -v
//	go test ./internal/deps -run Language/docs/ci.md -v
func TestLanguage(t *testing.T) {
	const root = "../.."
	pages := readersPages(t, root)
	if len(pages) < 40 {
		t.Fatalf("%d pages: %v", len(pages), pages)
	}
	reference := referencePages(t, root)
	var summary strings.Builder
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			file := filepath.Join(root, filepath.FromSlash(page))
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(page, ".go") {
				source = []byte(manual(t, file))
			}
			wrong, size := violations(page, string(source), reference[page])
			state := "ok"
			switch {
			case slices.Contains(unconverted, page) && len(wrong) == 0:
				t.Errorf("%s follows the rules: take it off the list unconverted of internal/deps/language_test.go", page)
			case slices.Contains(unconverted, page):
				state = "to convert"
				t.Log("\n" + strings.Join(wrong, "\n"))
			case len(wrong) > 0:
				state = "WRONG"
				t.Errorf("%d:\n%s", len(wrong), strings.Join(wrong, "\n"))
			}
			fmt.Fprintf(&summary, "%-42s %6d words %4d wrong  %s\n", page, size, len(wrong), state)
		})
	}
	for _, page := range unconverted {
		if !slices.Contains(pages, page) {
			t.Errorf("there is no page %s: take it off the list unconverted", page)
		}
	}
	t.Log("\n" + summary.String())
}

// readersPages are the pages and printed manuals that the rules hold for.
func readersPages(t *testing.T, root string) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "workshop/*.md", "kernels/*/README.md", "results/FORMAT.md",
		"cmd/*/*.go"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			page := filepath.ToSlash(rel)
			if strings.HasPrefix(page, "docs/notebook/") || strings.HasSuffix(page, ".go") && manual(t, file) == "" {
				continue
			}
			pages = append(pages, page)
		}
	}
	return pages
}

// manual is the package comment of a file, each line at its place: of a command it is its
// manual. It is empty where the file has none.
func manual(t *testing.T, file string) string {
	t.Helper()
	if strings.HasSuffix(file, "_test.go") {
		return ""
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	if f.Doc == nil || f.Name.Name != "main" {
		return ""
	}
	text := strings.Repeat("\n", files.Position(f.Doc.Pos()).Line-1)
	for _, line := range f.Doc.List {
		text += strings.TrimPrefix(strings.TrimPrefix(line.Text, "//"), " ") + "\n"
	}
	return text
}

// referencePages are those that docs/README.md lists under Reference or Notebook.
func referencePages(t *testing.T, root string) map[string]bool {
	t.Helper()
	pages := map[string]bool{"docs/README.md": true}
	text, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		return pages // no index yet: every page has a bound
	}
	link := regexp.MustCompile(`\]\(([^)#\s]+)`)
	section := ""
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.ToLower(title)
		}
		if strings.Contains(section, "reference") || strings.Contains(section, "notebook") {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				pages[filepath.ToSlash(filepath.Join("docs", m[1]))] = true
			}
		}
	}
	return pages
}

// violations are what is wrong with a page, each with file and line, and its size in words.
func violations(page, source string, reference bool) (wrong []string, size int) {
	size = len(strings.Fields(htmlComment.ReplaceAllString(source, "")))
	if lines := strings.Count(source, "\n"); page == "README.md" && lines > readmeLines {
		wrong = append(wrong, fmt.Sprintf("%s:%d: %d lines, at most %d", page, readmeLines+1, lines, readmeLines))
	}
	switch most := longestPage; {
	case page == "README.md":
		if most = readmeWords; size > most {
			wrong = append(wrong, fmt.Sprintf("%s:1: %d words, at most %d", page, size, most))
		}
	case !reference && strings.HasSuffix(page, ".md") && size > most:
		wrong = append(wrong, fmt.Sprintf("%s:1: %d words, at most %d outside Reference and Notebook of docs/README.md", page, size, most))
	}
	blocks := blocksOf(source)
	if strings.HasSuffix(page, ".go") {
		blocks = helpBlocks(source)
	}
	for _, b := range blocks {
		text := prose(b.text)
		for _, p := range phrases {
			for _, at := range compiled(p.old).FindAllStringIndex(text, -1) {
				found := strings.TrimLeft(text[at[0]:at[1]], ".!?;:,( \n")
				line := b.line + strings.Count(text[:at[1]-len(found)], "\n")
				wrong = append(wrong, fmt.Sprintf("%s:%d: %q: write: %s", page, line, strings.TrimSpace(found), p.say))
			}
		}
		if b.table {
			continue
		}
		for _, s := range sentences(text) {
			if n := wordsIn(s.text); n > longestSentence {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %d words, at most %d: %s", page, b.line+s.line, n, longestSentence, strings.ReplaceAll(strings.Join(strings.Fields(s.text), " "), "CODE", "`…`")))
			}
		}
	}
	slices.SortStableFunc(wrong, func(a, b string) int { return lineIn(a) - lineIn(b) })
	return wrong, size
}

func lineIn(message string) int {
	var n int
	fmt.Sscanf(message[strings.Index(message, ":")+1:], "%d", &n)
	return n
}

var patternsOf = map[string]*regexp.Regexp{}

func compiled(pattern string) *regexp.Regexp {
	if patternsOf[pattern] == nil {
		patternsOf[pattern] = regexp.MustCompile(pattern)
	}
	return patternsOf[pattern]
}

// A block is a paragraph, a heading, an item of a list or a row of a table: no sentence goes
// beyond one.
type block struct {
	text  string
	line  int // of its first line in the page
	table bool
}

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	fence       = regexp.MustCompile("^\\s*(```+|~~~+)")
	item        = regexp.MustCompile(`^\s*([-*+]|\d+[.)])\s+`)
	headingMark = regexp.MustCompile(`^#{1,6}\s+`)
	reference   = regexp.MustCompile(`^\s*\[[^\]]+\]:\s`)
	quoteMark   = regexp.MustCompile(`^\s*(>\s?)+(\[![A-Z]+\]\s*)?`)
	generated   = regexp.MustCompile(`^<!-- ([\w-]+):begin -->`)
)

// blocksOf cuts a Markdown page into its blocks. Code, comments, definitions of links, and what
// a program writes between marks (<!-- name:begin --> … <!-- name:end -->) are left out.
func blocksOf(source string) []block {
	var blocks []block
	var now []string
	start := 0
	end := func() {
		if len(now) > 0 {
			blocks = append(blocks, block{text: strings.Join(now, "\n"), line: start})
		}
		now = nil
	}
	// Comments keep their lines, so that all others keep their numbers.
	marked := ""
	closing, inList, blank := "", false, true
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	comment := false
	for i := range lines {
		line := lines[i]
		if m := generated.FindStringSubmatch(line); m != nil && marked == "" {
			marked = m[1]
		}
		if marked != "" {
			if strings.HasPrefix(line, "<!-- "+marked+":end -->") {
				marked = ""
			}
			end()
			blank = true
			continue
		}
		if comment || strings.Contains(line, "<!--") {
			before, rest, _ := strings.Cut(line, "<!--")
			if comment {
				before, rest = "", line
			}
			_, after, closed := strings.Cut(rest, "-->")
			comment = !closed
			if line = before + after; strings.TrimSpace(line) == "" {
				continue
			}
		}
		if m := fence.FindStringSubmatch(line); closing == "" && m != nil {
			closing = m[1]
			end()
			continue
		} else if closing != "" {
			if m != nil && strings.HasPrefix(m[1], closing) {
				closing = ""
			}
			continue
		}
		body := quoteMark.ReplaceAllString(line, "")
		switch {
		case strings.TrimSpace(body) == "":
			end()
			blank = true
			continue
		case blank && !inList && (strings.HasPrefix(body, "    ") || strings.HasPrefix(body, "\t")):
			continue // indented code
		case reference.MatchString(body):
			end()
		case strings.HasPrefix(strings.TrimSpace(body), "|"):
			end()
			blocks = append(blocks, block{text: body, line: i + 1, table: true})
		case headingMark.MatchString(body):
			end()
			inList = false
			blocks = append(blocks, block{text: headingMark.ReplaceAllString(body, ""), line: i + 1})
		case item.MatchString(body):
			end()
			inList = true
			now, start = []string{item.ReplaceAllString(body, "")}, i+1
		default:
			if !strings.HasPrefix(body, " ") && blank {
				inList = false
			}
			if len(now) == 0 {
				start = i + 1
			}
			now = append(now, body)
		}
		blank = false
	}
	end()
	return blocks
}

var (
	optionOf = regexp.MustCompile(`^\t(-\S.*?|\S+)\s{2,}(\S.*)$`)
	setIn    = regexp.MustCompile(`^\t[A-Z0-9]`)
)

// helpBlocks cuts the manual of a command, which its --help prints too: what each option does
// is a block, and so are paragraphs, those that are set in too where they begin with a capital.
// What else is set in is an example, and is left out.
func helpBlocks(source string) []block {
	var blocks []block
	const none, option, sentence, paragraph = 0, 1, 2, 3
	within := none // what the line before belongs to
	for i, line := range strings.Split(source, "\n") {
		m := optionOf.FindStringSubmatch(line)
		text := strings.TrimSpace(line)
		further, now := false, none
		switch {
		case text == "":
		case within == option && strings.HasPrefix(line, "\t          "):
			further, now = true, option
		case m != nil:
			text, now = m[2], option
		case line[0] == '\t':
			further = within == sentence && line[1] != ' '
			if further || setIn.MatchString(line) {
				now = sentence
			}
		case line[0] == '#':
			blocks = append(blocks, block{text: strings.TrimLeft(text, "# "), line: i + 1})
		default:
			further, now = within == paragraph, paragraph
		}
		if within = now; further {
			blocks[len(blocks)-1].text += "\n" + text
		} else if now != none {
			blocks = append(blocks, block{text: text, line: i + 1})
		}
	}
	for i := range blocks {
		blocks[i].text = listOf.ReplaceAllString(blocks[i].text, "")
	}
	return blocks
}

// listOf is a list of names in parentheses, which a reader skips.
var listOf = regexp.MustCompile(`(?s)\s*\([^()]*,[^()]*,[^()]*\)|(?:: |default )[\w.-]+(, [\w.-]+){3,}`)

var (
	codeSpan   = regexp.MustCompile("(?s)(`+)[^`].*?[^`]?`+")
	image      = regexp.MustCompile(`(?s)!\[[^\]]*\]\([^)]*\)`)
	linkTo     = regexp.MustCompile(`(?s)\]\([^()\s]*(\([^()]*\)[^()\s]*)?(\s+"[^"]*")?\)`)
	linkRef    = regexp.MustCompile(`\]\[[^\]]*\]`)
	tag        = regexp.MustCompile(`(?s)</?[a-zA-Z][^<>]*>`)
	lineEnds   = regexp.MustCompile(`[^\n]+`)
	bareAnchor = regexp.MustCompile(`<https?://[^>]*>`)
)

// prose is a block's text without marks: each piece of code is one word, links are their text,
// images nothing. Lines stay lines.
func prose(text string) string {
	keep := func(word string) func(string) string {
		return func(s string) string { return word + lineEnds.ReplaceAllString(s, "") }
	}
	text = image.ReplaceAllStringFunc(text, keep(""))
	text = codeSpan.ReplaceAllStringFunc(text, keep("CODE"))
	text = bareAnchor.ReplaceAllString(text, "LINK")
	text = tag.ReplaceAllStringFunc(text, keep(" "))
	text = linkTo.ReplaceAllStringFunc(text, keep(""))
	text = linkRef.ReplaceAllString(text, "")
	return strings.NewReplacer("[", "", "**", "", "__", "", "*", "", "]", "").Replace(text)
}

// A sentence is one of a block, and on which of its lines it begins.
type sentence struct {
	text string
	line int
}

// short are words that end with a period and end no sentence.
var short = map[string]bool{"e.g.": true, "i.e.": true, "vs.": true, "cf.": true, "approx.": true, "resp.": true, "fig.": true, "figs.": true,
	"eq.": true, "sec.": true, "no.": true, "nos.": true, "al.": true, "ca.": true, "incl.": true, "excl.": true, "max.": true, "min.": true, "dr.": true, "mr.": true, "ms.": true, "p.": true, "pp.": true, "st.": true}

// sentences cuts prose where a sentence ends: at a period, a question or exclamation mark, with
// the quotes and parentheses that close there, before white space; not after abbreviations, nor
// at an ellipsis or "etc." with a small letter after it.
func sentences(text string) []sentence {
	var out []sentence
	begin := 0
	cut := func(end int) {
		piece := text[begin:end]
		if trimmed := strings.TrimLeftFunc(piece, unicode.IsSpace); strings.TrimSpace(trimmed) != "" {
			at := begin + len(piece) - len(trimmed)
			out = append(out, sentence{strings.TrimSpace(trimmed), strings.Count(text[:at], "\n")})
		}
		begin = end
	}
	for i := 0; i < len(text); i++ {
		if !strings.ContainsRune(".!?", rune(text[i])) && !strings.HasPrefix(text[i:], "…") {
			continue
		}
		mark := i
		for i+1 < len(text) && strings.ContainsRune(".!?…", rune(text[i+1])) {
			i++
		}
		if strings.HasPrefix(text[mark:], "…") {
			i = mark + len("…") - 1
		}
		end := i + 1
		for end < len(text) {
			if text[end] == ')' || text[end] == '"' || text[end] == '\'' || text[end] == '_' {
				end++
			} else if strings.HasPrefix(text[end:], "”") || strings.HasPrefix(text[end:], "’") {
				end += len("”")
			} else {
				break
			}
		}
		if end < len(text) && text[end] != ' ' && text[end] != '\n' && text[end] != '\t' {
			continue // 1.26, kernel.go
		}
		words := strings.Fields(text[begin : i+1])
		last := strings.ToLower(strings.TrimLeft(words[len(words)-1], "(\"'"))
		next := strings.TrimLeft(text[end:], " \n\t(\"'")
		small := next != "" && unicode.IsLower([]rune(next)[0])
		ellipsis := strings.HasSuffix(last, "…") || strings.HasSuffix(last, "...")
		switch {
		case text[i] == '.' && short[last]:
		case text[i] == '.' && len(last) == 2 && unicode.IsLetter(rune(last[0])) && unicode.IsUpper([]rune(strings.TrimLeft(words[len(words)-1], "(\"'"))[0]) && len(words) > 1 && !strings.Contains("abcI", last[:1]):
			// an initial: J. Dongarra
		case (ellipsis || last == "etc.") && small:
		default:
			cut(end)
			i = end - 1
		}
	}
	cut(len(text))
	return out
}

// wordsIn counts what has a letter or a digit.
func wordsIn(text string) int {
	n := 0
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// TestLanguage_Sentences: where sentences begin and end.
func TestLanguage_Sentences(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two? Three! v3 is four.":                              {"One.", "Two?", "Three!", "v3 is four."},
		"Go 1.26 is needed. It has kernel.go in it.":                {"Go 1.26 is needed.", "It has kernel.go in it."},
		"Shapes, e.g. 128, i.e. small ones, vs. large. Next.":       {"Shapes, e.g. 128, i.e. small ones, vs. large.", "Next."},
		"Matrices A, B, C. The product is C. Done by J. Dongarra.":  {"Matrices A, B, C.", "The product is C.", "Done by J. Dongarra."},
		"(It is so.) \"And so.\" Last":                              {"(It is so.)", "\"And so.\"", "Last"},
		"Sizes 1, 2, … and more. Wait … Then go on etc. and on.":    {"Sizes 1, 2, … and more.", "Wait …", "Then go on etc. and on."},
		"A colon: no end; nor a semicolon\nor a line. Second\nline": {"A colon: no end; nor a semicolon\nor a line.", "Second\nline"},
		"": nil,
	} {
		var have []string
		for _, s := range sentences(text) {
			have = append(have, s.text)
		}
		if !slices.Equal(have, want) {
			t.Errorf("%q:\nhave %q\nwant %q", text, have, want)
		}
	}
}

// TestLanguage_Violations: what is found in a page, at which line, and what is not looked at.
func TestLanguage_Violations(t *testing.T) {
	long := strings.Repeat("word ", 26)
	page := "# Title\n\n<!-- " + long + "\n" + long + "-->\nFine, with [a link](https://example.com/a_(b)) and `" + long + "`.\n\n" +
		"First is short. Then\n" + long + "ends.\n\n```\n" + long + "\n```\n\n| " + long + " | is told |\n\n- item\n  " + long + "\n- Of a TPU it is\n\n## More\n\n" +
		"    " + long + "\n\n<!-- x:begin -->\n" + long + "\n<!-- x:end -->\n\n> quoted and\n> told: it stands. It is anew.\n\n[ref]: https://example.com/stands\n" +
		"1. " + strings.Repeat("word ", 25) + "\n\n![stands " + long + "](stands.png)\n`stands` and **bold** words of b here.\n"
	have, _ := violations("docs/page.md", page, false)
	want := []string{
		"docs/page.md:7: 28 words, at most 25: Then",
		"docs/page.md:14: \"is told\"",
		"docs/page.md:16: 27 words, at most 25: item",
		"docs/page.md:18: \"Of a",
		"docs/page.md:29: \"anew\"",
		"docs/page.md:29: \"stands\"",
		"docs/page.md:35: \"of b\"",
	}
	for i, w := range want {
		if i >= len(have) || !strings.HasPrefix(have[i], w) {
			t.Fatalf("want %q and no more; have\n%s", want, strings.Join(have, "\n"))
		}
	}
	if len(have) != len(want) {
		t.Fatalf("want %q and no more; have\n%s", want, strings.Join(have, "\n"))
	}

	text := strings.Repeat("Word is here. ", 501) + "\n"
	if have, n := violations("docs/page.md", text, false); n != 1503 || len(have) != 1 || !strings.Contains(have[0], "1503 words, at most 1500") {
		t.Error(n, have)
	}
	if have, _ := violations("docs/page.md", text, true); len(have) > 0 {
		t.Error(have)
	}
	if have, _ := violations("README.md", text+strings.Repeat("\n", 120), true); len(have) != 2 || !strings.Contains(have[0]+have[1], "1503 words, at most 1000") || !strings.Contains(have[0]+have[1], "121 lines, at most 120") {
		t.Error(have)
	}

	help := "Run runs anew\nand ends.\n\n# Flags\n\n\t--sizes S    sizes, as names (" + strings.Repeat("name, ", 30) + "name), anew\n\t             or again\n\n\tLong " + long + "\n\tends.\n\n\t  $ example " + long + "\n"
	have, _ = violations("cmd/run/doc.go", help, false)
	if len(have) != 3 || !strings.HasPrefix(have[0], "cmd/run/doc.go:1: \"anew\"") || !strings.HasPrefix(have[1], "cmd/run/doc.go:6: \"anew\"") || !strings.Contains(have[2], ":9: 28 words") {
		t.Error(strings.Join(have, "\n"))
	}
}
