package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRepository: the site of this repository has no broken link, and its index lists every page once.
func TestRepository(t *testing.T) {
	s := newSite(os.DirFS("../.."), "../..", "")
	if err := s.build(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.problems {
		t.Error(p)
	}
	checkOutput(t, s)
}

// TestBrowser opens every page in Chromium, from files, as wide as a phone and as a desktop, light
// and dark: nothing runs off the side or goes wrong, images are there, and text can be told from
// what is under it. Then it works the site by its keys alone.
func TestBrowser(t *testing.T) {
	chromium := findChromium(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(os.DirFS(root), root, "")
	if err := s.build(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	checkOutput(t, s)
	out := filepath.Join(t.TempDir(), "any prefix")
	if err := s.write(out); err != nil {
		t.Fatal(err)
	}
	b := open(t, chromium)
	url := func(output string) string {
		return "file://" + strings.ReplaceAll(filepath.ToSlash(filepath.Join(out, output)), " ", "%20")
	}

	for _, look := range []struct {
		width  int
		scheme string
	}{{390, "dark"}, {1280, "light"}} {
		b.look(look.width, look.scheme)
		sources := 0
		for _, p := range s.pages {
			if p.hidden {
				if sources++; sources%40 != 1 { // source files are alike
					continue
				}
			}
			b.visit(url(p.output))
			var saw struct {
				Over    int
				Broken  []string
				Titles  int
				Faint   []string
				Objects []string
			}
			b.eval(inspectPage, &saw)
			if wrong := b.wrong(); saw.Over > 0 || len(saw.Broken) > 0 || saw.Titles != 1 || len(saw.Faint) > 0 || len(wrong) > 0 {
				t.Errorf("%s, %d wide, %s: %d too wide (%q), %d titles, images %q, faint %q, wrong %q", p.output, look.width, look.scheme, saw.Over, saw.Objects, saw.Titles, saw.Broken, saw.Faint, wrong)
			}
		}
		t.Run(fmt.Sprint("keys/", look.width), func(t *testing.T) { workKeys(t, b, url, look.width) })
		if wrong := b.wrong(); len(wrong) > 0 {
			t.Errorf("by keys: %q", wrong)
		}
	}
	for name, work := range map[string]func(){
		"exercises":  func() { workExercises(t, b, url, root) },
		"playground": func() { workPlayground(t, b, url) },
		"ladder":     func() { workLadder(t, b, url) },
	} {
		begin := time.Now()
		work()
		t.Logf("%s: %.1f s", name, time.Since(begin).Seconds())
		if wrong := b.wrong(); len(wrong) > 0 {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

// inspectPage says what is wrong with a page: what is wider than the window and does not scroll
// by itself, images without a picture, and text whose contrast is below AA's.
const inspectPage = `(() => {
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parse = (s) => s.match(/[\d.]+/g).map(Number);
  const under = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.99) return c.slice(0, 3); } return [255, 255, 255]; };
  const faint = new Set(), objects = [];
  for (const e of document.body.querySelectorAll("*")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.closest("svg, script, .copy, .anchor") || !e.checkVisibility()) continue;
    const s = getComputedStyle(e), size = parseFloat(s.fontSize), large = size >= 24 || (size >= 18.66 && s.fontWeight >= 700);
    const a = light(parse(s.color).slice(0, 3)), b = light(under(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (large ? 3 : 4.5)) faint.add(e.tagName + "." + e.className + " " + ratio.toFixed(2));
  }
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) for (const e of document.querySelectorAll("main *")) if (e.getBoundingClientRect().right > innerWidth && !e.closest("pre, .table")) objects.push(e.outerHTML.slice(0, 80));
  return { Over: over, Objects: objects.slice(0, 3), Titles: document.querySelectorAll("h1").length, Faint: [...faint].slice(0, 5),
    Broken: [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src) };
})()`

// workKeys goes through the front page without a mouse: skip link, search and its results,
// colours, and the navigation of a phone.
func workKeys(t *testing.T, b *browser, url func(string) string, width int) {
	b.visit(url("index.html"))
	type at struct {
		ID, Class, Text, Outline string
		Top                      float64
	}
	active := func() (a at) {
		b.eval(`(() => { const e = document.activeElement, s = getComputedStyle(e); return { ID: e.id, Class: e.className, Text: e.textContent.trim().slice(0, 60), Outline: s.outlineStyle + " " + s.outlineWidth, Top: e.getBoundingClientRect().top }; })()`, &a)
		return a
	}
	b.press("Tab")
	if a := active(); a.Class != "skip" || a.Top < 0 {
		t.Errorf("first focus is %+v", a)
	}
	b.press("Enter")
	if a := active(); a.ID != "content" {
		t.Errorf("the skip link leads to %+v", a)
	}
	b.visit(url("index.html"))
	seen := map[string]bool{}
	for range 8 {
		b.press("Tab")
		a := active()
		if !strings.HasPrefix(a.Outline, "solid ") || a.Outline == "solid 0px" {
			t.Errorf("focus is not seen at %+v", a)
		}
		seen[a.ID+a.Class+a.Text] = true
	}
	if len(seen) < 6 {
		t.Errorf("Tab reaches %v", seen)
	}

	b.press("/")
	if a := active(); a.ID != "search" {
		t.Fatalf("/ leads to %+v", a)
	}
	b.insert("traversal player")
	b.until(`document.querySelectorAll("#found a mark").length > 0`)
	b.press("ArrowDown")
	var first string
	b.eval(`document.activeElement.closest("#found") ? document.activeElement.getAttribute("href") : ""`, &first)
	if first == "" {
		t.Fatal("no result has the focus")
	}
	b.loads(func() { b.press("Enter") })
	var there string
	b.eval(`location.href`, &there)
	if want := url(first); there != want {
		t.Errorf("the result leads to %s, want %s", there, want)
	}
	b.press("/")
	b.insert("zzzunknown")
	b.until(`document.getElementById("found").textContent.includes("Nothing")`)
	b.press("Escape")
	b.until(`document.getElementById("found").hidden`)

	var before, after, kept string
	const paper = `getComputedStyle(document.body).backgroundColor`
	b.eval(paper, &before)
	b.eval(`document.getElementById("theme").click()`, nil)
	b.eval(paper, &after)
	b.visit(url("index.html"))
	b.eval(paper, &kept)
	if before == after || kept != after {
		t.Errorf("colours: %s, then %s, then %s", before, after, kept)
	}
	b.eval(`localStorage.clear()`, nil)

	if width < 500 {
		var open, shut bool
		const shown = `document.getElementById("pages").checkVisibility()`
		b.eval(shown, &shut)
		b.eval(`document.getElementById("menu").focus()`, nil)
		b.press("Enter")
		b.eval(shown, &open)
		if shut || !open {
			t.Errorf("pages are shown: %v, after the button: %v", shut, open)
		}
		b.press("Escape")
		if b.eval(shown, &open); open {
			t.Error("Escape does not close the pages")
		}
	}
}

// findChromium returns the browser; without one the test is skipped, unless
// MATLADDER_REQUIRE names it.
func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "chromium") {
		t.Fatal("no chromium")
	}
	t.Skip("no chromium; install it with: apt-get install chromium")
	return ""
}

// browser is a page of a headless Chromium, driven by DevTools messages over two pipes.
type browser struct {
	t       *testing.T
	in      io.Writer
	replies chan message
	session string
	id      int
	loaded  int
	said    []string
}

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

func open(t *testing.T, chromium string) *browser {
	t.Helper()
	profile, err := os.MkdirTemp("", "chromium") // not the test's: a browser that was killed may still write there
	if err != nil {
		t.Fatal(err)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, replies: make(chan message, 1000)}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		in.Close()
		for range b.replies { // until the reader has ended
		}
		out.Close()
		os.RemoveAll(profile)
	})
	go func() {
		defer close(b.replies)
		for r := bufio.NewReader(out); ; {
			text, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(text[:len(text)-1], &m) == nil {
				b.replies <- m
			}
		}
	}()
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			var attached struct{ SessionID string }
			b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			b.session = attached.SessionID
		}
	}
	if b.session == "" {
		t.Fatal("the browser has no page")
	}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// next takes a message and keeps what it says of the page.
func (b *browser) next() message {
	b.t.Helper()
	select {
	case m, ok := <-b.replies:
		if !ok {
			b.t.Fatal("the browser ended")
		}
		switch m.Method {
		case "Page.loadEventFired":
			b.loaded++
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
			b.said = append(b.said, m.Method+" "+string(m.Params))
		}
		return m
	case <-time.After(time.Minute):
		b.t.Fatal("the browser says nothing for a minute")
	}
	return message{}
}

func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	if params == nil {
		text = []byte("{}")
	}
	b.id++
	line, err := json.Marshal(message{ID: b.id, Method: method, Params: text, SessionID: b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// wrong is what the console has said since it was last called.
func (b *browser) wrong() []string {
	said := b.said
	b.said = nil
	return said
}

func (b *browser) look(width int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

func (b *browser) visit(url string) {
	b.t.Helper()
	b.loads(func() { b.call("Page.navigate", map[string]any{"url": url}, nil) })
}

// loads does what makes a page load and waits until it has.
func (b *browser) loads(do func()) {
	b.t.Helper()
	for n := b.loaded; ; b.next() {
		if do != nil {
			do()
			do = nil
		}
		if b.loaded > n {
			return
		}
	}
}

func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(r.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %s: %v", expression, r.Result.Value, err)
		}
	}
}

// until waits for a condition of the page, for the browser's own minute.
func (b *browser) until(condition string) {
	b.t.Helper()
	b.eval(waiting(condition), nil)
}

func waiting(condition string) string {
	return `new Promise((done, failed) => { const wait = (n) => (` + condition + `) ? done() : n ? setTimeout(wait, 20, n - 1) : failed(new Error("never")); wait(2500); })`
}

func (b *browser) insert(text string) {
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// press strikes a key, as a keyboard does.
func (b *browser) press(key string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "/": 191}
	params := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
	switch key {
	case "Enter":
		params["text"] = "\r"
	case "/":
		params["text"], params["code"] = "/", "Slash"
	}
	b.call("Input.dispatchKeyEvent", params, nil)
	params["type"] = "keyUp"
	delete(params, "text")
	b.call("Input.dispatchKeyEvent", params, nil)
}
