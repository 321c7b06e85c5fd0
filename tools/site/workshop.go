package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var lesson = regexp.MustCompile(`^workshop/lesson(\d+)\.md$`)

//go:embed assets/tile.html
var tileWords string // what a program may be made of

const (
	predict    = `<h2 id="predict">`   // of a lesson: what is behind its words
	questions  = `<h2 id="questions">` // of a lesson: what is behind the exercise
	playground = "docs/playground.md"
	area       = `<textarea rows="20" spellcheck="false" autocapitalize="off" autocorrect="off" autocomplete="off" wrap="off" aria-label="%s">
%s</textarea>`
)

// addEditor puts the editor of a lesson's exercise behind the text about it, and that of the
// playground at the end of its page.
func (s *site) addEditor(p *page, body string) (string, error) {
	if p.source == playground {
		p.wide, p.scripts = true, []string{"player.js", "engine.js", "play.js"}
		return body + `<section class="play" aria-label="Playground">` + fmt.Sprintf(area, "Program", "") + "</section>\n" + tileWords, nil
	}
	body, measured := addLadder(p.source, body)
	if p.source == "workshop/README.md" {
		p.scripts = append([]string{"engine.js", "exercise.js"}, measured...) // for its marks
	}
	m := lesson.FindStringSubmatch(p.source)
	if m == nil {
		return body, nil
	}
	names, err := fs.Glob(s.repo, "workshop/blanks/ex*/*.go")
	if err != nil {
		return "", err
	}
	files, blank := map[string]string{}, ""
	for _, name := range names {
		number := strings.TrimPrefix(path.Base(path.Dir(name)), "ex")
		files[number] = strings.Replace(name, "blanks", "exercises", 1)
		if number == m[1] {
			blank = name
		}
	}
	text, err := readFile(s.repo, blank)
	if err != nil {
		return "", fmt.Errorf("%s: the exercise: %w", p.source, err)
	}
	list, err := json.Marshal(files)
	if err != nil {
		return "", err
	}
	p.wide, p.scripts = true, append([]string{"player.js", "engine.js", "exercise.js"}, measured...)
	box := ""
	if bytes.Contains(text, []byte("tile.New(")) {
		box = tileWords
	}
	figures, err := s.figures(m[1])
	if err != nil {
		return "", err
	}
	if s.whole { // the player that a command writes is shown in place of its name
		body = written.ReplaceAllString(body, `<iframe src="`+relative(p.output, playerPage)+`" title="The traversal player of v3" loading="lazy" class="paper"></iframe>`)
	}
	body = strings.Replace(body, predict, figures+predict, 1)
	editor := fmt.Sprintf(`<section class="exercise" data-number="%s" data-file="%s" data-files="%s" aria-label="The exercise in this page">
<p>Or solve it here: each change is checked in this page, and kept in this browser.</p>
%s%s
</section>
`, m[1], files[m[1]], html.EscapeString(string(list)), box, fmt.Sprintf(area, path.Base(blank), html.EscapeString(string(text))))
	before, after, ok := strings.Cut(body, questions)
	if !ok {
		return "", fmt.Errorf("%s: no questions to put the exercise before", p.source)
	}
	return before + editor + questions + after, nil
}

// ladders finds the commands that measure a ladder which a page can measure too.
var ladders = regexp.MustCompile(`(?s)<pre class="run"[^>]*><code>go run \./cmd/bench --(kernel 1,2,3,4,5 --dtype float32 --sizes 256,1024|config anatomy) .*?</pre>`)

// addLadder puts behind such a command of the workshop what measures it in the page, and returns
// the scripts that this takes.
func addLadder(source, body string) (string, []string) {
	if !strings.HasPrefix(source, "workshop/") || !ladders.MatchString(body) {
		return body, nil
	}
	return ladders.ReplaceAllStringFunc(body, func(command string) string {
		kinds := "steps"
		if strings.Contains(command, "--kernel") {
			kinds = "rungs steps"
		}
		return command + `<section class="ladder" data-kinds="` + kinds + `" data-seconds="5" aria-label="Measure in this browser"></section>`
	}), []string{"ladder.js"}
}

// written finds what a command of a lesson prints that writes the page of a player.
var written = regexp.MustCompile(`<pre class="output"[^>]*><code><span>out/traverse_v3_block_512_float32\.html\s*</span></code></pre>`)

// figures are those of a lesson's words, from the page that has all of them; those that only lead
// back to the lesson are left out.
func (s *site) figures(number string) (string, error) {
	text, err := readFile(s.repo, "workshop/words.md")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	_, part, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n## Lesson "+number+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	if part == "" || strings.Contains(part, "](") {
		return "", err
	}
	var out bytes.Buffer
	if err := markdown.Convert([]byte(part), &out); err != nil {
		return "", err
	}
	return "<div class=\"figures\">\n" + out.String() + "</div>\n", nil
}

// programs are what these pages run, each a package of module browser. What measures is apart: it
// is smaller, and only who measures loads it.
var programs = map[string]string{"program": "./wasm", "measure": "./ladder/wasm"}

// addProgram builds them. Each is a script, since a page that is a file may load no other:
// WebAssembly in gzip and base64, and the text of what runs it.
func (s *site) addProgram(ctx context.Context) error {
	temp, err := os.MkdirTemp("", "site")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	runtime, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	for name, pkg := range programs {
		wasm := filepath.Join(temp, name)
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", wasm, pkg)
		build.Dir = filepath.Join(s.root, "tools", "site", "browser")
		build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build in %s: %w\n%s", build.Dir, err, out)
		}
		program, err := os.ReadFile(wasm)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		z.Write(program) // into memory
		z.Close()
		text, err := json.Marshal(map[string]string{"runtime": string(runtime), "wasm": base64.StdEncoding.EncodeToString(packed.Bytes())})
		if err != nil {
			return err
		}
		s.files["site/"+name+".js"] = append([]byte("(self.goPrograms??={})."+name+"="), text...)
	}
	return nil
}
